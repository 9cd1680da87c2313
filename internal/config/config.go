// Package config holds the settings of a gateway: their types, one Default,
// and a strict reader of the YAML file.
//
// Every setting is one struct field. Its tags carry its name (yaml), its range
// (min, max) and its one line of documentation (doc), so that the reader, the
// checks and docs/config.md are made from the same place.
//
// Reading order: config.go, worker.go with ranks.go and discovery.go (the types), default.go, load.go
// (files), targets.go (files of workers), decode.go with strategy.go, scalar.go and setting.go (text to
// values), check.go and checkworker.go, url.go, key.go, problem.go (errors),
// docs.go.
package config

import (
	"reflect"
	"time"

	"gatewayd/pkg/plugin/ref"
)

// Config is everything that a gateway is told at its start.
type Config struct {
	Listen      string            `yaml:"listen" doc:"address of the API, host:port; port 0 takes a free one"`
	AdminListen string            `yaml:"admin_listen" doc:"address of metrics and administration, host:port; port 0 takes a free one, \"\" switches it off"`
	Workers     []Worker          `yaml:"workers" doc:"the model servers"`
	Discovery   Discovery         `yaml:"discovery" doc:"where further model servers are found"`
	Aliases     map[string]string `yaml:"aliases" doc:"further names that requests may use, each with the model or adapter that it stands for"`
	Usage       string            `yaml:"usage" oneof:"active passive" doc:"active asks workers for the token usage of streams whose clients did not, and takes it out of the answer again; passive leaves requests as they are and estimates those counts"`
	Zones       map[string]Zone   `yaml:"zones" doc:"electricity grid zones by name, for strategies that weigh carbon"`
	AdminToken  string            `yaml:"admin_token_file" doc:"file with the token that the admin listener asks for, made with mode 0600 if there is none; \"\" means gatewayd/admin.token in the user's folder of settings"`
	Strategies  []ref.Ref         `yaml:"strategies" doc:"strategies in order; the first with an opinion decides, and two-choices-least-load is built in behind the last"`
	Shadow      [][]ref.Ref       `yaml:"shadow" doc:"further chains, each a list as in strategies, that are asked about the same requests without deciding any"`
	Plugins     Plugins           `yaml:"plugins" doc:"the processes that strategies run in"`
	Plan        Plan              `yaml:"plan" doc:"strategies that decide ahead"`
	State       State             `yaml:"state" doc:"what several gateways share"`
	Limits      Limits            `yaml:"limits" doc:"bounds on requests and on waiting"`
	Timeouts    Timeouts          `yaml:"timeouts" doc:"how long each phase of a request may take"`
	Probe       Probe             `yaml:"probe" doc:"how workers are watched"`
	Breaker     Breaker           `yaml:"breaker" doc:"when failing requests take a worker out of rotation"`
	TLS         TLS               `yaml:"tls" doc:"encrypted connections of clients and to workers"`
	Seed        int               `yaml:"seed" min:"0" max:"9007199254740991" doc:"number that all draws follow from, for tests that are to be repeated; 0 draws one at each start. Gateways of one fleet must not share one"`
	Headers     Headers           `yaml:"headers" doc:"HTTP headers with a meaning"`
	Record      Record            `yaml:"record" doc:"traffic written down for benchlab, without any text of a prompt"`
	Log         Log               `yaml:"log" doc:"the log on standard error"`
}

// Same reports whether two configurations differ in nothing, the files that LoadFile
// read with them included.
func (c Config) Same(o Config) bool {
	a, b := c.TLS, o.TLS
	c.TLS, o.TLS = TLS{}, TLS{}
	return a.same(b) && reflect.DeepEqual(c, o)
}

// Zone is a zone of an electricity grid.
type Zone struct {
	GramsPerKWh float64 `yaml:"grams_per_kwh" min:"0" max:"5000" doc:"carbon intensity of its electricity, gCO2e/kWh"`
	Marginal    bool    `yaml:"marginal" doc:"the figure is a marginal intensity, not an average; do not mix the two"`
}

// Plugins says how strategies are started and how long they may take.
type Plugins struct {
	Dir             string        `yaml:"dir" doc:"folder of strategy executables by name; \"\" means plugins/ beside the gateway's executable"`
	StartTimeout    time.Duration `yaml:"start_timeout" min:"100ms" max:"5m" doc:"time for a strategy's process to become ready"`
	TrialDecisions  int           `yaml:"trial_decisions" min:"0" max:"1000000" doc:"requests that a changed strategy is asked about on the side before it takes over while the gateway runs"`
	TrialTime       time.Duration `yaml:"trial_time" min:"0s" max:"1h" doc:"time after which it takes over although fewer requests came"`
	MTLS            bool          `yaml:"mtls" doc:"encrypt the connection to strategies, each end proving itself by a certificate made for the one start; those that offer no TLS are refused"`
	DecisionTimeout time.Duration `yaml:"decision_timeout" min:"1ms" max:"10s" doc:"time for a strategy to decide one request, after which the next one is asked"`
}

// Plan says how often strategies plan.
type Plan struct {
	Interval time.Duration `yaml:"interval" min:"100ms" max:"1h" doc:"time between two plans, for strategies that name none"`
}

// State says where several gateways meet.
type State struct {
	Redis        Secret        `yaml:"redis" doc:"redis://, rediss:// or unix:// URL of the shared state; \"\" keeps it in memory, for one gateway"`
	Namespace    string        `yaml:"namespace" doc:"prefix of all keys; gateways of one fleet share it"`
	SyncInterval time.Duration `yaml:"sync_interval" min:"50ms" max:"1m" doc:"time between two exchanges of rates and loads"`
	LookupBudget time.Duration `yaml:"lookup_budget" min:"0s" max:"1s" doc:"how long a request with a key new to this gateway may wait for the shared state"`
}

// Limits bounds what one gateway takes on.
type Limits struct {
	BodyBytes   Bytes         `yaml:"body_bytes" min:"1KiB" max:"1GiB" doc:"largest request body; larger ones get status 413"`
	HeaderBytes Bytes         `yaml:"header_bytes" min:"4KiB" max:"1MiB" doc:"largest request head; larger ones get status 431"`
	Queue       int           `yaml:"queue" min:"0" max:"1000000" doc:"most requests that wait for a worker with room; further ones get status 429"`
	QueueWait   time.Duration `yaml:"queue_wait" min:"0s" max:"1h" doc:"longest wait for a worker with room"`
	Attempts    int           `yaml:"attempts" min:"1" max:"10" doc:"most workers tried for one request, the first included"`
}

// Timeouts bounds the phases of a request.
type Timeouts struct {
	Connect       time.Duration `yaml:"connect" min:"10ms" max:"1m" doc:"connecting to a worker, TLS included"`
	ResponseHead  time.Duration `yaml:"response_head" min:"100ms" max:"24h" doc:"from the request's last byte to the response's head, for streamed answers"`
	FirstToken    time.Duration `yaml:"first_token" min:"100ms" max:"24h" doc:"from the request's last byte to the first token, for streamed answers"`
	TokenGap      time.Duration `yaml:"token_gap" min:"100ms" max:"24h" doc:"silence in a streamed answer after its first token"`
	Total         time.Duration `yaml:"total" min:"1s" max:"168h" doc:"the whole request, the queue and a slow client included"`
	ShutdownGrace time.Duration `yaml:"shutdown_grace" min:"0s" max:"24h" doc:"time for running requests to end after SIGTERM"`
}

// Probe says how workers are watched.
type Probe struct {
	Interval        time.Duration `yaml:"interval" min:"50ms" max:"10m" doc:"time between two health checks of a worker that is up"`
	Timeout         time.Duration `yaml:"timeout" min:"10ms" max:"1m" doc:"time for one health check or model list"`
	Successes       int           `yaml:"successes" min:"1" max:"100" doc:"health checks in a row that must pass before a worker gets requests"`
	Failures        int           `yaml:"failures" min:"1" max:"100" doc:"health checks and refused connections in a row that take a worker down"`
	ModelsInterval  time.Duration `yaml:"models_interval" min:"100ms" max:"1h" doc:"time between two readings of a worker's models and adapters"`
	MetricsInterval time.Duration `yaml:"metrics_interval" min:"100ms" max:"10m" doc:"time between two readings of an engine's metrics"`
	MetricsTimeout  time.Duration `yaml:"metrics_timeout" min:"10ms" max:"1m" doc:"time for one reading of an engine's metrics"`
	SlowStart       time.Duration `yaml:"slow_start" min:"0s" max:"1h" doc:"time within which a worker that has come up beside others gets all of its requests; until then it may have 4 in flight, twice as many after each fifth of the time; 0s gives it all at once"`
}

// Breaker says when failing requests, rather than failing health checks, take
// a worker out of rotation.
type Breaker struct {
	Failures    int           `yaml:"failures" min:"1" max:"1000" doc:"failed requests in a row that open a worker's breaker; answers with a 4xx status do not count"`
	Cooldown    time.Duration `yaml:"cooldown" min:"10ms" max:"1h" doc:"time until an opened breaker lets requests through on trial; it doubles with each failed trial"`
	MaxCooldown time.Duration `yaml:"max_cooldown" min:"10ms" max:"24h" doc:"longest time between two trials"`
	Probes      int           `yaml:"probes" min:"1" max:"100" doc:"requests that a trial lets through; all have to be served for the breaker to close"`
}

// Headers says which HTTP headers mean something to the gateway.
type Headers struct {
	Expose     bool           `yaml:"expose" doc:"answer with x-gatewayd-worker, x-gatewayd-strategy and x-gatewayd-reason"`
	Priority   string         `yaml:"priority" doc:"request header that names the class in which a request waits for a worker, one of priorities; \"\" knows none"`
	Priorities map[string]int `yaml:"priorities" doc:"classes and their priorities: higher ones go first, 0 is that of requests without a class, and a full queue gives the place of a lower one to a higher one"`
	Session    []string       `yaml:"session" doc:"request headers that name a session, in order; the first one present is the request's affinity key"`
}

// Record says where traffic is written down.
type Record struct {
	File      string `yaml:"file" doc:"file that grows; \"\" records nothing. A full one, or one from before, gets a number: FILE.1 is the newest of them. A relative path starts at the configuration file's folder"`
	FileBytes Bytes  `yaml:"file_bytes" min:"64KiB" max:"1024GiB" doc:"size from which on a new file is begun"`
	Files     int    `yaml:"files" min:"1" max:"10000" doc:"most files kept, the one that grows included; the oldest is removed"`
	SaltFile  string `yaml:"salt_file" doc:"file with the secret behind all hashes, made if there is none, for records of several gateways that are to be compared; \"\" draws one at each start"`
}

// Log says what is logged, and how.
type Log struct {
	Level  string `yaml:"level" oneof:"trace debug info warn error" doc:"least level that is logged"`
	Format string `yaml:"format" oneof:"text json" doc:"form of a log line"`
}
