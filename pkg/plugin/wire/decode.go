package wire

import (
	"fmt"
	"time"

	"gatewayd/pkg/router"
)

// DecodeDefinition returns a definition without its New.
func DecodeDefinition(m *Definition) router.Definition {
	return router.Definition{
		Name:    m.GetName(),
		Version: m.GetVersion(),
		Summary: m.GetSummary(),
		Options: mapped(m.GetOptions(), func(o *Option) router.Option {
			return router.Option{Name: o.GetName(), Default: o.GetDefault(), Help: o.GetHelp(), Values: cloned(o.GetValues())}
		}),
	}
}

// DecodeInfo returns the instance's self-description.
func DecodeInfo(m *Info) (router.Info, error) {
	for _, k := range m.GetObserves() {
		if _, ok := EventKind_name[int32(k)]; !ok {
			return router.Info{}, fmt.Errorf("observes unknown event kind %d", k)
		}
	}
	if m.GetInterval() < 0 {
		return router.Info{}, fmt.Errorf("plan interval %v is negative", time.Duration(m.GetInterval()))
	}
	return router.Info{
		Name:     m.GetName(),
		Version:  m.GetVersion(),
		Routes:   m.GetRoutes(),
		Plans:    m.GetPlans(),
		Interval: time.Duration(m.GetInterval()),
		Observes: numbers[EventKind, router.EventKind](m.GetObserves()),
		Cached:   m.GetCached(),
		Blocks:   m.GetBlocks(),
		Rates:    m.GetRates(),
		Facts:    cloned(m.GetFacts()),
	}, nil
}

// DecodeWorker returns the worker with its load.
func DecodeWorker(m *Worker) router.Worker {
	e, c, l := m.GetEnergy(), m.GetCarbon(), m.GetLoad()
	w := router.Worker{
		ID:          m.GetId(),
		Incarnation: m.GetIncarnation(),
		Zone:        m.GetZone(),
		Concurrency: int(m.GetConcurrency()),
		KVTokens:    int(m.GetKvTokens()),
		Energy: router.Energy{
			PrefillJoules: e.GetPrefillJoules(),
			DecodeJoules:  e.GetDecodeJoules(),
			SharedJoules:  e.GetSharedJoules(),
			WakeWatts:     e.GetWakeWatts(),
			PUE:           e.GetPue(),
		},
		Carbon: router.Carbon{
			GramsPerKWh: decodeGauge(c.GetGramsPerKwh()),
			Marginal:    c.GetMarginal(),
			Source:      c.GetSource(),
		},
		Load: router.Load{
			InFlight:     int(l.GetInFlight()),
			QueuedTokens: int(l.GetQueuedTokens()),
			WorkingSet:   int(l.GetWorkingSet()),
			PeersAge:     time.Duration(l.GetPeersAge()),
		},
	}
	DecodeGauges(l.GetGauges(), &w.Load)
	return w
}

// DecodeGauges writes the observed figures into l.
func DecodeGauges(m *Gauges, l *router.Load) {
	l.Running = decodeGauge(m.GetRunning())
	l.Waiting = decodeGauge(m.GetWaiting())
	l.KVUsed = decodeGauge(m.GetKvUsed())
	l.TTFT = decodeGauge(m.GetTtft())
	l.Latency = decodeGauge(m.GetLatency())
}

func decodeGauge(m *Gauge) router.Gauge {
	if m == nil {
		return router.Unknown
	}
	return router.Gauge{Value: m.Value, At: router.Time(m.At)}
}

func decodeRef(m *WorkerRef) router.WorkerRef {
	return router.WorkerRef{ID: m.GetId(), Incarnation: m.GetIncarnation()}
}

func decodeGuard(m *Guard) (router.Guard, error) {
	of, err := decodeFeature(m.GetOf())
	return router.Guard{Of: of, Factor: m.GetFactor(), Slack: m.GetSlack()}, err
}

func decodeFeature(f Feature) (router.Feature, error) {
	if _, ok := Feature_name[int32(f)]; !ok {
		return 0, fmt.Errorf("unknown feature %d (feature list version %d)", f, router.FeatureVersion)
	}
	return router.Feature(f), nil
}
