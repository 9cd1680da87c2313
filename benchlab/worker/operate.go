package worker

import (
	"context"
	"net/http"
)

// models is GET /v1/models.
func (s *Server) models(_ context.Context, w http.ResponseWriter, _ []byte) error {
	created := s.config.Clock.Now().Unix()
	list := make([]any, 0, len(s.config.Models))
	for _, name := range s.config.Models {
		list = append(list, map[string]any{
			"id": name, "object": "model", "created": created, "owned_by": "vllm",
			"root": s.config.Models[0], "parent": nil, "max_model_len": s.config.ContextLen,
		})
	}
	return s.reply(w, map[string]any{"object": "list", "data": list})
}

// health is GET /health: 200 and nothing else, as in vLLM, until Close.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	select {
	case <-s.closing:
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
		w.WriteHeader(http.StatusOK)
	}
}

// resetPrefixCache is POST /reset_prefix_cache of vLLM's development mode.
func (s *Server) resetPrefixCache(ctx context.Context, w http.ResponseWriter, _ []byte) error {
	if err := s.Flush(ctx); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}
