package daemon

import (
	"context"
	"fmt"
	"strings"

	"gatewayd/internal/pool"
	"gatewayd/internal/telemetry"
	"gatewayd/pkg/plugin/ref"
	"gatewayd/pkg/router"
	"gatewayd/state/memory"
)

// addShadow starts a chain that is asked on the side. It shares nothing, and its
// facts are its own.
func (d *Daemon) addShadow(ctx context.Context, g *generation, chain []ref.Ref) error {
	specs, err := processes(g.config, chain, nil)
	if err != nil {
		return fmt.Errorf("shadow: %w", err)
	}
	setup := d.setConfig(g.config, specs)
	setup.Telemetry, setup.Logger = telemetry.Off(), d.log.Named("shadow")
	setup.Store, setup.Shared = memory.New(memory.Options{}), false
	setup.Core.Seed = router.Mix(setup.Core.Seed)
	set, err := pool.NewSet(ctx, setup)
	if err != nil {
		return fmt.Errorf("shadow: %w", err)
	}
	metrics := d.telemetry.Metrics.Shadow(strings.Join(names(specs), ","))
	g.shadows = append(g.shadows, shadow{pool.NewShadow(set, metrics), set})
	return nil
}

// Shadows returns what the chains that are asked on the side have seen.
func (d *Daemon) Shadows() []pool.ShadowReport {
	now, _ := d.generations()
	out := make([]pool.ShadowReport, len(now.shadows))
	for i, s := range now.shadows {
		out[i] = s.Report()
	}
	return out
}
