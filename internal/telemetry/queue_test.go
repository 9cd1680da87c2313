package telemetry

import (
	"context"
	"errors"
	"math"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is an exporter that keeps spans, or behaves badly.
type memory struct {
	forget bool
	export func(context.Context) error // nil: all is well

	mu    sync.Mutex
	names []string
}

func (m *memory) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if m.export != nil {
		if err := m.export(ctx); err != nil {
			return err
		}
	}
	if m.forget {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range spans {
		m.names = append(m.names, s.Name())
	}
	return nil
}

func (m *memory) Shutdown(context.Context) error { return nil }

func (m *memory) exported() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.names)
}

// traced returns telemetry that traces into an exporter.
func traced(tb testing.TB, e sdktrace.SpanExporter, env map[string]string) *Telemetry {
	tb.Helper()
	sampler, err := environment(func(name string) string { return env[name] }).sampler()
	if err != nil {
		tb.Fatal(err)
	}
	t := Off()
	t.trace(e, sampler, resource.NewSchemaless(attrServiceName.String("gatewayd")), queueLimits{64, 8, time.Second})
	tb.Cleanup(func() { _ = t.Shutdown(context.Background()) })
	return t
}

func plan(t *Telemetry) {
	_, span := t.StartPlan(context.Background(), "p", "s")
	span.End(PlanInstalled, 1, 2, nil)
}

func TestSpansLeaveWithinTheDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		telemetry := traced(t, m, nil)
		plan(telemetry)
		synctest.Wait()
		if n := m.exported(); n != 0 {
			t.Errorf("%d spans exported at once", n)
		}
		<-time.After(time.Second) // of the bubble's clock
		synctest.Wait()
		if n := m.exported(); n != 1 {
			t.Errorf("%d spans exported after the delay", n)
		}
		for range 8 {
			plan(telemetry)
		}
		synctest.Wait()
		if n := m.exported(); n != 9 {
			t.Errorf("%d spans exported after a full batch", n)
		}
		plan(telemetry)
		if err := telemetry.provider.ForceFlush(t.Context()); err != nil || m.exported() != 10 {
			t.Errorf("flush: %v, %d spans exported", err, m.exported())
		}
	})
}

func TestShutdownIsBoundedAndLostSpansAreCounted(t *testing.T) {
	for name, export := range map[string]func(context.Context) error{
		"black hole": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"refusing":   func(context.Context) error { return errors.New("refused") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				telemetry := traced(t, &memory{export: export}, nil)
				for range 20 {
					plan(telemetry)
				}
				begin := time.Now()
				_ = telemetry.Shutdown(context.Background())
				if took := time.Since(begin); took > ShutdownLimit {
					t.Errorf("took %v", took)
				}
				plan(telemetry) // too late
				if n := telemetry.lost.Load(); n != 21 {
					t.Errorf("%d spans counted as lost, want 21", n)
				}
				if n := value(t, telemetry.Metrics, MetricSpansDropped, "reason=shutdown"); n < 1 {
					t.Errorf("%v spans lost at shutdown", n)
				}
			})
		})
	}
}

func TestShutdownIsBoundedWhateverTheExporterDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		telemetry := traced(t, &memory{export: func(context.Context) error { <-release; return nil }}, nil)
		plan(telemetry)
		begin := time.Now()
		if err := telemetry.Shutdown(context.Background()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("shutdown: %v", err)
		}
		if took := time.Since(begin); took != ShutdownLimit {
			t.Errorf("took %v", took)
		}
		close(release)
	})
}

func TestShutdownOfAnEndedContextCountsSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		telemetry := traced(t, &memory{export: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}, nil)
		plan(telemetry)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := telemetry.Shutdown(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("shutdown: %v", err)
		}
		synctest.Wait()
		if n := telemetry.lost.Load(); n != 1 {
			t.Errorf("%d spans counted as lost, want 1", n)
		}
	})
}

func TestFullQueueDropsAndCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		m := &memory{export: func(context.Context) error { <-release; return nil }}
		telemetry := traced(t, m, nil)
		for range 8 { // a batch that stays with the exporter
			plan(telemetry)
		}
		synctest.Wait()
		for range 100 { // 64 of them fit the queue
			plan(telemetry)
		}
		if n := value(t, telemetry.Metrics, MetricSpansDropped, "reason=queue_full"); n != 36 {
			t.Errorf("%v spans dropped, want 36", n)
		}
		close(release)
		if err := telemetry.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if n := m.exported(); n != 72 {
			t.Errorf("%d spans exported, want 72", n)
		}
		if n := value(t, telemetry.Metrics, MetricSpansDropped, "reason=shutdown"); !math.IsNaN(n) {
			t.Errorf("%v spans lost at a good shutdown", n)
		}
	})
}

func TestUnreachableCollectorDoesNotDelayExit(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	listener.Close()
	for _, protocol := range []string{"grpc", "http/protobuf"} {
		t.Run(protocol, func(t *testing.T) {
			env := map[string]string{
				"OTEL_EXPORTER_OTLP_ENDPOINT": "http://" + closed,
				"OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
			}
			telemetry, err := Setup(t.Context(), Options{Getenv: func(name string) string { return env[name] }})
			if err != nil {
				t.Fatal(err)
			}
			for range 5 {
				plan(telemetry)
			}
			ended := make(chan error, 1)
			go func() { ended <- telemetry.Shutdown(context.Background()) }()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			select {
			case <-ended:
			case <-ctx.Done():
				t.Fatal("still shutting down")
			}
			if n := telemetry.lost.Load(); n != 5 {
				t.Errorf("%d spans counted as lost, want 5", n)
			}
		})
	}
}
