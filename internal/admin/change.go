package admin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"gatewayd/internal/pool"
)

// Change is the state of the configuration.
type Change struct {
	Number uint64    `json:"number"` // of the configuration in force; the first is 1
	Since  time.Time `json:"since"`
	Before int       `json:"draining"`        // earlier ones that still have requests
	Error  string    `json:"error,omitempty"` // why the newest one is not in force
}

// Changer puts other configurations in force. Both calls do all or nothing.
type Changer interface {
	Config() Change
	Reload(ctx context.Context) error
	Swap(ctx context.Context, strategy, path string) error
}

// Shadows knows what the chains that are asked on the side have seen.
type Shadows interface{ Shadows() []pool.ShadowReport }

// ErrRefused is wrapped by errors of a Changer that the caller has to mend.
var ErrRefused = errors.New("refused")

// maxBody bounds the body of a request, in bytes.
const maxBody = 64 << 10

// swap takes {"path": "/an/executable"}, or an empty body.
func (s *server) swap(w http.ResponseWriter, r *http.Request, strategy string) {
	var body struct {
		Path string `json:"path"`
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil && !errors.Is(err, io.EOF) {
		refuse(w, http.StatusBadRequest, `the body must be {"path": "/an/executable"} or empty: `+err.Error())
		return
	}
	if body.Path != "" && !strings.HasPrefix(body.Path, "/") {
		refuse(w, http.StatusBadRequest, "path must be absolute: the gateway runs in another folder")
		return
	}
	s.changed(w, s.Changer.Swap(r.Context(), strategy, body.Path))
}

// changed answers how a change ended.
func (s *server) changed(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, ErrRefused):
		refuse(w, http.StatusUnprocessableEntity, err.Error())
	case err != nil:
		refuse(w, http.StatusServiceUnavailable, err.Error())
	default:
		answer(w, s.Changer.Config())
	}
}

// ShadowView is what one shadow chain has seen.
type ShadowView struct {
	Chain         []string `json:"chain"`
	Decisions     uint64   `json:"decisions"`
	Agreed        uint64   `json:"agreed"` // with the live choice
	Missed        uint64   `json:"missed"` // decided past a strategy that did not answer
	Dropped       uint64   `json:"dropped"`
	Imbalance     float64  `json:"imbalance"`
	LiveImbalance float64  `json:"live_imbalance"`
	PromptTokens  int64    `json:"prompt_tokens"`
	Computed      int64    `json:"prompt_tokens_computed"` // estimated
	LiveComputed  int64    `json:"live_prompt_tokens_computed"`
}

func shadows(s Shadows) []ShadowView {
	out := []ShadowView{}
	for _, r := range s.Shadows() {
		out = append(out, ShadowView{
			Chain: r.Chain, Decisions: r.Decisions, Agreed: r.Agreed, Missed: r.Missed, Dropped: r.Dropped,
			Imbalance: r.Imbalance, LiveImbalance: r.LiveImbalance,
			PromptTokens: r.PromptTokens, Computed: r.Computed, LiveComputed: r.LiveComputed,
		})
	}
	return out
}
