package replay

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Run sends the whole trace and returns what became of it. When ctx ends, nothing
// further is sent, open requests are broken off, and the result tells of what was
// sent until then. It fails only if the config makes no sense.
func Run(ctx context.Context, c Config) (*Result, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	l, err := newLoop(c)
	if err != nil {
		return nil, err
	}
	if c.Options.Transport == nil {
		own := newTransport(c.Options.MaxInFlight)
		defer own.CloseIdleConnections()
		l.sender.transport = own
	}
	l.run(ctx)
	return l.result, nil
}

// loop is a replay under way. One goroutine runs it; each open request has one of
// its own, which sends and reads.
type loop struct {
	config   Config
	schedule *schedule
	writer   writer
	sender   *sender
	result   *Result

	ended    chan ended
	open     int
	done     int // requests that have ended
	sent     int
	requests sync.WaitGroup
}

func newLoop(c Config) (*loop, error) {
	o := c.Options
	s, err := newSchedule(c.Trace, o.Timing, o.Dilation)
	if err != nil {
		return nil, err
	}
	return &loop{
		config: c, schedule: s, ended: make(chan ended),
		writer: writer{trace: c.Trace, tokens: o.Tokens, salt: o.Salt},
		sender: newSender(c),
		result: newResult(c),
	}, nil
}

func newSender(c Config) *sender {
	o := c.Options
	s := &sender{
		form: form{endpoint: o.Endpoint, model: c.Model, exact: o.Exact, cacheKey: o.CacheKey},
		url:  *c.Target, session: o.SessionHeader, transport: o.Transport, timeout: o.Timeout, dilation: o.Dilation,
		header: http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}, "User-Agent": {"benchlab"}},
	}
	s.url.Path, s.url.RawPath = trimBase(s.url.Path)+o.Endpoint.path(), ""
	if o.APIKey != "" {
		s.header.Set("Authorization", "Bearer "+o.APIKey)
	}
	return s
}

func (l *loop) run(ctx context.Context) {
	l.sender.began = time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	stopping := ctx.Done()
	for {
		next, some := l.schedule.first()
		if !some && l.open == 0 {
			break
		}
		var fire <-chan time.Time
		if some && stopping != nil {
			timer.Reset(next.at - time.Since(l.sender.began))
			fire = timer.C
		}
		select {
		case <-fire:
			l.schedule.pop()
			l.start(ctx, next)
		case e := <-l.ended:
			l.finish(e)
		case <-stopping:
			l.result.Interrupted = true
			stopping = nil
		}
		if stopping == nil && l.open == 0 {
			break
		}
	}
	l.requests.Wait()
	l.result.Took = time.Since(l.sender.began)
}

// start sends what is due, in a goroutine of its own.
func (l *loop) start(ctx context.Context, d due) {
	scheduled := time.Duration(float64(d.at) / l.config.Options.Dilation)
	l.result.Outcomes[d.row].Scheduled = scheduled
	if l.open >= l.config.Options.MaxInFlight {
		now := time.Now()
		at := l.sender.since(now)
		l.settle(ended{row: d.row, at: now, outcome: Outcome{Sent: at, Ended: at, Prompt: -1, Output: -1, Cached: -1, Worker: -1, Kind: NotSent},
			message: fmt.Sprintf("%d requests were open, the most that are allowed", l.open)})
		return
	}
	l.open++
	l.sent++
	r := &l.config.Trace.Requests[d.row]
	l.requests.Go(func() {
		e := l.sender.send(ctx, l.writer.write(int(d.row)), r.Output, l.writer.session(r.Session))
		e.row = d.row
		l.ended <- e
	})
	l.progress()
}

func (l *loop) finish(e ended) {
	l.open--
	l.settle(e)
}

// settle is the one place where a row ends.
func (l *loop) settle(e ended) {
	l.done++
	e.outcome.Scheduled = l.result.Outcomes[e.row].Scheduled
	l.result.take(e)
	l.schedule.ended(e.row, e.at.Sub(l.sender.began))
	l.progress()
}

func (l *loop) progress() {
	if l.config.Options.Progress != nil {
		l.config.Options.Progress(l.sent, l.done)
	}
}
