package main

import (
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/experiment"
	"gatewayd/benchlab/report"
	"gatewayd/benchlab/sim"
	"gatewayd/benchlab/sim/signal"
	"gatewayd/pkg/strategies"
)

// defaultScale is the rate scale of the built-in trace: 8 workers of the default
// profile under least-busy then have a prefill utilisation of 60 to 70 %.
const defaultScale = 3.8

const (
	defaultProfile = "llama-3.1-8b-h100"
	defaultSeeds   = 5
	maxSimWorkers  = 1024
	maxGateways    = 64
	maxSeeds       = 1000
)

func defaultContenders() []string {
	return []string{"round-robin", "least-busy", "sticky", "cacheroute", "cacheroute+sticky+joule", "joule", "carbon"}
}

// studyFlags say what is simulated; seeds is the default number of them.
func studyFlags(seeds int) []cli.Flag {
	return append(trafficFlags(), []cli.Flag{
		&cli.StringFlag{Name: "timing", Value: sim.Recorded.String(), DefaultText: "recorded, sessions without a common clock", Usage: "`MODE` of arrivals: recorded, or sessions, where a turn follows its predecessor's answer"},
		&cli.StringSliceFlag{Name: "strategy", Usage: "a contender: `CHAIN` is NAME|PATH[:key=value...], or several of these joined with +; repeatable"},
		&cli.IntFlag{Name: "workers", Value: 8, Usage: "`N` equal workers"},
		&cli.StringFlag{Name: "profile", Value: defaultProfile, Usage: "what the workers are: an engine profile's `NAME|FILE`"},
		assumeFlag(),
		&cli.StringFlag{Name: "protect", Value: "none", Usage: "blocks that workers evict last: none or admitted (`SET` of keys with a place in the plan)"},
		&cli.IntFlag{Name: "gateways", Value: 1, Usage: "`N` gateways, each with its own view"},
		&cli.DurationFlag{Name: "sync-interval", Value: time.Second, Usage: "`TIME` between two exchanges of the gateways' views"},
		&cli.DurationFlag{Name: "scrape-interval", Value: time.Second, Usage: "`TIME` between two readings of the workers' own figures"},
		&cli.StringFlag{Name: "signal", Value: signal.Usage.String(), Usage: "the best signal of reuse that strategies have: `NAME` is " + signal.Names()},
		&cli.StringSliceFlag{Name: "fault", Usage: "`TEXT` of what goes wrong, as crash:w3@30s+20s or slow:w2x3@60s; repeatable"},
		&cli.DurationFlag{Name: "plan-delay", Value: 50 * time.Millisecond, Usage: "virtual `TIME` until a plan is in force"},
		&cli.DurationFlag{Name: "decision-delay", Usage: "virtual `TIME` of a call to a strategy"},
		&cli.StringFlag{Name: "slo", Value: "ttft=2s,tpot=50ms", Usage: "`BOUNDS` that a good request keeps"},
		&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`N` is the first seed"},
		&cli.IntFlag{Name: "seeds", Value: seeds, Usage: "`N` seeds: each draws arrivals inside the recorder's tick, session starts, faults, and all that strategies draw"},
	}...)
}

// trafficFlags say which traffic it is.
func trafficFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "trace", Usage: "recorded traffic in `FILE`, of any format that trace info knows, also .gz or .zst", DefaultText: "the built-in one"},
		&cli.IntFlag{Name: "requests", Usage: "use the first `N` requests only", DefaultText: "all"},
		&cli.Float64Flag{Name: "rate-scale", Usage: "multiply the request rate by `X`", DefaultText: "3.8 for the built-in trace, 1 for a file"},
		&cli.IntFlag{Name: "sessions", Usage: "use `N` whole sessions only, drawn once for all seeds", DefaultText: "all"},
		&cli.DurationFlag{Name: "session-window", Value: time.Hour, Usage: "sessions without a common clock start within `TIME`"},
		&cli.DurationFlag{Name: "max-think", Usage: "shorten longer think times of such sessions to `TIME`", DefaultText: "as recorded"},
		&cli.BoolFlag{Name: "sessions-apart", Usage: "such sessions share no tools and no system prompt", DefaultText: "off"},
	}, placeFlags()...)
}

const (
	compareHelp = "Simulates every contender with every seed in virtual time, with the code that serves live traffic.\n" +
		"Equal arguments give equal bytes on standard output; wall-clock figures go to standard error."
	compareExamples = "   benchlab compare --strategy round-robin --strategy cacheroute+sticky --strategy ./mine:alpha=0.5\n" +
		"   benchlab compare --trace traffic.jsonl.gz --profile llama-3.1-70b-h200x4 --threshold 'cacheroute ttft.p99<800ms' --json result.json"
	sweepHelp = "Simulates every contender at several loads, fleets, ages of what gateways know, numbers of gateways or sizes of KV caches.\n" +
		"Equal arguments give equal bytes on standard output; wall-clock figures go to standard error."
	sweepExamples = "   benchlab sweep --over load --capacity --slo ttft=8s --strategy least-busy --strategy joule\n" +
		"   benchlab sweep --over gateways --from 1 --to 8 --steps 4 --json gateways.json"
)

// described is the description of a command: what it does, examples, and the names
// that its flags take.
func described(what, examples string) string {
	var names []string
	for _, d := range strategies.Catalog() {
		names = append(names, d.Name)
	}
	var profiles []string
	for _, p := range engine.Profiles() {
		profiles = append(profiles, p.Name)
	}
	var figures []string
	for _, c := range report.Columns() {
		figures = append(figures, c.Name)
	}
	return what + "\n\nExamples:\n" + examples + "\n\n" + wrapped("Strategies", names) + "\n" + wrapped("Profiles", profiles) + "\n" +
		wrapped("Figures for --threshold", figures) + "\n\n" + exitCodes
}

// exitCodes is the same text in every help and on the page.
const exitCodes = "Exit codes: 0 all went well, 1 the run failed, 2 arguments or input are wrong, 99 a threshold was crossed"

// wrapped lists names in lines of at most 110 characters.
func wrapped(title string, names []string) string {
	const width = 110
	lines := []string{title + ":"}
	for _, n := range names {
		last := len(lines) - 1
		if len(lines[last])+1+len(n)+1 > width {
			lines = append(lines, "  ")
			last++
		}
		lines[last] += " " + n + ","
	}
	return strings.TrimSuffix(strings.Join(lines, "\n"), ",")
}

// thresholds reads --threshold.
func thresholds(c *cli.Context) ([]experiment.Threshold, error) {
	var out []experiment.Threshold
	for _, text := range c.StringSlice("threshold") {
		t, err := experiment.ParseThreshold(text)
		if err != nil {
			return nil, usageError{err}
		}
		out = append(out, t)
	}
	return out, nil
}
