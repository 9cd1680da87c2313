package config

import (
	"time"

	"gatewayd/pkg/plugin/ref"
)

// Default returns the settings of a gateway that was told nothing. Only the
// workers are missing: without one the configuration is not valid.
func Default() Config {
	return Config{
		Listen:      "127.0.0.1:8080",
		AdminListen: "127.0.0.1:9090",
		Strategies:  []ref.Ref{{Name: "cacheroute"}, {Name: "sticky"}, {Name: "joule"}},
		Usage:       UsageActive,
		Plugins:     Plugins{StartTimeout: 5 * time.Second, DecisionTimeout: 25 * time.Millisecond, TrialDecisions: 100, TrialTime: time.Second},
		Plan:        Plan{Interval: 10 * time.Second},
		State:       State{Namespace: "gatewayd", SyncInterval: time.Second, LookupBudget: 2 * time.Millisecond},
		Limits: Limits{
			BodyBytes:   32 << 20,
			HeaderBytes: 64 << 10,
			Queue:       1024,
			QueueWait:   30 * time.Second,
			Attempts:    3,
		},
		Timeouts: Timeouts{
			Connect:       2 * time.Second,
			ResponseHead:  2 * time.Minute,
			FirstToken:    2 * time.Minute,
			TokenGap:      time.Minute,
			Total:         30 * time.Minute,
			ShutdownGrace: 30 * time.Second,
		},
		Probe: Probe{
			Interval:        5 * time.Second,
			Timeout:         2 * time.Second,
			Successes:       2,
			Failures:        3,
			ModelsInterval:  10 * time.Second,
			MetricsInterval: 2 * time.Second,
			MetricsTimeout:  time.Second,
			SlowStart:       10 * time.Second,
		},
		Breaker: Breaker{Failures: 5, Cooldown: time.Second, MaxCooldown: time.Minute, Probes: 1},
		Headers: Headers{Expose: true, Priority: "x-gatewayd-priority", Priorities: map[string]int{"high": 10, "normal": 0, "low": -10}, Session: []string{"x-session-id"}},
		Record:  Record{FileBytes: 1 << 30, Files: 8},
		Log:     Log{Level: "info", Format: "text"},
	}
}
