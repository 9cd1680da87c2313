package router

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"gatewayd/pkg/estimator"
)

// The first byte of an encoded snapshot: the second version tells held tokens, and is
// written if there are any.
const (
	unsizedVersion  = 1
	snapshotVersion = 2
)

// sized reports whether the snapshot tells how large requests are.
func (s *Snapshot) sized() bool {
	return slices.ContainsFunc(s.Loads, func(l WorkerLoad) bool { return l.HeldTokens > 0 })
}

// Bounds of an encoded snapshot.
const (
	maxSnapshotRates = 1 << 20
	maxSnapshotLoads = MaxPlanWorkers
	maxPeerInFlight  = 1 << 24 // requests at one worker
	maxPeerTokens    = 1 << 40 // tokens at one worker
)

// AppendBinary appends the snapshot's packed form: 18 bytes per key (key, rate
// and tokens as 32-bit floats, last worker), so the figures keep about seven
// digits. Loads out of range count as the nearest in it. The error is always nil.
func (s Snapshot) AppendBinary(b []byte) ([]byte, error) {
	le := binary.LittleEndian
	b = slices.Grow(b, 32+18*len(s.Rates)+64*len(s.Loads))
	version, sized := byte(unsizedVersion), s.sized()
	if sized {
		version = snapshotVersion
	}
	b = append(b, version)
	b = le.AppendUint64(b, math.Float64bits(s.TotalRate))
	b = binary.AppendUvarint(b, uint64(len(s.Rates)))
	for _, r := range s.Rates {
		b = le.AppendUint64(b, r.Key)
		b = le.AppendUint32(b, math.Float32bits(float32(r.PerSecond)))
		b = le.AppendUint32(b, math.Float32bits(float32(r.Tokens)))
		b = le.AppendUint16(b, uint16(r.Mark))
	}
	b = binary.AppendUvarint(b, uint64(len(s.Loads)))
	for _, l := range s.Loads {
		b = binary.AppendUvarint(b, uint64(len(l.ID)))
		b = append(b, l.ID...)
		b = binary.AppendUvarint(b, l.Incarnation)
		b = binary.AppendUvarint(b, uint64(min(max(l.InFlight, 0), maxPeerInFlight)))
		b = binary.AppendUvarint(b, uint64(min(max(l.QueuedTokens, 0), maxPeerTokens)))
		if sized {
			b = binary.AppendUvarint(b, uint64(min(max(l.HeldTokens, 0), maxPeerTokens)))
		}
	}
	return b, nil
}

// MarshalBinary returns the snapshot's packed form.
func (s Snapshot) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// UnmarshalBinary reads a packed snapshot and refuses anything that a gateway
// would not have written: another version, figures that are negative or not
// finite, keys or workers out of order, a key's worker that is not listed, numbers
// beyond their bounds or not in their shortest form, bytes left over.
func (s *Snapshot) UnmarshalBinary(b []byte) error {
	d := decoder{b: b}
	version := d.byte()
	if d.err == nil && (version < unsizedVersion || version > snapshotVersion) {
		return fmt.Errorf("snapshot: version %d, this gateway reads %d and %d", version, unsizedVersion, snapshotVersion)
	}
	out := Snapshot{TotalRate: d.figure(math.Float64frombits(d.uint64()))}
	out.Rates = d.rates()
	out.Loads = d.loads(version == snapshotVersion)
	if version == snapshotVersion && !out.sized() {
		d.fail("not the version that tells no size")
	}
	if slices.ContainsFunc(out.Rates, func(r estimator.Rate) bool { return int(r.Mark) > len(out.Loads) }) {
		d.fail("a key's worker is not listed")
	}
	if d.err == nil && len(d.b) > 0 {
		d.fail("bytes left over")
	}
	if d.err != nil {
		return d.err
	}
	*s = out
	return nil
}

// decoder reads a packed form; after the first error it returns zeros.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(why string) {
	if d.err == nil {
		d.err, d.b = errors.New("snapshot: "+why), nil
	}
}

func (d *decoder) rates() []estimator.Rate {
	n := d.count(maxSnapshotRates, 18)
	if n == 0 {
		return nil
	}
	rates := make([]estimator.Rate, n)
	for i := range rates {
		rates[i] = estimator.Rate{
			Key:       d.uint64(),
			PerSecond: d.figure(float64(math.Float32frombits(d.uint32()))),
			Tokens:    d.figure(float64(math.Float32frombits(d.uint32()))),
			Mark:      uint32(d.uint16()),
		}
		if i > 0 && rates[i].Key <= rates[i-1].Key {
			d.fail("keys out of order")
		}
	}
	return rates
}

func (d *decoder) loads(sized bool) []WorkerLoad {
	n := d.count(maxSnapshotLoads, 4)
	if n == 0 {
		return nil
	}
	loads := make([]WorkerLoad, n)
	for i := range loads {
		l := &loads[i]
		l.ID = string(d.bytes(d.count(maxWorkerID, 1)))
		l.Incarnation = d.uvarint()
		l.InFlight, l.QueuedTokens = d.count(maxPeerInFlight, 0), d.count(maxPeerTokens, 0)
		if sized {
			l.HeldTokens = d.count(maxPeerTokens, 0)
		}
		if l.ID == "" || i > 0 && l.ID <= loads[i-1].ID {
			d.fail("workers out of order")
		}
	}
	return loads
}

func (d *decoder) bytes(n int) []byte {
	if n > len(d.b) {
		d.fail("truncated")
		return nil
	}
	out := d.b[:n]
	d.b = d.b[n:]
	return out
}

func (d *decoder) byte() byte {
	if b := d.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if b := d.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (d *decoder) uint32() uint32 {
	if b := d.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) uint16() uint16 {
	if b := d.bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || n > 1 && d.b[n-1] == 0 {
		d.fail("a number is truncated or not in its shortest form")
		return 0
	}
	d.b = d.b[n:]
	return v
}

// count reads a number of at most limit, of things of at least size bytes each.
func (d *decoder) count(limit, size int) int {
	v := d.uvarint()
	if v > uint64(limit) || size > 0 && v > uint64(len(d.b)/size) {
		d.fail("a count is beyond its bound")
		return 0
	}
	return int(v)
}

func (d *decoder) figure(v float64) float64 {
	if !(v >= 0 && v < math.Inf(1)) {
		d.fail("a figure is negative or not finite")
		return 0
	}
	return v
}
