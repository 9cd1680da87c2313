package probe

import "time"

// ask is one request of the plan.
type ask struct {
	text   uint64 // which text; equal ones are equal prompts
	prompt int    // tokens, about
	output int    // tokens
}

// stage is a list of requests that are sent one spacing after the other; the next
// stage begins when all of them have ended.
type stage []ask

// spacing keeps requests in order on their way to the worker.
const spacing = 5 * time.Millisecond

// The plan: lengths in tokens.
var (
	prefills   = [...]int{64, 256, 512, 1024, 1536, 2048, 3072, 4096}
	decodes    = [...]struct{ at, prompt, output int }{{1, 64, 48}, {4, 64, 48}, {16, 64, 48}, {32, 64, 48}, {4, 2048, 48}, {16, 2048, 48}}
	repeatedAt = 2048
)

// plan returns the stages, at most as many as make requests in all, and whether
// that was enough for all of them.
func plan(requests int) (stages []stage, complete bool) {
	text := uint64(0)
	next := func(prompt, output int) ask {
		text++
		return ask{text: text, prompt: prompt, output: output}
	}
	for range 2 {
		for _, n := range prefills {
			stages = append(stages, stage{next(n, 1)})
		}
	}
	repeated := next(repeatedAt, 1)
	stages = append(stages, stage{repeated}, stage{repeated})
	for _, d := range decodes {
		var s stage
		for range d.at {
			s = append(s, next(d.prompt, d.output))
		}
		stages = append(stages, s)
	}
	for i, s := range stages {
		if requests -= len(s); requests < 0 {
			return stages[:i], false
		}
	}
	return stages, true
}
