package calibrate

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

const (
	goodMeta = `{"model":"org/Tiny-1B-Instruct","vllm_version":"1.2","num_requests":2,"engine_kwargs":{"max_num_seqs":4,"max_num_batched_tokens":64}}`
	goodRows = `{"request_id":"late","input_toks":20,"output_toks":3,"arrival_time":8,"queued_ts":101,"scheduled_ts":101,"first_token_ts":101.5,"last_token_ts":102}

{"request_id":"early","input_toks":33,"output_toks":1,"arrival_time":7,"queued_ts":100,"scheduled_ts":100,"first_token_ts":100.25,"last_token_ts":100.25}
`
	goodWork = `{"request_id":"early","input_toks":33,"output_toks":1,"block_size":16,"hash_ids":[1,2],"hash_ids_with_output":[1,2]}
{"request_id":"late","input_toks":20,"output_toks":3,"block_size":16,"hash_ids":[1],"hash_ids_with_output":[1]}
`
	goodTime = "t,prompt_throughput,running,waiting,kv_cache_pct\n1.0,5,2,1,12.5\n"
)

func files(meta, rows, work, times string) fstest.MapFS {
	dir := fstest.MapFS{}
	for name, text := range map[string]string{"meta.json": meta, "requests.jsonl": rows, "workload_hashed.jsonl": work, "timeseries.csv": times} {
		if text != "" {
			dir[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return dir
}

func TestReadRun(t *testing.T) {
	run, err := ReadRun(files(goodMeta, goodRows, goodWork, goodTime), "x")
	if err != nil {
		t.Fatal(err)
	}
	early, late := run.Requests[0], run.Requests[1]
	if run.Model != "Tiny-1B" || run.Engine != "vLLM 1.2" || run.MaxSeqs != 4 || run.MaxBatchedTokens != 64 || run.GPUs != 1 || len(run.Notes) > 0 {
		t.Errorf("got %+v", run)
	}
	if early.ID != "early" || early.Queued != 0 || late.Queued != time.Second || late.TTFT() != time.Second/2 || late.TPOT(3) != time.Second/4 {
		t.Errorf("got %+v, %+v", early, late)
	}
	if len(early.Blocks) != 2 || len(late.Blocks) != 1 || len(late.OutputBlocks) != 0 {
		t.Errorf("blocks %v, %v", early.Blocks, late.Blocks)
	}
	if len(run.Samples) != 1 || run.Samples[0] != (Sample{At: time.Second, Running: 2, Waiting: 1, KVUsed: 0.125}) {
		t.Errorf("samples %+v", run.Samples)
	}
	alone, err := ReadRun(files(goodMeta, goodRows, "", ""), "x")
	if err != nil || alone.Requests[0].Blocks != nil || len(alone.Notes) != 2 {
		t.Errorf("without the optional files: %+v, %v", alone, err)
	}
}

// TestReadRunRefuses holds that a wrong file is refused with its name and line.
func TestReadRunRefuses(t *testing.T) {
	for _, c := range []struct{ meta, rows, work, times, want string }{
		{"", goodRows, "", "", "neither meta.json.gz nor meta.json"},
		{"{", goodRows, "", "", "meta.json: unexpected end"},
		{`{"engine_kwargs":{"data_parallel_size":2}}`, goodRows, "", "", "data parallel 2"},
		{goodMeta, "", "", "", "neither requests.jsonl.gz"},
		{goodMeta, "\n", "", "", "no request"},
		{goodMeta, goodRows + goodRows, "", "", `requests.jsonl:4: request "late" is there twice`},
		{goodMeta, strings.Replace(goodRows, `"first_token_ts":100.25`, `"first_token_ts":99`, 1), "", "", "requests.jsonl:3: request \"early\": queued_ts"},
		{goodMeta, strings.Replace(goodRows, `"last_token_ts":102`, `"x":1`, 1), "", "", "requests.jsonl:1:"},
		{goodMeta, strings.Replace(goodRows, `"input_toks":20`, `"input_toks":0`, 1), "", "", "requests.jsonl:1:"},
		{goodMeta, goodRows, strings.Replace(goodWork, "[1,2]", "[1]", 1), "", "workload_hashed.jsonl:1: request \"early\": 1 hash_ids, want 2"},
		{goodMeta, goodRows, strings.Replace(goodWork, `"late"`, `"who"`, 1), "", "workload_hashed.jsonl:2: request \"who\" is not"},
		{goodMeta, goodRows, goodWork[:strings.Index(goodWork, "\n")+1], "", "has 1 rows, requests.jsonl 2"},
		{goodMeta, goodRows, goodWork, "t,running\n", `timeseries.csv:1: no column "waiting"`},
		{goodMeta, goodRows, goodWork, goodTime + "2.0,5,2,1,x\n", `timeseries.csv:3: "x" is no figure`},
	} {
		_, err := ReadRun(files(c.meta, c.rows, c.work, c.times), "x")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q, got %v", c.want, err)
		}
	}
}

func TestGuessGPU(t *testing.T) {
	for name, want := range map[string]string{
		"RTXPRO6000_Qwen3-32B": "RTX PRO 6000 Blackwell 96GB", "H100_x": "H100", "h200_x": "H200", "run": "", "_x": "", "A_x": "",
	} {
		if got := GuessGPU(name); got != want {
			t.Errorf("GuessGPU(%q) = %q, want %q", name, got, want)
		}
	}
}
