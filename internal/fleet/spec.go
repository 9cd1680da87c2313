package fleet

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

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
}

// configured is the source of a carbon intensity that the configuration states.
// Such a figure does not grow old: every snapshot takes it as seen just then.
const configured = "configuration"

// Specs returns the workers of a valid configuration. The carbon intensities
// in it are taken as observed at now, and again with every snapshot.
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
			URL: base, Key: w.Key, Models: slices.Clone(w.Models),
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
		specs = append(specs, s)
	}
	return specs, nil
}

// Decorate sets the headers that this worker is to get: its own, and its key.
func (s *Spec) Decorate(h http.Header) { decorate(h, s.Headers, s.Key) }

func decorate(h, extra http.Header, key config.Secret) {
	for name, values := range extra {
		h[name] = values
	}
	if !key.Empty() {
		h.Set("Authorization", "Bearer "+key.Reveal())
	}
}
