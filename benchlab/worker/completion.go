package worker

import (
	"context"
	"net/http"
)

// completion is POST /v1/completions.
func (s *Server) completion(ctx context.Context, w http.ResponseWriter, body []byte) error {
	var r completionRequest
	if err := s.decode(body, &r, &r.Model); err != nil {
		return err
	}
	texts, err := inputs("prompt", r.Prompt)
	if err != nil {
		return err
	}
	if len(texts) != 1 {
		return refuse(http.StatusBadRequest, "prompt", "prompt must be one prompt, got %d.", len(texts))
	}
	return s.generate(ctx, w, &r.asked, texts[0], completionForm())
}
