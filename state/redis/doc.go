// Package redis is the store of a fleet: package state on a Redis server (6 or
// newer), a Redis Cluster, or a primary that Sentinels name.
//
// Keys are NAMESPACE:{POOL}:WHAT..., escaped; the braces keep a pool's keys in
// one slot of a Cluster. Every key has a time to live. Every value begins with
// a line of text (see value.go), so that redis-cli shows what it is and that
// foreign or cut values are noticed; writes replace such values.
//
// Time is the server's: scripts ask it for TIME, and no local clock is sent.
// Scripts are small, and are sent again when the server lost them. Large
// values never pass through a script: a script that copies 16 MiB stops the
// server for 60 to 100 ms, a plain SET for about 2 ms. A plan is therefore
// written aside and renamed by the script that puts publishers in order, and
// large values are read in parts.
//
// Facts and Write stop asking a server that does not answer (see circuit.go).
// Facts returns at the caller's deadline but lets the connection finish its
// call (see lane.go): a deadline of 2 ms would otherwise close connections
// whenever the server or this process pauses, and a new connection costs more
// than the deadline.
//
// Reading order: store.go, url.go, value.go, circuit.go, lane.go, call.go, then
// facts.go, snapshots.go, leases.go, plans.go and bulk.go, and the scripts.
package redis
