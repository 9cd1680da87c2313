package worker

import (
	"context"
	"net/http"

	"gatewayd/benchlab/engine"
)

// chat is POST /v1/chat/completions.
func (s *Server) chat(ctx context.Context, w http.ResponseWriter, body []byte) error {
	var r chatRequest
	if err := s.decode(body, &r, &r.Model); err != nil {
		return err
	}
	text, err := chatText(&r)
	if err != nil {
		return err
	}
	return s.generate(ctx, w, &r.asked, text, chatForm())
}

// generate answers a prompt, at once or as a stream.
func (s *Server) generate(ctx context.Context, w http.ResponseWriter, a *asked, text []byte, f form) error {
	tokens, reason, err := s.limit(a, countTokens(text))
	if err != nil {
		return err
	}
	j := s.newJob(text, tokens, reason)
	if err := s.start(ctx, j); err != nil {
		return err
	}
	defer s.abandon(ctx, j)
	id, created := newID(f.prefix), s.config.Clock.Now().Unix()
	if a.Stream {
		s.stream(ctx, w, j, f.stream(id, a.Model, created, reason), a.wantsUsage())
		return nil
	}
	p, err := j.wait(ctx)
	if err != nil {
		return err
	}
	c := choice{FinishReason: reason}
	f.place(&c, string(j.answer))
	return s.reply(w, completed{ID: id, Object: f.object, Created: created, Model: a.Model, Choices: []choice{c}, Usage: j.usage(p)})
}

// newJob prepares a request for the engine. The blocks run on over the answer,
// which is known beforehand, so that the next turn of a conversation finds it.
func (s *Server) newJob(text []byte, output int, reason string) *job {
	words := answer(text, output)
	prompt := countTokens(text)
	blocks := blockHashes(append(text, words...), s.block)
	full := min(prompt/s.block, len(blocks))
	j := &job{
		request: engine.Request{
			ID: s.lastID.Add(1), PromptTokens: prompt, OutputTokens: output,
			Blocks: blocks[:full], OutputBlocks: blocks[full:],
		},
		answer: words, reason: reason, wake: make(chan struct{}, 1),
	}
	if s.config.ForgetAnswers {
		j.request.OutputBlocks = nil
	}
	return j
}

func (s *Server) start(ctx context.Context, j *job) (err error) {
	if asked := s.ask(ctx, func(a *actor) { err = a.submit(j) }); asked != nil {
		return asked
	}
	return err
}

// abandon takes a job out of the engine if it is there still.
func (s *Server) abandon(ctx context.Context, j *job) {
	if p, _ := j.look(); p.ended {
		return
	}
	// Only Close refuses this, and Close ends the job itself.
	_ = s.ask(context.WithoutCancel(ctx), func(a *actor) { a.cancel(j) })
}
