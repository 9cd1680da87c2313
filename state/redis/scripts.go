package redis

import (
	_ "embed"

	goredis "github.com/redis/go-redis/v9"
)

// The scripts share a few functions that stand before each of them.
var (
	//go:embed scripts/shared.lua
	shared string
	//go:embed scripts/enter.lua
	enter string
	//go:embed scripts/members.lua
	members string
	//go:embed scripts/lease.lua
	lease string
	//go:embed scripts/release.lua
	release string
	//go:embed scripts/admit.lua
	admit string
	//go:embed scripts/promote.lua
	promote string
	//go:embed scripts/latest.lua
	latest string
)

var (
	enterScript   = goredis.NewScript(shared + enter)
	membersScript = goredis.NewScript(shared + members)
	leaseScript   = goredis.NewScript(shared + lease)
	releaseScript = goredis.NewScript(shared + release)
	admitScript   = goredis.NewScript(shared + admit)
	promoteScript = goredis.NewScript(shared + promote)
	latestScript  = goredis.NewScript(shared + latest)
)
