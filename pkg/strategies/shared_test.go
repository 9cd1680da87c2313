package strategies

import (
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// TestSharedInstructions has many users, whose prompts all begin with the same long
// instructions, talk with four equal workers for some turns each: the busiest worker
// gets no more than 1.3 times the mean, and a user's turns stay mostly on one worker.
// Others, as published, gather what shares a prefix as long as workers have room.
func TestSharedInstructions(t *testing.T) {
	for _, name := range []string{"sticky", "cacheroute", "chwbl", "dynamo"} {
		const users, turns, workers = 200, 6, 4
		p := newPool(t, name, nil, workers, router.Worker{Carbon: router.Carbon{GramsPerKWh: router.Unknown}})
		count, at, stays := map[string]int{}, map[int]string{}, 0
		var running []router.Step
		now := router.Time(0)
		for turn := range turns {
			for user := range users {
				now = now.Add(50 * time.Millisecond)
				p.core.Tick(now)
				p.plan(t, now)
				s := p.take(t, now, chat(user, turn))
				p.core.FirstToken(now, s.Ticket)
				count[s.Worker.ID]++
				if at[user] == s.Worker.ID {
					stays++
				}
				at[user] = s.Worker.ID
				if running = append(running, s); len(running) > 16 {
					p.core.Finish(now, running[0].Ticket, router.Ending{Outcome: router.Completed, Usage: router.Usage{PromptTokens: 2000, OutputTokens: 60, CachedTokens: -1}})
					running = running[1:]
				}
			}
		}
		most := 0
		for _, n := range count {
			most = max(most, n)
		}
		busiest, share := float64(most*workers)/(users*turns), float64(stays)/(users*(turns-1))
		if busiest > 1.3 || share < 0.8 {
			t.Errorf("%s: the busiest worker has %.2f times the mean, and %.2f of the later turns stay: %v", name, busiest, share, count)
		}
	}
}

// chat is a turn of a user's conversation: 1,600 tokens of instructions for all, then
// 64 tokens of the user's own for each turn.
func chat(user, turn int) router.Request {
	blocks := make([]uint64, 100+4*(turn+1))
	for b := range blocks {
		if blocks[b] = router.Mix(uint64(b)); b >= 100 {
			blocks[b] = router.Mix(uint64(user+1)<<20 + uint64(b))
		}
	}
	return router.Request{Key: uint64(user + 1), PromptTokens: 16 * len(blocks), Blocks: blocks, BlockTokens: 16, MaxTokens: 100}
}
