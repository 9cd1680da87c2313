package wire

import (
	"strings"

	"gatewayd/pkg/router"
)

// Text returns s as protobuf allows it: valid UTF-8.
func Text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func texts(ss []string) []string { return mapped(ss, Text) }

// mapped applies f to every element; no elements give nil.
func mapped[A, B any](as []A, f func(A) B) []B {
	if len(as) == 0 {
		return nil
	}
	bs := make([]B, len(as))
	for i, a := range as {
		bs[i] = f(a)
	}
	return bs
}

// numbers converts every element's type.
func numbers[A, B ~int | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32](as []A) []B {
	return mapped(as, func(a A) B { return B(a) })
}

func cloned[A any](as []A) []A {
	if len(as) == 0 {
		return nil
	}
	return append(make([]A, 0, len(as)), as...)
}

// EncodeDefinition returns what a definition says about itself.
func EncodeDefinition(d router.Definition) *Definition {
	return &Definition{
		Name:    Text(d.Name),
		Version: Text(d.Version),
		Summary: Text(d.Summary),
		Options: mapped(d.Options, func(o router.Option) *Option {
			return &Option{Name: Text(o.Name), Default: Text(o.Default), Help: Text(o.Help), Values: texts(o.Values)}
		}),
	}
}

// EncodeOptions returns the options as a protobuf map.
func EncodeOptions(o router.Options) map[string]string {
	m := make(map[string]string, len(o))
	for k, v := range o {
		m[Text(k)] = Text(v)
	}
	return m
}

// EncodeInfo returns the message for i.
func EncodeInfo(i router.Info) *Info {
	return &Info{
		Name:     Text(i.Name),
		Version:  Text(i.Version),
		Routes:   i.Routes,
		Plans:    i.Plans,
		Interval: int64(i.Interval),
		Observes: numbers[router.EventKind, EventKind](i.Observes),
		Cached:   i.Cached,
		Blocks:   i.Blocks,
		Rates:    i.Rates,
		Facts:    texts(i.Facts),
	}
}

// EncodeWorker returns the message for w, its load included.
func EncodeWorker(w *router.Worker) *Worker {
	return &Worker{
		Id:          Text(w.ID),
		Incarnation: w.Incarnation,
		Zone:        Text(w.Zone),
		Concurrency: int64(w.Concurrency),
		KvTokens:    int64(w.KVTokens),
		Energy: &Energy{
			PrefillJoules: w.Energy.PrefillJoules,
			DecodeJoules:  w.Energy.DecodeJoules,
			SharedJoules:  w.Energy.SharedJoules,
			WakeWatts:     w.Energy.WakeWatts,
			Pue:           w.Energy.PUE,
		},
		Carbon: &Carbon{
			GramsPerKwh: encodeGauge(w.Carbon.GramsPerKWh),
			Marginal:    w.Carbon.Marginal,
			Source:      Text(w.Carbon.Source),
		},
		Load: &Load{
			InFlight:     int64(w.Load.InFlight),
			QueuedTokens: int64(w.Load.QueuedTokens),
			WorkingSet:   int64(w.Load.WorkingSet),
			PeersAge:     int64(w.Load.PeersAge),
			Gauges:       EncodeGauges(&w.Load),
		},
	}
}

// EncodeGauges returns the observed figures of l.
func EncodeGauges(l *router.Load) *Gauges {
	return &Gauges{
		Running: encodeGauge(l.Running),
		Waiting: encodeGauge(l.Waiting),
		KvUsed:  encodeGauge(l.KVUsed),
		Ttft:    encodeGauge(l.TTFT),
		Latency: encodeGauge(l.Latency),
	}
}

func encodeGauge(g router.Gauge) *Gauge {
	if !g.Known() {
		return nil
	}
	return &Gauge{Value: g.Value, At: int64(g.At)}
}

func encodeRef(r router.WorkerRef) *WorkerRef {
	return &WorkerRef{Id: Text(r.ID), Incarnation: r.Incarnation}
}

func encodeGuard(g router.Guard) *Guard {
	return &Guard{Of: Feature(g.Of), Factor: g.Factor, Slack: g.Slack}
}
