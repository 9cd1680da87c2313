package calibrate

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"gatewayd/benchlab/engine"
)

// metaRow is meta.json: what ran, and with which arguments.
type metaRow struct {
	Model       string `json:"model"`
	VLLMVersion string `json:"vllm_version"`
	Requests    int    `json:"num_requests"`
	Engine      struct {
		TensorParallel   int   `json:"tensor_parallel_size"`
		DataParallel     int   `json:"data_parallel_size"`
		PipelineParallel int   `json:"pipeline_parallel_size"`
		MaxSeqs          int   `json:"max_num_seqs"`
		MaxBatchedTokens int   `json:"max_num_batched_tokens"`
		PrefixCaching    *bool `json:"enable_prefix_caching"`
	} `json:"engine_kwargs"`
}

func readMeta(dir fs.FS, run *Run) (m metaRow, err error) {
	r, closeFile, err := open(dir, "meta.json")
	if err != nil {
		return m, err
	}
	defer closeFile()
	data, err := io.ReadAll(r)
	if err != nil {
		return m, fmt.Errorf("meta.json: %w", err)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("meta.json: %w", err)
	}
	if m.Engine.DataParallel > 1 || m.Engine.PipelineParallel > 1 {
		return m, fmt.Errorf("meta.json: data parallel %d, pipeline parallel %d: the engine model is of one tensor parallel engine",
			m.Engine.DataParallel, m.Engine.PipelineParallel)
	}
	if m.Engine.MaxSeqs < 0 || m.Engine.MaxBatchedTokens < 0 || m.Engine.TensorParallel < 0 {
		return m, fmt.Errorf("meta.json: an engine argument is negative")
	}
	run.Model = ModelName(m.Model)
	run.Engine = strings.TrimSpace("vLLM " + m.VLLMVersion)
	run.GPUs = max(1, m.Engine.TensorParallel)
	run.MaxSeqs, run.MaxBatchedTokens = m.Engine.MaxSeqs, m.Engine.MaxBatchedTokens
	if run.MaxSeqs == 0 || run.MaxBatchedTokens == 0 {
		run.Notes = append(run.Notes, "max_num_seqs or max_num_batched_tokens is not recorded: the profile's are taken")
	}
	return m, nil
}

// ModelName is a model as engine profiles name it: without its owner and without
// the word Instruct, which changes no size.
func ModelName(id string) string {
	return strings.TrimSuffix(id[strings.LastIndexByte(id, '/')+1:], "-Instruct")
}

// GuessGPU finds the GPU that a recording's name begins with, as in
// "RTXPRO6000_Qwen3-32B"; "" if it begins with none of the known ones.
func GuessGPU(name string) string {
	head, _, _ := strings.Cut(name, "_")
	if head = letters(head); len(head) < 4 {
		return "" // too short to mean one
	}
	for _, gpu := range engine.GPUNames() {
		if strings.HasPrefix(letters(gpu), head) {
			return gpu
		}
	}
	return ""
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, strings.ToUpper(s))
}
