#!/bin/sh
# Regenerates the Go code of the strategy protocol: pkg/plugin/wire/*.pb.go from
# docs/protocol/strategy/v1/strategy.proto. Needs protoc 3.21 and Go; the two
# generators are fetched in fixed versions, so that the result is the same everywhere.
set -eu
cd "$(dirname "$0")/.."

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
GOBIN="$tools" go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
GOBIN="$tools" go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2

protoc --proto_path=docs/protocol/strategy/v1 \
	--plugin="$tools/protoc-gen-go" --go_out=. --go_opt=module=gatewayd \
	--plugin="$tools/protoc-gen-go-grpc" --go-grpc_out=. --go-grpc_opt=module=gatewayd \
	strategy.proto
