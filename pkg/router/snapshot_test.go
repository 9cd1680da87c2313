package router

import (
	"bytes"
	"encoding/binary"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"gatewayd/pkg/estimator"
)

// TestSnapshotRoundTrip holds that what a core exports can be read, whatever
// its workers are named and however busy they are.
func TestSnapshotRoundTrip(t *testing.T) {
	want := Snapshot{
		TotalRate: 12.5,
		Rates:     []estimator.Rate{{Key: 0, PerSecond: 0.25, Tokens: 3, Mark: 2}, {Key: math.MaxUint64, PerSecond: 1 << 20, Tokens: 0}},
		Loads:     []WorkerLoad{{WorkerRef{"a", math.MaxUint64}, 1, 2, 3}, {WorkerRef{strings.Repeat("b", maxWorkerID), 0}, 0, 0, 0}},
	}
	b, err := want.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var got Snapshot
	if err := got.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v (%v), wrote %+v", got, err, want)
	}
	odd := Snapshot{Loads: []WorkerLoad{{WorkerRef{"a", 0}, math.MaxInt, math.MinInt, math.MinInt}, {WorkerRef{"b", 0}, -1, math.MaxInt, math.MaxInt}}}
	b, _ = odd.AppendBinary([]byte("x"))
	if err := got.UnmarshalBinary(b[1:]); err != nil || got.Loads[0].InFlight != maxPeerInFlight || got.Loads[1].QueuedTokens != maxPeerTokens || got.Loads[1].HeldTokens != maxPeerTokens || got.Loads[0].HeldTokens != 0 {
		t.Errorf("law 18: read %+v (%v)", got, err)
	}
}

// TestSnapshotsThatNoGatewayWrites are refused, and leave what was there.
func TestSnapshotsThatNoGatewayWrites(t *testing.T) {
	const head = "\x01\x00\x00\x00\x00\x00\x00\x00\x00" // version, total rate
	rate := func(key uint64, perSecond, tokens float32) string {
		b := binary.LittleEndian.AppendUint64(nil, key)
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(perSecond))
		return string(binary.LittleEndian.AppendUint32(b, math.Float32bits(tokens))) + "\x00\x00"
	}
	nan := float32(math.NaN())
	for want, inputs := range map[string][]string{
		"version 3":     {"\x03" + head[1:] + "\x00\x00"},
		"tells no size": {"\x02" + head[1:] + "\x00\x00", "\x02" + head[1:] + "\x00\x01\x01a\x00\x01\x01\x00"},
		"truncated": {
			"", "\x01", head[:8], head, head + "\x00", head + "\x00\x01\x01a\x80\x80\x80",
		},
		"beyond its bound": {
			head + "\x02" + rate(1, 1, 1), head + "\xff\xff\xff\xff\x0f", head + "\x00\x02\x01a\x00\x00\x00",
			head + "\x00\x01\x05a\x00\x00\x00", head + "\x00\x01\x01a\x00\x81\x80\x80\x08\x00",
		},
		"not finite":    {"\x01\x00\x00\x00\x00\x00\x00\xf0\x7f\x00\x00", head + "\x01" + rate(1, nan, 1) + "\x00", head + "\x01" + rate(1, 1, -1) + "\x00"},
		"keys out of":   {head + "\x02" + rate(2, 1, 1) + rate(1, 1, 1) + "\x00", head + "\x02" + rate(2, 1, 1) + rate(2, 1, 1) + "\x00"},
		"workers out":   {head + "\x00\x02\x01b\x00\x00\x00\x01a\x00\x00\x00", head + "\x00\x01\x00\x00\x00\x00", head + "\x00\x02\x01a\x00\x00\x00\x01a\x01\x00\x00"},
		"not listed":    {head + "\x01" + strings.Repeat("\x00", 16) + "\x01\x00\x00"},
		"left over":     {head + "\x00\x00\x00"},
		"shortest form": {head + "\x80\x00\x00", head + "\x00\x80\x00"},
	} {
		for _, in := range inputs {
			got := Snapshot{TotalRate: 7}
			if err := got.UnmarshalBinary([]byte(in)); err == nil || !strings.Contains(err.Error(), want) || got.TotalRate != 7 {
				t.Errorf("read %x as %+v with error %v, want one that says %q", in, got, err, want)
			}
		}
	}
	if b, _ := (Snapshot{}).MarshalBinary(); !bytes.Equal(b, []byte(head+"\x00\x00")) {
		t.Errorf("an empty snapshot is %x", b)
	}
}

// BenchmarkExport splits an export of 100,000 keys into what happens under the
// driver's lock and what outside.
func BenchmarkExport(b *testing.B) {
	c := pathCore(b, 16, Rest{})
	for key := range uint64(100_000) {
		serveAny(c, Time(key)*1000, Request{Key: Mix(key), PromptTokens: 1000})
	}
	now := Time(time.Second)
	b.Run("locked", func(b *testing.B) {
		for b.Loop() {
			c.Export(now, 0)
		}
	})
	b.Run("snapshot", func(b *testing.B) {
		build := c.Export(now, 0)
		for b.Loop() {
			build()
		}
	})
	b.Run("marshal", func(b *testing.B) {
		snapshot := c.Export(now, 0)()
		for b.Loop() {
			if _, err := snapshot.MarshalBinary(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func serveAny(c *Core, now Time, r Request) {
	c.Finish(now, c.Arrive(now, r).Ticket, Ending{Outcome: Completed})
}
