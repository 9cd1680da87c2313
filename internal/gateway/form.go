package gateway

import (
	"bufio"
	"mime"
	"net/http"
	"net/textproto"
	"strings"
)

// Bounds on forms.
const (
	maxParts    = 64
	maxPartHead = 8 << 10 // bytes of a part's header
)

// part is one part of a multipart form: its name and where its content is.
type part struct {
	name     string
	file     bool
	from, to int
}

// peekForm reads the wanted fields of a multipart form. The parts stay where
// they are.
func peekForm(contentType, body string) (peeked, *apiError) {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "multipart/form-data" || params["boundary"] == "" {
		return peeked{}, &apiError{status: http.StatusUnsupportedMediaType, kind: "invalid_request_error", code: "unsupported_media_type",
			message: "the body must be a form: content type multipart/form-data with a boundary"}
	}
	parts, wrong := formParts(body, params["boundary"])
	if wrong != nil {
		return peeked{}, wrong
	}
	var p peeked
	for _, part := range parts {
		text := body[part.from:part.to]
		switch {
		case part.file:
			p.file = text
		case part.name == "model":
			p.model = strings.Clone(text) // it outlives the body
			p.named = edit{from: part.from, to: part.to}
		case part.name == "stream":
			p.stream = strings.EqualFold(text, "true") || text == "1"
		case part.name == "user":
			p.user = text
		}
	}
	switch {
	case p.model == "":
		return peeked{}, badRequest("model", "the form has no field model")
	case p.file == "":
		return peeked{}, badRequest("file", "the form has no file")
	}
	return p, nil
}

// formParts finds the parts of a form (RFC 7578, RFC 2046 section 5.1).
func formParts(body, boundary string) ([]part, *apiError) {
	var parts []part
	mark := "--" + boundary
	_, at, last, ok := nextMark("\r\n"+body, mark, 0) // the first one may begin the body
	for at -= 2; ok && !last; {
		if len(parts) == maxParts {
			return nil, badRequest("", "the form has more than 64 parts")
		}
		head := strings.Index(body[at:min(len(body), at+maxPartHead)], "\r\n\r\n")
		if head < 0 {
			return nil, badRequest("", "a part of the form has no header, or one that is too long")
		}
		name, file, wrong := partName(body[at : at+head+4])
		if wrong != nil {
			return nil, wrong
		}
		from := at + head + 4
		var to int
		if to, at, last, ok = nextMark(body, mark, from); ok {
			parts = append(parts, part{name, file, from, to})
		}
	}
	if !ok {
		return nil, badRequest("", "the form does not end with its boundary")
	}
	return parts, nil
}

// nextMark finds the next line of the text that is a boundary: where the content
// before it ends, and where the next part begins. last says that none follows.
func nextMark(text, mark string, from int) (end, next int, last, ok bool) {
	for {
		i := strings.Index(text[from:], "\r\n"+mark)
		if i < 0 {
			return 0, 0, false, false
		}
		end = from + i
		after := end + 2 + len(mark)
		rest := text[after:]
		if strings.HasPrefix(rest, "--") {
			return end, after, true, true
		}
		line := strings.TrimLeft(rest, " \t")
		if strings.HasPrefix(line, "\r\n") {
			return end, after + len(rest) - len(line) + 2, false, true
		}
		from = end + 2
	}
}

// partName reads the header of a part, whose lines end as RFC 2046 says: by others
// readers would differ about where it ends.
func partName(head string) (name string, file bool, wrong *apiError) {
	header, err := textproto.NewReader(bufio.NewReader(strings.NewReader(head))).ReadMIMEHeader()
	if err != nil || strings.Count(head, "\n") != strings.Count(head, "\r\n") {
		return "", false, badRequest("", "a part of the form has a header that cannot be read")
	}
	kind, params, err := mime.ParseMediaType(header.Get("Content-Disposition"))
	if err != nil || kind != "form-data" || params["name"] == "" {
		return "", false, badRequest("", "a part of the form has no name")
	}
	_, file = params["filename"]
	return params["name"], file, nil
}
