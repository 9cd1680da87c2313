package fleet

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"gatewayd/internal/config"
	"gatewayd/pkg/router"
)

// Spec is one worker as it is configured or discovered.
type Spec struct {
	// Worker holds what is known beforehand: the ID, and zone, limits, energy and
	// carbon; its incarnation and load are ignored.
	Worker router.Worker
	// URL is the base URL that API paths are joined to, as config.ParseURL
	// returns it. A Spec without a URL is a worker that is gone.
	URL *url.URL
	// Key is sent to this worker, and to no other, as a bearer token.
	Key config.Secret
	// Headers are further request headers for this worker.
	Headers http.Header
	// Models are the base models that it serves; nil means those that it lists.
	Models []string
	// Names are the models that it knows by a name of its own, by the name that
	// requests, Models and pools use.
	Names map[string]string
	// Rank is the data-parallel rank + 1 that this worker is, of a server with
	// several; 0 is a whole server.
	Rank int
	// KVLoad bounds the tokens in flight, as a multiple of the KV cache; 0 is none.
	KVLoad float64
	// Drain keeps new requests away; those that run may end.
	Drain bool
}

// same reports whether two specs say the same. When a configured carbon intensity
// was read says nothing.
func (s *Spec) same(o *Spec) bool {
	a, b := s.Worker, o.Worker
	if a.Carbon.Source == configured {
		a.Carbon.GramsPerKWh.At = b.Carbon.GramsPerKWh.At
	}
	return a == b && s.URL.String() == o.URL.String() && s.Key.Reveal() == o.Key.Reveal() && s.Rank == o.Rank && s.KVLoad == o.KVLoad && s.Drain == o.Drain &&
		slices.Equal(s.Models, o.Models) && maps.Equal(s.Names, o.Names) && maps.EqualFunc(s.Headers, o.Headers, slices.Equal)
}

// configured is the source of a carbon intensity that the configuration states.
// Such a figure does not grow old: every snapshot takes it as seen just then.
const configured = "configuration"

// rankHeader asks a server for one of its data-parallel ranks, which vLLM and
// SGLang number through all of their nodes.
const rankHeader = "X-Data-Parallel-Rank"

// Specs returns the workers of a valid configuration: of one that owns
// data-parallel ranks one for each of them, since each has a queue and a cache of
// its own. The carbon intensities in it are taken as observed at now, and again
// with every snapshot.
func Specs(c config.Config, now router.Time) ([]Spec, error) {
	specs := make([]Spec, 0, len(c.Workers))
	for i, w := range c.Workers {
		base, err := config.ParseURL(w.URL)
		if err != nil {
			return nil, fmt.Errorf("workers[%d].url %w", i, err)
		}
		s := Spec{
			Worker: router.Worker{
				ID: w.Name(), Zone: w.Zone, Concurrency: w.Concurrency, KVTokens: w.KVTokens,
				Energy: router.Energy(w.Energy),
				Carbon: router.Carbon{GramsPerKWh: router.Unknown},
			},
			URL: base, Key: w.Key, Models: slices.Clone(w.Models), Names: maps.Clone(w.Names), KVLoad: w.KVLoad, Drain: w.Drain,
		}
		if zone, ok := c.Zones[w.Zone]; ok {
			s.Worker.Carbon = router.Carbon{
				GramsPerKWh: router.Gauge{Value: zone.GramsPerKWh, At: now},
				Marginal:    zone.Marginal, Source: configured,
			}
		}
		for name, value := range w.Headers {
			if s.Headers == nil {
				s.Headers = http.Header{}
			}
			s.Headers.Set(name, value)
		}
		ranks, err := w.RankList()
		if err != nil {
			return nil, fmt.Errorf("workers[%d].ranks: %w", i, err)
		}
		if ranks == nil {
			specs = append(specs, s)
		}
		for _, rank := range ranks {
			specs = append(specs, s.rank(rank))
		}
	}
	return specs, nil
}

// rank returns the spec of one rank of a server.
func (s Spec) rank(rank int) Spec {
	s.Worker.ID, s.Rank = config.RankID(s.Worker.ID, rank), rank+1
	if s.Headers = s.Headers.Clone(); s.Headers == nil {
		s.Headers = http.Header{}
	}
	s.Headers.Set(rankHeader, strconv.Itoa(rank))
	return s
}

// rankText is the rank as series of metrics name it, "" for a whole server.
func (s *Spec) rankText() string {
	if s.Rank == 0 {
		return ""
	}
	return strconv.Itoa(s.Rank - 1)
}

// Decorate sets the headers that this worker is to get: its own, and its key.
func (s *Spec) Decorate(h http.Header) {
	maps.Copy(h, s.Headers)
	if !s.Key.Empty() {
		h.Set(bearer(s.Key))
	}
}

// bearer is the header field with a key.
func bearer(key config.Secret) (name, value string) { return "Authorization", "Bearer " + key.Reveal() }
