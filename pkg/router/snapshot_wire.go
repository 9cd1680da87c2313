package router

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"gatewayd/pkg/estimator"
)

// snapshotVersion is the first byte of an encoded snapshot.
const snapshotVersion = 1

// Bounds of an encoded snapshot.
const (
	maxSnapshotRates = 1 << 20
	maxSnapshotLoads = MaxPlanWorkers
)

// AppendBinary appends the snapshot's packed form: 16 bytes per key (key, rate
// and tokens as 32-bit floats), so the figures keep about seven digits.
func (s Snapshot) AppendBinary(b []byte) ([]byte, error) {
	le := binary.LittleEndian
	b = append(b, snapshotVersion)
	b = le.AppendUint64(b, math.Float64bits(s.TotalRate))
	b = binary.AppendUvarint(b, uint64(len(s.Rates)))
	for _, r := range s.Rates {
		b = le.AppendUint64(b, r.Key)
		b = le.AppendUint32(b, math.Float32bits(float32(r.PerSecond)))
		b = le.AppendUint32(b, math.Float32bits(float32(r.Tokens)))
	}
	b = binary.AppendUvarint(b, uint64(len(s.Loads)))
	for _, l := range s.Loads {
		b = binary.AppendUvarint(b, uint64(len(l.ID)))
		b = append(b, l.ID...)
		b = binary.AppendUvarint(b, l.Incarnation)
		b = binary.AppendUvarint(b, uint64(max(l.InFlight, 0)))
		b = binary.AppendUvarint(b, uint64(max(l.QueuedTokens, 0)))
	}
	return b, nil
}

// MarshalBinary returns the snapshot's packed form.
func (s Snapshot) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// UnmarshalBinary reads a packed snapshot and refuses anything that a gateway
// would not have written: another version, figures that are negative or not
// finite, keys out of order, lengths beyond the bounds, bytes left over.
func (s *Snapshot) UnmarshalBinary(b []byte) error {
	d := decoder{b: b}
	if v := d.byte(); d.err == nil && v != snapshotVersion {
		return fmt.Errorf("snapshot: version %d, this gateway reads %d", v, snapshotVersion)
	}
	out := Snapshot{TotalRate: d.figure(math.Float64frombits(d.uint64()))}
	if n := d.count(maxSnapshotRates, 16); n > 0 {
		out.Rates = make([]estimator.Rate, n)
		for i := range out.Rates {
			out.Rates[i] = estimator.Rate{
				Key:       d.uint64(),
				PerSecond: d.figure(float64(math.Float32frombits(d.uint32()))),
				Tokens:    d.figure(float64(math.Float32frombits(d.uint32()))),
			}
			if i > 0 && out.Rates[i].Key <= out.Rates[i-1].Key {
				d.fail("keys out of order")
			}
		}
	}
	if n := d.count(maxSnapshotLoads, 4); n > 0 {
		out.Loads = make([]WorkerLoad, n)
		for i := range out.Loads {
			l := &out.Loads[i]
			l.ID = string(d.bytes(d.count(1<<10, 1)))
			l.Incarnation = d.uvarint()
			l.InFlight, l.QueuedTokens = d.count(1<<24, 0), d.count(1<<40, 0)
		}
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

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail("truncated")
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
