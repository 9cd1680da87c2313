package pool

import (
	"context"
	"errors"
	"strings"
	"time"

	"gatewayd/pkg/router"
)

// leaseIntervals is how many missed exchanges cost a gateway its lease and its
// peers' figures.
const leaseIntervals = 3

// minPeerLife is how long the figures of a silent peer are used at least.
const minPeerLife = 10 * time.Second

// rateFloor is the slowest key, in req/s, that peers are told of: one request
// in about three hours.
const rateFloor = 1e-4

// sync exchanges figures with the other gateways once per interval, and at
// once at the start.
func (p *Pool) sync() {
	ticker := time.NewTicker(p.cfg.SyncInterval)
	defer ticker.Stop()
	for {
		p.exchange()
		select {
		case <-p.heir: // it has the lease, under the same name
			return
		case <-p.ctx.Done():
			if !p.replaced() {
				p.resign()
			}
			return
		case <-ticker.C:
		}
	}
}

// exchange does one round. When the store is away the gateway goes on alone,
// at full quality: it plans for itself.
func (p *Pool) exchange() {
	ctx, cancel := context.WithTimeout(p.ctx, max(p.cfg.SyncInterval, 250*time.Millisecond))
	defer cancel()
	m := p.cfg.Telemetry.Metrics.State
	start := time.Now()
	err := errors.Join(p.tell(ctx), p.hear(ctx), p.lease(ctx))
	if p.ctx.Err() != nil || p.replaced() {
		return
	}
	m.SetUp(err == nil)
	if err != nil {
		m.SyncFailed()
	} else {
		m.Synced(time.Since(start))
	}
	p.mu.Lock()
	was := p.solo
	p.solo = err != nil
	if p.solo {
		p.fence = 0
	}
	leads := p.planner()
	p.mu.Unlock()
	p.depth.SetLeader(leads)
	switch {
	case err != nil && !was:
		p.log.Warn("shared state is away; this gateway goes on alone", "error", strings.ReplaceAll(err.Error(), "\n", "; "))
		p.replan()
	case err == nil && was:
		p.log.Info("shared state is in use", "peers", len(p.Peers()))
	}
	if err == nil {
		p.adopt(ctx)
	}
}

// tell stores this gateway's figures.
func (p *Pool) tell(ctx context.Context) error {
	p.mu.Lock()
	snapshot := p.core.Export(p.now(), rateFloor)
	p.mu.Unlock()
	b, err := snapshot().MarshalBinary()
	if err != nil {
		return err
	}
	return p.cfg.Store.PutSnapshot(ctx, p.name, p.cfg.Gateway, b, leaseIntervals*p.cfg.SyncInterval)
}

// hear reads the peers' figures. Those of a peer that cannot be read are
// dropped: unknown is not zero, but wrong is worse than unknown.
func (p *Pool) hear(ctx context.Context) error {
	peers, err := p.cfg.Store.Peers(ctx, p.name, p.cfg.Gateway)
	if err != nil {
		return err
	}
	m := p.cfg.Telemetry.Metrics.State
	read := make(map[string]bool, len(peers))
	for _, peer := range peers {
		var s router.Snapshot
		if err := s.UnmarshalBinary(peer.Snapshot); err != nil {
			p.refuse("figures of gateway "+peer.Gateway, "", err)
			continue
		}
		read[peer.Gateway] = true
		p.do(func(c *router.Core, now router.Time) {
			c.Import(now.Add(-peer.Age), peer.Gateway, s)
		})
		m.Seen(peer.Gateway, time.Now().Add(-peer.Age))
	}
	p.do(func(c *router.Core, _ router.Time) {
		for name := range p.heard {
			if !read[name] {
				c.DropPeer(name)
				m.Gone(name)
			}
		}
	})
	p.heard = read
	m.SetPeers(len(read))
	return nil
}

// lease takes or renews the right to plan.
func (p *Pool) lease(ctx context.Context) error {
	l, err := p.cfg.Store.Lease(ctx, p.name, p.cfg.Gateway, leaseIntervals*p.cfg.SyncInterval)
	if err != nil {
		return err
	}
	p.mu.Lock()
	led := p.fence > 0
	switch {
	case !l.Held:
		p.fence = 0
	case p.fence != l.Fence:
		p.fence, p.fenced = l.Fence, time.Now()
	}
	p.mu.Unlock()
	if l.Held && !led {
		p.log.Info("this gateway plans", "fence", l.Fence)
		p.replan()
	}
	return nil
}

// resign frees the lease so that another gateway can plan at once.
func (p *Pool) resign() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), 250*time.Millisecond)
	defer cancel()
	if err := p.cfg.Store.Release(ctx, p.name, p.cfg.Gateway); err != nil {
		p.log.Debug("the lease was not released; it runs out", "error", err)
	}
}
