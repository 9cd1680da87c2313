package replay

import (
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// TestAnswers reads answers of several servers, whole and byte by byte.
func TestAnswers(t *testing.T) {
	usage := `"usage":{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":3}}`
	for name, x := range map[string]struct {
		text                          string
		chunks, prompt, output, cache int
		done, finished                bool
		failure                       string
	}{
		"chat": {"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n" +
			"data: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[]," + usage + "}\n\ndata: [DONE]\n\n", 2, 5, 2, 3, true, true, ""},
		"completions, CRLF":     {"data: {\"choices\":[{\"text\":\"a\",\"finish_reason\":null}]}\r\n\r\ndata: [DONE]\r\n\r\n", 1, -1, -1, -1, true, false, ""},
		"reasoning":             {"data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n", 1, -1, -1, -1, false, false, ""},
		"tool call":             {"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0}]}}]}\n\n", 1, -1, -1, -1, false, false, ""},
		"no space, comment":     {": ping\n\ndata:{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata:[DONE]", 1, -1, -1, -1, true, false, ""},
		"usage without details": {"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\n", 0, 5, 2, -1, false, false, ""},
		"usage null":            {"data: {\"choices\":[{\"text\":\"a\"}],\"usage\":null}\n\n", 1, -1, -1, -1, false, false, ""},
		"error":                 {"data: {\"error\":{\"message\":\"x\"}}\n\n", 0, -1, -1, -1, false, false, `{"message":"x"}`},
		"old vLLM error":        {"data: {\"object\":\"error\",\"message\":\"x\"}\n\n", 0, -1, -1, -1, false, false, `{"object":"error","message":"x"}`},
		"error null":            {"data: {\"error\":null,\"choices\":[{\"text\":\"a\"}]}\n\n", 1, -1, -1, -1, false, false, ""},
		"nonsense":              {"data: {{{\n\ndata: 7\n\nevent: x\n\ndata: {\"usage\":{\"prompt_tokens\":-4,\"completion_tokens\":1e300}}", 0, -1, -1, -1, false, false, ""},
		"huge line":             {"data: {\"x\":\"" + strings.Repeat("y", 3*lineBytes) + "\"}\n\ndata: {\"choices\":[{\"text\":\"a\"}]}\n\n", 1, -1, -1, -1, false, false, ""},
	} {
		for _, whole := range []bool{true, false} {
			a := newAnswer(time.Now)
			in := strings.NewReader(x.text)
			var err error
			if whole {
				err = a.stream(in)
			} else {
				err = a.stream(iotest.OneByteReader(in))
			}
			if err != nil || a.chunks != x.chunks || a.prompt != x.prompt || a.output != x.output || a.cached != x.cache ||
				a.done != x.done || a.finished != x.finished || a.failure != x.failure {
				t.Errorf("%s (whole: %t): %+v, %v", name, whole, a, err)
			}
		}
	}
}

// TestWholeAnswer: a server that does not stream is measured all the same.
func TestWholeAnswer(t *testing.T) {
	a := newAnswer(time.Now)
	err := a.whole(strings.NewReader(`{"choices":[{"message":{"role":"assistant","content":"a b"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`))
	if err != nil || a.chunks != 1 || a.output != 2 || !a.done || a.failure != "" {
		t.Errorf("%+v, %v", a, err)
	}
	a = newAnswer(time.Now)
	if err := a.whole(strings.NewReader("<html>")); err != nil || a.failure == "" {
		t.Errorf("%+v, %v", a, err)
	}
}
