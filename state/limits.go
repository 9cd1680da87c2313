package state

import (
	"fmt"
	"time"

	"gatewayd/pkg/router"
)

// What one call may carry. Sizes are in bytes.
const (
	MaxName     = 256            // name of a pool, gateway, strategy or family of facts
	MaxFact     = router.MaxFact // value of one fact
	MaxFacts    = 1024           // facts read or written by one call
	MaxSnapshot = 16 << 20       // one gateway's snapshot
	MaxPlan     = 64 << 20       // one plan
	MaxGateways = 256            // gateways of one pool; of more, those that expire first are forgotten
	MaxTTL      = 7 * 24 * time.Hour
)

// CheckKeys refuses what a store does not read as facts.
func CheckKeys(pool string, keys []router.FactKey) error {
	if len(keys) > MaxFacts {
		return fmt.Errorf("%d facts in one call; ask for at most %d", len(keys), MaxFacts)
	}
	for _, k := range keys {
		if err := checkName("family of facts", k.Family); err != nil {
			return err
		}
	}
	return checkName("pool", pool)
}

// CheckWrites refuses what a store does not keep as facts.
func CheckWrites(pool string, writes []router.Write) error {
	if len(writes) > MaxFacts {
		return fmt.Errorf("%d facts in one call; write at most %d", len(writes), MaxFacts)
	}
	for _, w := range writes {
		if err := checkName("family of facts", w.Family); err != nil {
			return err
		}
		what := fmt.Sprintf("fact %s/%d", w.Family, w.Key)
		if err := checkValue(what, len(w.Value), MaxFact, w.TTL); err != nil {
			return err
		}
	}
	return checkName("pool", pool)
}

// CheckSnapshot refuses what a store does not keep as a snapshot.
func CheckSnapshot(pool, gateway string, snapshot []byte, ttl time.Duration) error {
	if err := CheckMember(pool, gateway); err != nil {
		return err
	}
	return checkValue("snapshot of gateway "+gateway, len(snapshot), MaxSnapshot, ttl)
}

// CheckLease refuses what a store does not keep as a lease.
func CheckLease(pool, gateway string, ttl time.Duration) error {
	if err := CheckMember(pool, gateway); err != nil {
		return err
	}
	return checkValue("lease of gateway "+gateway, 0, 0, ttl)
}

// CheckMember refuses names of a pool or gateway.
func CheckMember(pool, gateway string) error {
	if err := checkName("pool", pool); err != nil {
		return err
	}
	return checkName("gateway", gateway)
}

// CheckPlan refuses what a store does not keep as a plan.
func CheckPlan(pool, strategy string, plan Plan, ttl time.Duration) error {
	if err := CheckStrategy(pool, strategy); err != nil {
		return err
	}
	if plan.Version == 0 {
		return fmt.Errorf("plan of strategy %s has version 0; number plans from 1", strategy)
	}
	return checkValue("plan of strategy "+strategy, len(plan.Bytes), MaxPlan, ttl)
}

// CheckStrategy refuses names of a pool or strategy.
func CheckStrategy(pool, strategy string) error {
	if err := checkName("pool", pool); err != nil {
		return err
	}
	return checkName("strategy", strategy)
}

func checkName(what, name string) error {
	if name == "" || len(name) > MaxName {
		return fmt.Errorf("name of a %s has %d bytes; use 1 to %d", what, len(name), MaxName)
	}
	return nil
}

func checkValue(what string, size, limit int, ttl time.Duration) error {
	if size > limit {
		return fmt.Errorf("%s has %d bytes; at most %d are shared", what, size, limit)
	}
	if ttl <= 0 || ttl > MaxTTL {
		return fmt.Errorf("%s has a time to live of %v; use more than 0 and at most %v", what, ttl, MaxTTL)
	}
	return nil
}
