package worker

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
)

// chatText returns the canonical text of a conversation, up to where the
// answer begins.
func chatText(r *chatRequest) ([]byte, error) {
	if len(r.Messages) == 0 {
		return nil, refuse(http.StatusBadRequest, "messages", "messages is empty.")
	}
	var text []byte
	if isSet(r.Tools) {
		text = append(append(text, "tools\x00"...), compact(r.Tools)...)
	}
	for i, m := range r.Messages {
		if m.Role == "" {
			return nil, refuse(http.StatusBadRequest, "messages", "messages[%d] has no role.", i)
		}
		text = append(append(text, m.Role...), 0)
		var err error
		if text, err = appendContent(text, m.Content); err != nil {
			return nil, refuse(http.StatusBadRequest, "messages", "messages[%d].content %v.", i, err)
		}
		if isSet(m.ToolCalls) {
			text = append(text, compact(m.ToolCalls)...)
		}
	}
	return append(text, "assistant\x00"...), nil
}

// appendContent appends the text of a message: null, a string, or parts. A part
// that is not text, such as an image, stands as its type and its hash.
func appendContent(text []byte, content json.RawMessage) ([]byte, error) {
	if !isSet(content) {
		return text, nil
	}
	if plain, ok := plainString(content); ok {
		return append(text, plain...), nil
	}
	var plain string
	if json.Unmarshal(content, &plain) == nil {
		return append(text, plain...), nil
	}
	var parts []json.RawMessage
	if json.Unmarshal(content, &parts) != nil {
		return nil, errors.New("is neither null, a string nor a list of parts")
	}
	for i, raw := range parts {
		var part struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		if err := json.Unmarshal(raw, &part); err != nil || part.Type == "" {
			return nil, fmt.Errorf("has a part %d without a type", i)
		}
		if part.Type == "text" {
			text = append(text, part.Text...)
		} else {
			text = fmt.Appendf(text, "%s\x00%016x", part.Type, xxhash.Sum64(compact(raw)))
		}
	}
	return text, nil
}

// inputs returns the texts of a prompt or input: a string, a list of strings, a
// list of token numbers, or a list of such lists. A token number is its four
// bytes.
func inputs(param string, raw json.RawMessage) ([][]byte, error) {
	if text, err := oneInput(raw); err == nil {
		return notEmpty(param, [][]byte{text})
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil, refuse(http.StatusBadRequest, param, "%s must be a string, token numbers, or a list of either.", param)
	}
	texts := make([][]byte, 0, len(list))
	for i, item := range list {
		text, err := oneInput(item)
		if err != nil {
			return nil, refuse(http.StatusBadRequest, param, "%s[%d] is neither a string nor a list of token numbers.", param, i)
		}
		texts = append(texts, text)
	}
	return notEmpty(param, texts)
}

func oneInput(raw json.RawMessage) ([]byte, error) {
	if plain, ok := plainString(raw); ok {
		return plain, nil
	}
	var text *string
	if err := json.Unmarshal(raw, &text); err == nil && text != nil {
		return []byte(*text), nil
	}
	var tokens []uint32
	if err := json.Unmarshal(raw, &tokens); err != nil {
		return nil, err
	}
	var bytes []byte
	for _, token := range tokens {
		bytes = binary.LittleEndian.AppendUint32(bytes, token)
	}
	return bytes, nil
}

// plainString returns what is between the quotes of a valid JSON string that stands
// for itself, as long prompts mostly do: it is many times as fast as decoding it.
func plainString(raw json.RawMessage) ([]byte, bool) {
	if len(raw) < 2 || raw[0] != '"' || bytes.IndexByte(raw, '\\') >= 0 || !utf8.Valid(raw) {
		return nil, false
	}
	return slices.Clip(raw[1 : len(raw)-1]), true
}

func notEmpty(param string, texts [][]byte) ([][]byte, error) {
	for _, text := range texts {
		if len(text) == 0 {
			return nil, refuse(http.StatusBadRequest, param, "%s is empty.", param)
		}
	}
	return texts, nil
}

func isSet(raw json.RawMessage) bool { return len(raw) > 0 && !bytes.Equal(raw, []byte("null")) }

// compact removes the white space of valid JSON, so that formatting does not
// change the text.
func compact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
