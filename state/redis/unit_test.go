package redis

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gatewayd/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestURLs(t *testing.T) {
	for url, want := range map[string]string{
		"redis://h":                   "h:6379",
		"redis://h:1/3":               "h:1 db=3",
		"redis://u:p%2F%40@h:1":       "h:1 user=u password=p/@",
		"redis://:p@h":                "h:6379 password=p",
		"rediss://h":                  "h:6379 tls",
		"rediss://h?skip_verify=true": "h:6379 tls unverified",
		"unix:///run/redis.sock?db=2": "/run/redis.sock db=2",
		"unix://u:p@/run/redis.sock":  "/run/redis.sock user=u password=p",
		"redis://u:p@a:1,b:2,[::1]:3": "a:1 b:2 [::1]:3 user=u password=p",
		"redis://a:1?cluster=true":    "a:1 cluster",
		"redis://a:1,b:2/1?master_name=m&sentinel_username=su&sentinel_password=sp": "a:1 b:2 db=1 master=m su:sp",
	} {
		o, err := parse(url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		limit(o, Options{})
		got := strings.Join(o.Addrs, " ")
		for _, part := range []struct {
			is   bool
			text string
		}{
			{o.DB != 0, "db=" + string(rune('0'+o.DB))},
			{o.Username != "", "user=" + o.Username},
			{o.Password != "", "password=" + o.Password},
			{o.TLSConfig != nil, "tls"},
			{o.TLSConfig != nil && o.TLSConfig.InsecureSkipVerify, "unverified"},
			{o.IsClusterMode, "cluster"},
			{o.MasterName != "", "master=" + o.MasterName + " " + o.SentinelUsername + ":" + o.SentinelPassword},
		} {
			if part.is {
				got += " " + part.text
			}
		}
		if got != want {
			t.Errorf("%s is %q, want %q", url, got, want)
		}
	}
}

// TestBadURLs: errors show the form and never a password.
func TestBadURLs(t *testing.T) {
	for _, url := range []string{
		"", "localhost:6379", "http://h", "redis://", "redis://:secret@", "unix://", "unix://h/path", "redis://h:port", "redis://a,,b",
		"redis://h/x", "redis://h/1/2", "redis://u:secret/secret@h", "redis://u:secret?secret@h", "redis://u:%secret@h",
		"redis://h?dial_timeout=1", "redis://h?db=x", "redis://h?skip_verify=perhaps", "redis://h?%zz", "redis://a,b/1",
		"redis://u:secret@h:port", "redis://u:secret@h/x",
	} {
		_, err := Open(url, Options{})
		if err == nil {
			t.Errorf("%q was accepted", url)
			continue
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error of %q shows the password: %v", url, err)
		}
		if !strings.Contains(err.Error(), "use ") && !strings.Contains(err.Error(), "cluster has only") {
			t.Errorf("the error of %q does not say what to do: %v", url, err)
		}
	}
	if _, err := Open("redis://h", Options{Namespace: "a{b}"}); err == nil {
		t.Error("a namespace with braces was accepted")
	}
}

func TestCircuit(t *testing.T) {
	now := time.Unix(0, 0)
	c := &circuit{limit: 3, pause: time.Second, now: func() time.Time { return now }}
	ctx := t.Context()
	gone, cancel := context.WithCancel(ctx)
	bad := errors.New("refused")
	try := func(ctx context.Context, result error) error {
		err := c.allow(t.Context())
		if err == nil {
			c.note(ctx, result)
		}
		return err
	}
	cancel() // the callers of these calls give up while they wait
	steps := []struct {
		does    string
		after   time.Duration
		ctx     context.Context
		result  error
		refused bool
	}{
		{"a failure", 0, ctx, bad, false},
		{"a second failure", 0, ctx, bad, false},
		{"a success in between", 0, ctx, nil, false},
		{"failure 1", 0, ctx, bad, false},
		{"failure 2", 0, ctx, bad, false},
		{"a caller that gives up", 0, gone, context.Canceled, false},
		{"failure 3", 0, ctx, bad, false},
		{"a call in the pause", 999 * time.Millisecond, ctx, nil, true},
		{"the probe", time.Millisecond, ctx, bad, false},
		{"a call behind the probe", 0, ctx, nil, true},
		{"a probe whose caller gives up", time.Second, gone, context.Canceled, false},
		{"a call behind it", 0, ctx, nil, true},
		{"a probe that succeeds", time.Second, ctx, nil, false},
		{"a failure after it", 0, ctx, bad, false},
		{"a call after that", 0, ctx, nil, false},
	}
	for _, step := range steps {
		now = now.Add(step.after)
		if err := try(step.ctx, step.result); errors.Is(err, state.ErrUnavailable) != step.refused {
			t.Errorf("%s: %v, want refused: %v", step.does, err, step.refused)
		}
	}
	want := state.Health{Up: true, Failed: 7, Skipped: 3, Err: bad}
	if got := c.health(); got != want {
		t.Errorf("health is %+v, want %+v", got, want)
	}
	if err := c.allow(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that had given up before got %v", err)
	}
	c.watch(ctx, bad)
	c.watch(ctx, bad)
	c.watch(ctx, bad)
	if got := c.health(); got.Up || got.Paused {
		t.Errorf("after failures of other calls health is %+v, want down and not paused", got)
	}
}

// TestLateAnswer: a call goes on when its caller has gone, and the lane is
// bounded.
func TestLateAnswer(t *testing.T) {
	l := newLane(1)
	begun, answer, used := make(chan struct{}), make(chan int), make(chan int, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-begun
		cancel()
	}()
	_, err := ride(ctx, l, patience, func(context.Context) (int, error) {
		close(begun)
		used <- <-answer
		return 0, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the caller that gave up got %v", err)
	}
	if _, err := ride(ctx, l, patience, func(context.Context) (int, error) { return 1, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a full lane gave %v to a caller that gave up", err)
	}
	answer <- 42
	if got := <-used; got != 42 {
		t.Errorf("the late answer was %d", got)
	}
	if got, err := ride(t.Context(), l, patience, func(context.Context) (int, error) { return 2, nil }); got != 2 || err != nil {
		t.Errorf("the next caller got %d, %v", got, err)
	}
	l.drain()
	if _, err := ride(t.Context(), l, patience, func(context.Context) (int, error) { return 3, nil }); err == nil {
		t.Error("a closed lane took a call")
	}
}
