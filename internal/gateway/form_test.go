package gateway

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
)

const formType = "multipart/form-data; boundary=b"

// formOf writes a form as clients do.
func formOf(t testing.TB, file string, fields ...string) (contentType, body string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		if err := w.WriteField(fields[i], fields[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	part, err := w.CreateFormFile("file", "a.wav")
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(part, file)
	w.Close()
	return w.FormDataContentType(), b.String()
}

func TestPeekForm(t *testing.T) {
	kind, body := formOf(t, "sound\r\n--", "model", "whisper", "stream", "True", "language", "en")
	p, e := peekForm(kind, body)
	if e != nil || p.model != "whisper" || !p.stream || p.file != "sound\r\n--" || body[p.named.from:p.named.to] != "whisper" {
		t.Errorf("%+v, %v", p, e)
	}
}

// Wrong forms get an error that says what is wrong, and reach no worker.
func TestWrongForms(t *testing.T) {
	f := newFake(t, answerJSON)
	w := newWorld(t, nil, f)
	model := "--b\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm\r\n"
	file := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\nx\r\n"
	for name, c := range map[string]struct {
		kind, body, says string
		status           int
	}{
		"no form":        {"application/json", hello, "multipart/form-data", 415},
		"no type":        {"", hello, "multipart/form-data", 415},
		"no boundary":    {"multipart/form-data", model, "boundary", 415},
		"empty":          {formType, "", "boundary", 400},
		"no end":         {formType, model + file, "boundary", 400},
		"no model":       {formType, file + "--b--", "model", 400},
		"no file":        {formType, model + "--b--", "file", 400},
		"no name":        {formType, "--b\r\nContent-Disposition: form-data\r\n\r\nm\r\n--b--", "name", 400},
		"no header":      {formType, "--b\r\nm\r\n--b--", "header", 400},
		"broken header":  {formType, "--b\r\n\x00: \xff\r\n\r\nm\r\n--b--", "header", 400},
		"bare line feed": {formType, "--b\r\nContent-Disposition: form-data; name=a\n\r\n\r\n\r\n--b--", "header", 400},
		"long header":    {formType, "--b\r\nX: " + strings.Repeat("x", maxPartHead) + "\r\n\r\nm\r\n--b--", "header", 400},
		"many parts":     {formType, strings.Repeat(file, maxParts+1) + model + "--b--", "parts", 400},
		"unknown model":  {formType, strings.Replace(model, "\r\nm\r\n", "\r\nother\r\n", 1) + file + "--b--", "other", 404},
	} {
		resp, text := w.post("/v1/audio/transcriptions", c.body, "Content-Type", c.kind)
		if resp.StatusCode != c.status || !strings.Contains(text, c.says) || !strings.HasPrefix(text, `{"type":"error","error":{"message":`) {
			t.Errorf("%s: %s %s", name, resp.Status, text)
		}
	}
	if n := len(f.seen()); n > 0 {
		t.Errorf("%d requests reached the worker", n)
	}
}

// FuzzForm holds that what is taken for a form has the parts that Go's own reader
// finds in it.
func FuzzForm(f *testing.F) {
	_, body := formOf(f, "x\r\n--b\r\n--", "model", "m")
	f.Add(body)
	f.Add("--b\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--b--")
	f.Add("--b \t\r\nContent-Disposition: form-data; name=a; filename=\"\"\r\n\r\n\r\n--bx\r\n--b--")
	f.Add("--b\r\nContent-Disposition: form-data; name=a\n\r\n\r\n\r\n--b--")
	f.Fuzz(func(t *testing.T, body string) {
		parts, e := formParts(body, "b")
		if e != nil {
			if e.status != http.StatusBadRequest || e.message == "" {
				t.Errorf("error %+v", e)
			}
			return
		}
		theirs := multipart.NewReader(strings.NewReader(body), "b")
		for _, p := range parts {
			if p.from > p.to || p.to > len(body) || p.name == "" {
				t.Fatalf("part %+v of %q", p, body)
			}
			q, err := theirs.NextRawPart()
			if err != nil {
				return // stricter than needed
			}
			text, err := io.ReadAll(q)
			if err != nil {
				return
			}
			if q.FormName() == p.name && string(text) != body[p.from:p.to] {
				t.Errorf("part %s of %q is %q, and to Go %q", p.name, body, body[p.from:p.to], text)
			}
		}
	})
}
