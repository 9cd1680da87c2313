package main

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
)

// TestWorkersNeedNotBeNamed serves with workers that are found in a file only,
// and with none at first, until one registers.
func TestWorkersNeedNotBeNamed(t *testing.T) {
	address := strings.TrimPrefix(emulatedWorker(t), "http://")
	targets := write(t, fmt.Sprintf("- targets: [%q]\n", address))
	found := startGateway(t, nil, "--config", write(t, unhurried+"discovery: {sources: [{file: "+targets+"}]}\n"))
	if by := found.mustChat("s"); by != address {
		t.Errorf("worker %s served, not the one in the file", by)
	}
	found.stop(syscall.SIGTERM)

	registered := serving(t, nil, "--config", write(t, unhurried+"discovery: {register: [127.0.0.0/8]}\n"))
	if resp, body, err := registered.chat("s", false); err != nil || resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("without a worker: %v, %v, %s", resp, err, body)
	}
	registered.ask(http.MethodPost, "/workers", `{"url": "http://`+address+`", "id": "new"}`)
	until(t, "the worker to serve", func() bool {
		resp, _, err := registered.chat("s", false)
		return err == nil && resp.Header.Get("X-Gatewayd-Worker") == "new"
	})
	registered.stop(syscall.SIGTERM)
}
