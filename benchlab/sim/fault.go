package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// FaultKind is what goes wrong.
type FaultKind uint8

const (
	// Crash ends a worker: its requests are lost, its cache is gone. After For it
	// is back with a new incarnation and an empty cache.
	Crash FaultKind = iota + 1
	// Drain keeps new requests from a worker; those it has go on. After For it
	// takes requests again, with the cache it has.
	Drain
	// Slow makes a worker's steps Factor times as long.
	Slow
	// ColdStart has a worker join At, with an empty cache; it is not part of the
	// fleet before. It takes no For.
	ColdStart
	// Flush empties a worker's prefix cache; gateways are not told. It takes no For.
	Flush
	// StaleMetrics stops the readings of a worker's own figures.
	StaleMetrics
	// GatewayCrash ends a gateway: its requests are lost, new ones go to the
	// others. After For it is back and knows nothing.
	GatewayCrash
	// GatewayCut keeps a gateway from the shared store: it goes on alone.
	GatewayCut
)

var faultNames = [...]string{Crash: "crash", Drain: "drain", Slow: "slow", ColdStart: "cold-start", Flush: "flush", StaleMetrics: "stale-metrics", GatewayCrash: "gateway-crash", GatewayCut: "gateway-cut"}

// String returns the kind's name as in the text form of a Fault.
func (k FaultKind) String() string {
	if k >= Crash && int(k) < len(faultNames) {
		return faultNames[k]
	}
	return "unknown"
}

func (k FaultKind) ofGateway() bool { return k == GatewayCrash || k == GatewayCut }

// lasts reports whether the kind has an end.
func (k FaultKind) lasts() bool { return k != ColdStart && k != Flush }

const (
	// All is the target of a fault that meets every worker, or every gateway.
	All = -1
	// Any is a target, or a time, that is drawn from the seed.
	Any = -2
)

// Fault is something that goes wrong at a time.
type Fault struct {
	Kind   FaultKind
	Target int           // number of the worker in order of IDs, or of the gateway, from 0; All; Any
	Factor float64       // of Slow, above 0; 0 for the others
	At     time.Duration // since the trace's start; Any
	For    time.Duration // until it is over; 0: it never is
}

// String returns the fault's text form, which ParseFault reads.
func (f Fault) String() string {
	b := []byte(f.Kind.String())
	switch {
	case f.Target == Any:
		b = append(b, ":any"...)
	case f.Target != All && f.Kind.ofGateway():
		b = strconv.AppendInt(append(b, ":g"...), int64(f.Target), 10)
	case f.Target != All:
		b = strconv.AppendInt(append(b, ":w"...), int64(f.Target), 10)
	case f.Kind == Slow:
		b = append(b, ":all"...)
	}
	if f.Kind == Slow {
		b = strconv.AppendFloat(append(b, 'x'), f.Factor, 'g', -1, 64)
	}
	if f.At == Any {
		b = append(b, "@any"...)
	} else {
		b = append(append(b, '@'), f.At.String()...)
	}
	if f.For > 0 {
		b = append(append(b, '+'), f.For.String()...)
	}
	return string(b)
}

// ParseFault reads KIND[:TARGET][xFACTOR]@TIME[+TIME]:
//
//	crash:w3@30s        worker 3 (of 0, 1, 2, 3 ... in order of IDs) crashes after 30 s
//	crash:w3@30s+20s    and is back 20 s later, with an empty cache
//	drain:w3@30s+20s    it takes no new requests for 20 s
//	slow:w2x3@60s+60s   its steps take three times as long for a minute
//	cold-start:w3@60s   it joins the fleet after a minute
//	flush:w3@30s        its prefix cache is emptied
//	stale-metrics@30s+20s   no worker's figures are read for 20 s
//	gateway-crash:g1@30s+20s, gateway-cut:g1@30s+20s   likewise for a gateway
//
// Without a target, or with "all", every worker or gateway is meant; "any" as
// target or first time is drawn from the seed.
func ParseFault(text string) (Fault, error) {
	bad := func(what string) (Fault, error) {
		return Fault{}, fmt.Errorf("fault %q: %s; write one like crash:w3@30s+20s or slow:w2x3@60s", text, what)
	}
	head, when, ok := strings.Cut(text, "@")
	if !ok {
		return bad("there is no @ and time")
	}
	name, target, targeted := strings.Cut(head, ":")
	f := Fault{Target: All}
	for k := Crash; int(k) < len(faultNames); k++ {
		if faultNames[k] == name {
			f.Kind = k
		}
	}
	if f.Kind == 0 {
		return bad("there is no such kind, only " + strings.Join(faultNames[Crash:], ", "))
	}
	if f.Kind == Slow {
		var factor string
		target, factor, _ = strings.Cut(target, "x")
		var err error
		if f.Factor, err = strconv.ParseFloat(factor, 64); err != nil || !(f.Factor >= minFactor && f.Factor <= maxFactor) {
			return bad("slow needs a factor from 0.001 to 1000 behind an x")
		}
	}
	letter := "w"
	if f.Kind.ofGateway() {
		letter = "g"
	}
	switch number, numbered := strings.CutPrefix(target, letter); {
	case target == "any":
		f.Target = Any
	case target == "all" || !targeted:
	case numbered:
		n, err := strconv.ParseUint(number, 10, 16)
		if err != nil {
			return bad("the target's number is wrong")
		}
		f.Target = int(n)
	default:
		return bad("the target is not " + letter + " and a number, all or any")
	}
	at, length, lasts := strings.Cut(when, "+")
	var err error
	if f.At = Any; at != "any" {
		if f.At, err = time.ParseDuration(at); err != nil || f.At < 0 || f.At > maxSpan {
			return bad("its time is no duration from 0s to 744h")
		}
	}
	if lasts {
		if f.For, err = time.ParseDuration(length); err != nil || f.For <= 0 || f.For > maxSpan {
			return bad("its length is no duration above 0s, up to 744h")
		}
		if !f.Kind.lasts() {
			return bad("this kind has no length")
		}
	}
	return f, nil
}

const (
	minFactor = 1e-3
	maxFactor = 1e3
)
