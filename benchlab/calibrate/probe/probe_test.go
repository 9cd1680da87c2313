package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gatewayd/benchlab/calibrate"
	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/worker"
)

// pipes is a listener whose connections are in memory, so that a server in a
// bubble of virtual time needs no network.
type pipes struct {
	dialled chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.dialled:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// serve serves until the test ends and returns a client that reaches nothing else.
func serve(t *testing.T, h http.Handler) *http.Client {
	listener := &pipes{dialled: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: h}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DialContext: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		listener.dialled <- there
		return here, nil
	}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return &http.Client{Transport: transport}
}

func emulated(t *testing.T, name string) (engine.Profile, *http.Client) {
	p, err := engine.ProfileByName(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := worker.New(worker.Config{Models: []string{"served"}, Profile: p, APIKey: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return p, serve(t, s.Handler())
}

// TestProbeFindsTheProfile probes an emulated worker in virtual time and holds that
// the fit finds the coefficients that it was given.
func TestProbeFindsTheProfile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		want, client := emulated(t, "llama-3.1-8b-h100")
		run, found, err := start(t, Config{Target: "http://worker/v1/", APIKey: "secret", Salt: 7, Client: client})
		if err != nil {
			t.Fatal(err)
		}
		if found.Model != "served" || found.KVBlocks != want.KVBlocks || found.BlockTokens != 16 || len(run.Notes) > 0 {
			t.Errorf("found %+v, notes %q", found, run.Notes)
		}
		if found.CachedTokens < 2000 || found.AgainTTFT > found.FirstTTFT/2 {
			t.Errorf("the prefix cache was not seen: %+v", found)
		}
		base := engine.Profile{Name: "probed", Model: want.Model, GPU: want.GPU, GPUs: 1, KVBlocks: found.KVBlocks}
		fit, err := calibrate.Fit(t.Context(), run, base, calibrate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := fit.Profile
		if err := got.CheckPhysics(); err != nil {
			t.Error(err)
		}
		fixed := func(p engine.Profile) float64 { return p.WeightsMS + p.DecodeMS + p.OverheadMS.Or(0) }
		perSeq := func(p engine.Profile) float64 { return p.DecodeSeqMS + p.OverheadSeqMS.Or(0) }
		near(t, "ms of a step", fixed(got), fixed(want), 0.01)
		near(t, "us of a token", got.TokenUS, want.TokenUS, 0.03)
		near(t, "ms of a sequence", perSeq(got), perSeq(want), 0.03)
		for _, e := range fit.Estimates {
			if _, known := e.Value.Value(); !known {
				t.Errorf("%s is not determined: %+v", e.Field, e)
			}
		}
		// A load that the probe has never tried.
		load := engine.Load{Decoding: 100, Context: 100 * 3000, Prefilling: 2, PrefillTokens: 1500, Quad2: 1500 * 1500}
		near(t, "a large step", got.Step(load).Seconds(), want.Step(load).Seconds(), 0.07)
	})
}

func start(t *testing.T, c Config) (*calibrate.Run, Findings, error) {
	p, err := New(c)
	if err != nil {
		return nil, Findings{}, err
	}
	return p.Run(t.Context())
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got/want-1) > tolerance {
		t.Errorf("%s: %v, want %v within %v %%", what, got, want, 100*tolerance)
	}
}

// counter counts requests for answers.
type counter struct {
	http.RoundTripper
	posts atomic.Int32
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		c.posts.Add(1)
	}
	return c.RoundTripper.RoundTrip(r)
}

// TestBounds holds that a probe sends no more and lasts no longer than it is told,
// and says what it left out.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client := emulated(t, "qwen3-32b-a100x2")
		count := &counter{RoundTripper: client.Transport}
		client.Transport = count
		run, _, err := start(t, Config{Target: "http://worker", APIKey: "secret", Requests: 20, Client: client})
		if err != nil || len(run.Requests) > 20 || count.posts.Load() > 22 || !strings.Contains(strings.Join(run.Notes, " "), "too few") {
			t.Errorf("%d requests, %d sent, %v", len(run.Requests), count.posts.Load(), err)
		}
		begun := time.Now()
		run, _, err = start(t, Config{Target: "http://worker", APIKey: "secret", Salt: 1, Timeout: 5 * time.Second, Client: client})
		if err != nil || !strings.Contains(strings.Join(run.Notes, " "), "time ran out") || time.Since(begun) > 5*time.Second {
			t.Errorf("notes %q after %v, %v", run.Notes, time.Since(begun), err)
		}
		_, _, err = start(t, Config{Target: "http://worker", APIKey: "secret", Salt: 2, Timeout: time.Second, Client: client})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a second is too short even for prefills, but the error is %v", err)
		}
	})
}

// TestRefusals holds that what makes figures wrong is an error that says so.
func TestRefusals(t *testing.T) {
	stream := func(events ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				io.WriteString(w, `{"data":[{"id":"m"}]}`)
				return
			}
			for _, e := range events {
				fmt.Fprintf(w, "data: %s\n\n", e)
			}
		}
	}
	const content, usage = `{"choices":[{"delta":{"content":"a"}}]}`, `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1}}`
	for _, c := range []struct {
		target, want string
		handler      http.Handler
	}{
		{"worker", "no URL", stream()},
		{"http://worker", "no content", stream(`{"choices":[{"delta":{"role":"assistant","content":""}}]}`, usage)},
		{"http://worker", "no usage", stream(content)},
		{"http://worker", "the usage cannot be right", stream(content, usage)},
		{"http://worker", "boom", stream(content, `{"error":{"message":"boom"}}`)},
		{"http://worker", "404", http.NotFoundHandler()},
		{"http://worker", "lists no model", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"data":[]}`) })},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, _, err := start(t, Config{Target: c.target, Client: serve(t, c.handler)})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want %q, got %v", c.want, err)
			}
		})
	}
}

// TestNoPrefixCache holds that blocks are not shared in the replay when the worker
// does not share them.
func TestNoPrefixCache(t *testing.T) {
	run := &calibrate.Run{Requests: []calibrate.Request{{Blocks: []uint64{1}}}}
	(&Findings{Repeated: 2, FirstTTFT: 100, AgainTTFT: 90}).share(run)
	if run.Requests[0].Blocks != nil {
		t.Error("blocks are shared though the second prefill took as long as the first")
	}
}
