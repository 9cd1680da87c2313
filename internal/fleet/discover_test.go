package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/config"
	"gatewayd/pkg/router"
)

// zone is a name server of the test.
type zone struct {
	mu    sync.Mutex
	hosts map[string][]string
	srv   map[string][]*net.SRV
	err   error
}

func (z *zone) set(f func(z *zone)) {
	z.mu.Lock()
	defer z.mu.Unlock()
	f(z)
}

func (z *zone) LookupHost(_ context.Context, host string) ([]string, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.err != nil {
		return nil, z.err
	}
	if z.hosts[host] == nil {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return append([]string(nil), z.hosts[host]...), nil
}

func (z *zone) LookupSRV(_ context.Context, service, proto, name string) (string, []*net.SRV, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if service+proto != "" || z.err != nil {
		return "", nil, errors.Join(z.err, errors.New("asked wrongly"))
	}
	return "", z.srv[name], nil
}

// network answers for every host.
func network(hosts ...string) world {
	w := world{}
	for _, h := range hosts {
		w[h] = vllm("llama")
	}
	return w
}

// finding runs a test with a fleet that has its workers found.
func finding(t *testing.T, w world, r Resolver, sources []config.Source, test func(t *testing.T, f *Fleet, log *bytes.Buffer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := config.Default()
		c.Discovery.Sources = sources
		var log bytes.Buffer
		f, err := New(nil, Options{Transport: w, Sources: Sources(c, r), Logger: hclog.New(&hclog.LoggerOptions{Output: &log})})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		test(t, f, &log)
	})
}

// TestFile: workers follow a file within a second; while it is broken, half
// written or gone the last good one stays in force, with one line in the log.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "workers.json")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	finding(t, network("a:1", "b:1"), nil, []config.Source{{File: path}}, func(t *testing.T, f *Fleet, log *bytes.Buffer) {
		pass(time.Minute)
		expect(t, "no file yet", pool(f, "llama"), "none")
		write(`[{"targets":["a:1","b:1"]}]`)
		pass(time.Second)
		expect(t, "two", pool(f, "llama"), "a:1 b:1")
		pass(time.Minute)
		first := f.Snapshot()
		pass(time.Minute)
		if f.Snapshot() != first {
			t.Error("a file that does not change makes snapshots")
		}
		for _, broken := range []string{"", `[{"targets":["a:1"`, `[{"targets":[""]}]`, "\xff\xfe"} {
			write(broken)
			pass(time.Minute)
			expect(t, "broken", pool(f, "llama"), "a:1 b:1")
			if s := f.Sources()[0]; s.Error == "" || s.Workers != 2 || s.Found.IsZero() || strings.Contains(s.Error, "\n") {
				t.Errorf("broken: %+v", s)
			}
		}
		if n := strings.Count(log.String(), "not all workers can be found"); n != 5 {
			t.Errorf("%d lines for 5 kinds of trouble:\n%s", n, log)
		}
		write(`[{"targets":["b:1"]}]`)
		pass(time.Second)
		expect(t, "one left", pool(f, "llama"), "b:1")
		expect(t, "trouble", f.Sources()[0].Error, "")
		other := path + ".new"
		if err := os.WriteFile(other, []byte(`[{"targets":["a:1"]}]`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(other, path); err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		expect(t, "renamed", pool(f, "llama"), "a:1")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		expect(t, "removed", pool(f, "llama"), "a:1")
		write("[]")
		pass(time.Second)
		expect(t, "none", pool(f, "llama"), "none")
	})
}

// TestNames: workers follow the addresses and the services of DNS names.
func TestNames(t *testing.T) {
	z := &zone{
		hosts: map[string][]string{"llama.svc": {"10.0.0.2", "10.0.0.1", "10.0.0.2", "fd00::1"}},
		srv: map[string][]*net.SRV{"_http._tcp.qwen.svc": {
			{Target: "q-0.qwen.svc.", Port: 8001}, {Target: ".", Port: 0}, {Target: "q-1.qwen.svc.", Port: 8002},
		}},
	}
	w := network("10.0.0.1:8000", "10.0.0.2:8000", "[fd00::1]:8000", "10.0.0.3:8000")
	w["q-0.qwen.svc:8001"], w["q-1.qwen.svc:8002"] = vllm("qwen"), vllm("qwen")
	sources := []config.Source{{DNS: "llama.svc:8000"}, {DNS: "_http._tcp.qwen.svc"}}
	finding(t, w, z, sources, func(t *testing.T, f *Fleet, log *bytes.Buffer) {
		pass(time.Second)
		expect(t, "addresses", pool(f, "llama"), "10.0.0.1:8000 10.0.0.2:8000 [fd00::1]:8000")
		expect(t, "services", pool(f, "qwen"), "q-0.qwen.svc:8001 q-1.qwen.svc:8002")
		z.set(func(z *zone) { z.hosts["llama.svc"] = []string{"10.0.0.3"} })
		pass(7 * time.Second)
		expect(t, "others", pool(f, "llama"), "10.0.0.3:8000")
		for _, err := range []error{&net.DNSError{Err: "server misbehaving", IsTemporary: true}, context.DeadlineExceeded, errors.New("garbage")} {
			z.set(func(z *zone) { z.err = err })
			pass(time.Minute)
			expect(t, "no answer", pool(f, "llama"), "10.0.0.3:8000")
			if s := f.Sources(); s[0].Error == "" || s[1].Error == "" || s[1].Workers != 2 {
				t.Errorf("%v: %+v", err, s)
			}
		}
		z.set(func(z *zone) { z.err = nil; z.hosts["llama.svc"] = []string{"no address"} })
		pass(time.Minute)
		expect(t, "a bad answer", pool(f, "llama"), "10.0.0.3:8000")
		z.set(func(z *zone) { z.hosts["llama.svc"] = []string{"10.0.0.3"} })
		pass(7 * time.Second)
		z.set(func(z *zone) { delete(z.hosts, "llama.svc") })
		pass(6 * time.Second)
		expect(t, "a name that is gone once", pool(f, "llama"), "10.0.0.3:8000")
		pass(11 * time.Second)
		expect(t, "a name that stays away", pool(f, "llama"), "none")
		if n := strings.Count(log.String(), "source=\"dns llama.svc:8000\""); n != 7 {
			t.Errorf("%d lines about the name, want one for each kind of trouble and each end of it:\n%s", n, log)
		}
	})
}

// TestGarbage: a name server that answers garbage changes nothing, and panics
// nowhere.
func TestGarbage(t *testing.T) {
	for _, garbage := range []string{"", "\x00", "\x00\x04abcd", "\x00\x0c\x00\x00\x81\x80\x00\x01\xff\xff\x00\x00\x00\x00", strings.Repeat("\xff", 1<<12)} {
		z := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			go func() {
				defer server.Close()
				server.SetDeadline(time.Now().Add(time.Minute))
				if _, err := server.Read(make([]byte, 512)); err == nil {
					server.Write([]byte(garbage))
				}
			}()
			return client, nil
		}}
		n := &name{source: config.Source{DNS: "llama.test.:8000"}, resolver: z}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if found, err := n.addresses(ctx); err == nil {
			t.Errorf("%.20q is taken for the addresses %v", garbage, found)
		}
		cancel()
	}
}

// TestOrigins: of several workers with one ID the first origin counts, workers
// that are named stay when sources go, and no origin exceeds the bound.
func TestOrigins(t *testing.T) {
	at := func(hosts ...string) Source {
		return Source{Name: fmt.Sprint(hosts), Interval: time.Second, Find: func(context.Context) ([]Spec, error) {
			var out []Spec
			for _, h := range hosts {
				out = append(out, Spec{Worker: router.Worker{ID: h[:1]}, URL: &url.URL{Scheme: "http", Host: h}})
			}
			return out, nil
		}}
	}
	within(t, network("a", "b:1", "b:2", "c:2"), []Spec{spec("a")}, func(t *testing.T, f *Fleet) {
		f.Discover([]Source{at("a:1", "b:1"), at("b:2", "c:2")})
		pass(time.Second)
		expect(t, "all", pool(f, "llama"), "a b c")
		for i, want := range []string{"a", "b:1", "c:2"} {
			expect(t, "address", f.Snapshot().Pools()["llama"][i].URL.Host, want)
		}
		expect(t, "trouble", f.Sources()[0].Error+"; "+f.Sources()[1].Error, `worker "a" is there twice; worker "b" is there twice`)
		f.Discover([]Source{at("b:2", "c:2")})
		pass(time.Second)
		expect(t, "without the first", pool(f, "llama"), "a b c")
		expect(t, "moved", f.Snapshot().Pools()["llama"][1].URL.Host, "b:2")
		if err := f.Set(nil); err != nil {
			t.Error(err)
		}
		f.Discover(nil)
		pass(time.Second)
		expect(t, "in the end", pool(f, "llama"), "none")
	})
	var many []Spec
	for i := range maxWorkers + 20 {
		many = append(many, spec(fmt.Sprint("w", i)))
	}
	if all, left := unite([][]Spec{many}); left[0] == nil || len(all) != maxWorkers || !strings.Contains(left[0].Error(), "and 10 more") {
		t.Errorf("%d workers, %.200v", len(all), left[0])
	}
}
