package worker

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"

	"github.com/cespare/xxhash/v2"
)

const (
	defaultDimensions = 16
	maxDimensions     = 4096
	maxInputs         = 2048
)

type embedRequest struct {
	Model          string          `json:"model"`
	Input          json.RawMessage `json:"input"`
	EncodingFormat string          `json:"encoding_format"`
	Dimensions     *int            `json:"dimensions"`
}

// embed is POST /v1/embeddings: each input is a request without output.
func (s *Server) embed(ctx context.Context, w http.ResponseWriter, body []byte) error {
	var r embedRequest
	if err := s.decode(body, &r, &r.Model); err != nil {
		return err
	}
	texts, err := inputs("input", r.Input)
	if err != nil {
		return err
	}
	width := defaultDimensions
	if r.Dimensions != nil {
		width = *r.Dimensions
	}
	switch {
	case len(texts) > maxInputs:
		return refuse(http.StatusBadRequest, "input", "input has %d texts, at most %d are allowed.", len(texts), maxInputs)
	case width < 1 || width > maxDimensions:
		return refuse(http.StatusBadRequest, "dimensions", "dimensions must be 1 to %d, got %d.", maxDimensions, width)
	case r.EncodingFormat != "" && r.EncodingFormat != "float" && r.EncodingFormat != "base64":
		return refuse(http.StatusBadRequest, "encoding_format", "encoding_format must be float or base64, got %q.", r.EncodingFormat)
	}
	total, err := s.prefill(ctx, texts)
	if err != nil {
		return err
	}
	data := make([]any, 0, len(texts))
	for i, text := range texts {
		var embedding any = vector(text, width)
		if r.EncodingFormat == "base64" {
			embedding = pack(vector(text, width))
		}
		data = append(data, map[string]any{"index": i, "object": "embedding", "embedding": embedding})
	}
	return s.reply(w, map[string]any{
		"id": newID("embd"), "object": "list", "created": s.config.Clock.Now().Unix(), "model": r.Model,
		"data": data, "usage": total,
	})
}

// prefill runs all texts through the engine and returns their usage.
func (s *Server) prefill(ctx context.Context, texts [][]byte) (total usage, err error) {
	if err := s.enter(len(texts) - 1); err != nil {
		return total, err
	}
	defer s.leave(len(texts) - 1)
	jobs := make([]*job, 0, len(texts))
	defer func() {
		for _, j := range jobs {
			s.abandon(ctx, j)
		}
	}()
	for _, text := range texts {
		if prompt := countTokens(text); prompt > s.config.ContextLen {
			return total, s.tooLong(prompt)
		}
		j := s.newJob(text, 0, "stop")
		if err := s.start(ctx, j); err != nil {
			return total, err
		}
		jobs = append(jobs, j)
	}
	for _, j := range jobs {
		p, err := j.wait(ctx)
		if err != nil {
			return total, err
		}
		total.PromptTokens += j.request.PromptTokens
		total.TotalTokens += j.request.PromptTokens
		total.Details.CachedTokens += p.cached
	}
	return total, nil
}

// vector returns a unit vector that follows from the text.
func vector(text []byte, width int) []float32 {
	state := xxhash.Sum64(text)
	values, square := make([]float64, width), 0.0
	for i := range values {
		values[i] = float64(int64(mix(&state))) / (1 << 63)
		square += float64(values[i] * values[i])
	}
	unit := make([]float32, width)
	for i, v := range values {
		unit[i] = float32(v / math.Sqrt(square))
	}
	return unit
}

// pack is the base64 form: little-endian 32-bit floats.
func pack(vector []float32) string {
	data := make([]byte, 0, 4*len(vector))
	for _, v := range vector {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	return base64.StdEncoding.EncodeToString(data)
}
