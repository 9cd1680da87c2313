// Package plugin runs routing strategies in processes of their own.
//
// An author's main is one call:
//
//	func main() { plugin.Serve(mystrategy.Definition()) }
//
// A host starts such an executable with Launch, or keeps one running with
// Supervise, and opens instances on it. An Instance is used like a strategy in
// the host's own process: the same inputs give the same answers. The strategy
// may crash, hang or answer nonsense; every call has a deadline, every answer
// is checked, and a failure is an error that errors.Is recognises.
//
// The protocol is gRPC over hashicorp/go-plugin; its reference is
// docs/protocol/strategy/v1/strategy.proto, and docs/protocol/README.md says how
// it may grow. The plugin gets none of the host's environment, ends when the host
// ends, and sends its log lines and finished spans to the host.
//
// Reading order: serve.go (what an author calls), server.go, serverlane.go and
// serverplan.go (the plugin's side of the protocol), spec.go (what a host
// chooses), launch.go, process.go, runner.go, checksum.go, handshake.go, output.go
// and tempdir.go (the process), instance.go, lane.go, table.go and plan.go (the
// host's side of the protocol), supervise.go and state.go (restarts),
// errors.go, span.go, planbytes.go, resolve.go, schema.go.
package plugin
