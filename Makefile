# `make` lists the targets. CI calls `make test`.

GO      ?= go
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
BUILD   := CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags '-X main.version=$(VERSION)'

.DEFAULT_GOAL := help
.PHONY: help build run check test bench bench-gateway bench-plugin bench-strategies golden proto docs twin soak test-llamacpp clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build gatewayd, benchlab and the plugins into bin/
	$(BUILD) -o bin/ ./cmd/gatewayd ./cmd/benchlab
	$(BUILD) -o bin/plugins/ ./plugins/cacheroute ./plugins/joule ./plugins/sticky

run: build ## build, then serve four emulated workers behind the gateway until Ctrl-C
	@exec bin/gatewayd demo

check: ## format, vet, staticcheck and the tests, without the race detector
	@scripts/test.sh format vet staticcheck unit

test: ## everything, with the race detector, a real Redis and a browser; installs what it needs
	@scripts/test.sh

bench: ## run the Go benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

bench-plugin: ## what calls into plugins cost, beside plain ones; fails when a limit is not kept (a minute)
	$(GO) run ./test/pluginbench

bench-strategies: ## strategies beside naive twins and reference loops; fails when a limit is not kept (4 minutes)
	$(GO) run ./test/strategybench

bench-gateway: build ## what the gateway costs beside nginx and haproxy; they and wrk must be installed (5 minutes)
	$(GO) run ./test/benchgateway

golden: ## rewrite the expected output of tests; review the result as a diff
	@scripts/golden.sh

proto: ## generate the Go code of the plugin protocol
	@scripts/proto.sh

docs: ## regenerate the pages that are made from code
	$(GO) test -count=1 ./internal/config ./internal/telemetry -update

twin: build ## the same traffic simulated and live, side by side (10 minutes); fails when they differ
	$(GO) run ./test/twin

soak: build ## hold what shows only over minutes or in milliseconds (11 minutes); fails when a line does not hold
	$(GO) run ./test/soak

test-llamacpp: build ## run a real engine (llama.cpp) behind the gateway; installs it
	@test/llamacpp/run.sh

clean: ## remove what the other targets built
	rm -rf bin
