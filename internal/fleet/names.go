package fleet

// quantity is what a wanted metric measures.
type quantity uint8

const (
	running quantity = iota
	waiting
	kvUsed
	kvTokens
	blocks      // of the KV cache
	blockTokens // tokens in one block
	promptTokens
	outputTokens
	cacheQueries
	cacheHits
	hitRate
	processStart
	quantities
)

// source says what a metric name stands for. Of several names for one
// quantity only the one of the least rank that is present counts: engines
// export old and new names side by side for a while.
type source struct {
	quantity quantity
	rank     int
	engine   string
	// size and count are the labels whose product is the value; "" if it is the
	// sample's own.
	size, count string
}

// ranks is the number of names one quantity may have in one engine.
const ranks = 2

// sources are the metric names wanted from vLLM, SGLang (whose prefix is
// sglang: or sglang_), TensorRT-LLM and llama.cpp.
var sources = names()

func names() map[string]source {
	m := map[string]source{
		"process_start_time_seconds": {quantity: processStart},

		"vllm:num_requests_running":           {quantity: running},
		"vllm:num_requests_waiting":           {quantity: waiting},
		"vllm:kv_cache_usage_perc":            {quantity: kvUsed},
		"vllm:gpu_cache_usage_perc":           {quantity: kvUsed, rank: 1},
		"vllm:cache_config_info":              {quantity: kvTokens, size: "block_size", count: "num_gpu_blocks"},
		"vllm:prompt_tokens_total":            {quantity: promptTokens},
		"vllm:generation_tokens_total":        {quantity: outputTokens},
		"vllm:prefix_cache_queries_total":     {quantity: cacheQueries},
		"vllm:prefix_cache_hits_total":        {quantity: cacheHits},
		"vllm:gpu_prefix_cache_queries_total": {quantity: cacheQueries, rank: 1},
		"vllm:gpu_prefix_cache_hits_total":    {quantity: cacheHits, rank: 1},

		"trtllm_num_requests_running":       {quantity: running},
		"trtllm_num_requests_waiting":       {quantity: waiting},
		"trtllm_kv_cache_utilization":       {quantity: kvUsed},
		"trtllm_kv_cache_max_blocks":        {quantity: blocks},
		"trtllm_kv_cache_tokens_per_block":  {quantity: blockTokens},
		"trtllm_kv_cache_hit_rate":          {quantity: hitRate},
		"trtllm_prompt_tokens_total":        {quantity: promptTokens},
		"trtllm_prompt_cached_tokens_total": {quantity: cacheHits},

		"llamacpp:requests_processing":    {quantity: running},
		"llamacpp:requests_deferred":      {quantity: waiting},
		"llamacpp:kv_cache_usage_ratio":   {quantity: kvUsed},
		"llamacpp:prompt_tokens_total":    {quantity: promptTokens},
		"llamacpp:tokens_predicted_total": {quantity: outputTokens},
	}
	sglang := map[string]source{
		"num_running_reqs":        {quantity: running},
		"num_queue_reqs":          {quantity: waiting},
		"token_usage":             {quantity: kvUsed},
		"full_token_usage":        {quantity: kvUsed, rank: 1},
		"max_total_num_tokens":    {quantity: kvTokens},
		"cache_config_info":       {quantity: kvTokens, rank: 1, size: "page_size", count: "num_pages"},
		"num_pages":               {quantity: blocks},
		"page_size":               {quantity: blockTokens},
		"prompt_tokens_total":     {quantity: promptTokens},
		"generation_tokens_total": {quantity: outputTokens},
		"cached_tokens_total":     {quantity: cacheHits},
		"cache_hit_rate":          {quantity: hitRate},
	}
	for name, s := range sglang {
		m["sglang:"+name], m["sglang_"+name] = s, s
	}
	for name, s := range m {
		for _, engine := range engines {
			if len(name) > len(engine) && name[:len(engine)] == engine {
				s.engine = engine
				m[name] = s
			}
		}
	}
	return m
}

var engines = [...]string{"vllm", "sglang", "trtllm", "llamacpp"}
