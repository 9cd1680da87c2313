package config

// Worker is one model server. A tensor-parallel group is one worker.
type Worker struct {
	URL         string            `yaml:"url" doc:"base URL, http or https; a trailing /v1 or slash does not matter"`
	ID          string            `yaml:"id" doc:"unique name, stable over restarts; \"\" means host:port of the URL"`
	Models      []string          `yaml:"models" doc:"base models it serves; empty means those that it lists itself"`
	Names       map[string]string `yaml:"names" doc:"models that it knows by a name of its own, by the name that requests use"`
	APIKeyFile  string            `yaml:"api_key_file" doc:"file with the key that this worker asks for; a relative path starts at the configuration file's folder"`
	Zone        string            `yaml:"zone" doc:"name of its electricity grid zone, one of zones"`
	Concurrency int               `yaml:"concurrency" min:"0" max:"1000000" doc:"most requests that it may have in flight; 0 means no limit"`
	KVTokens    int               `yaml:"kv_tokens" min:"0" max:"1000000000" doc:"capacity of its KV cache in tokens; 0 means what its metrics tell"`
	KVLoad      float64           `yaml:"kv_load" min:"0" max:"100" doc:"prompts and expected outputs in flight after which it gets no further request, as a multiple of its KV cache; 0 means no limit"`
	Ranks       string            `yaml:"ranks" doc:"data-parallel ranks that it owns, as 0-3 or 4,6: each is routed to by itself, as the worker ID@RANK with these limits, and asked for by X-Data-Parallel-Rank; \"\" leaves the rank to the server"`
	Drain       bool              `yaml:"drain" doc:"gets no new requests; those that it has may end"`
	Energy      Energy            `yaml:"energy" doc:"its electricity model, for strategies that weigh energy; 0 means unknown"`
	Headers     map[string]string `yaml:"headers" doc:"further request headers that it gets"`

	// Key is the API key that LoadFile found in APIKeyFile.
	Key Secret
}

// Energy is a worker's electricity model; any figure may be unknown (0).
type Energy struct {
	PrefillJoules float64 `yaml:"prefill_joules" min:"0" max:"1e6" doc:"J per computed prompt token"`
	DecodeJoules  float64 `yaml:"decode_joules" min:"0" max:"1e6" doc:"J per output token, marginal: what one more token of a batch costs"`
	SharedJoules  float64 `yaml:"shared_joules" min:"0" max:"1e6" doc:"J per engine step, shared by the batch"`
	WakeWatts     float64 `yaml:"wake_watts" min:"0" max:"1e6" doc:"step in power from idle to active, W"`
	PUE           float64 `yaml:"pue" min:"0" max:"10" doc:"facility power over IT power, 1 or more"`
}

// Name returns the worker's ID, or the host:port of its URL if it has none.
func (w Worker) Name() string {
	if w.ID != "" {
		return w.ID
	}
	u, err := ParseURL(w.URL)
	if err != nil {
		return ""
	}
	return hostPort(u)
}
