package redis

import (
	"net"
	"testing"

	"gatewayd/state/redistest"
)

// TestFailover: the primary dies, Sentinel promotes its replica, and the store
// goes on there.
func TestFailover(t *testing.T) {
	primary, server := redistest.StartTCP(t, "--repl-diskless-sync-delay", "0")
	host, port, err := net.SplitHostPort(primary)
	must(t, err)
	replica, _ := redistest.StartTCP(t, "--replicaof", host+" "+port)
	standby := open(t, "redis://"+replica, Options{})
	main := open(t, "redis://"+primary, Options{Timeout: patience})
	must(t, main.client.Set(t.Context(), "replicated", "yes", patience).Err())
	eventually(t, func() bool { return standby.client.Get(t.Context(), "replicated").Val() == "yes" })

	address, sentinel := redistest.StartSentinel(t, "main", primary)
	for setting, value := range map[string]string{"down-after-milliseconds": "200", "failover-timeout": "1000"} {
		if _, err := sentinel.Do("SENTINEL", "SET", "main", setting, value); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, "redis://"+address+"?master_name=main", Options{})
	eventually(t, func() bool { return works(t, s) == nil })
	eventually(t, func() bool { // the Sentinel has found the replica
		count, err := sentinel.Do("SENTINEL", "REPLICAS", "main")
		return err == nil && count == "1"
	})
	server.Stop(t)
	eventually(t, func() bool { return works(t, s) == nil })
	if role, err := standby.client.Do(t.Context(), "ROLE").Slice(); err != nil || role[0] != "master" {
		t.Errorf("the role of the server in use is %v, %v, want master", role, err)
	}
}
