package main

import examples "gatewayd/examples/strategies"

// readmes are the README.md of new projects, by the example they begin from;
// NAME stands for the strategy's, MODULE for the same
// as Python writes it.
var readmes = map[string]string{
	examples.Go: "# NAME\n\n" +
		"A routing strategy for gatewayd. [strategy.go](strategy.go) is what you change: `Definition` says\n" +
		"how it is named and which options it has, `Info` what it needs, `Route` decides. How strategies\n" +
		"work is in docs/writing-a-strategy.md of the gatewayd checkout that [go.mod](go.mod) names.\n\n" +
		"```sh\n" +
		"go test ./...                       # its own tests, and the rules that every strategy keeps\n" +
		"go build -o NAME .\n" +
		"gatewayd plugin check ./NAME        # the same rules, for the executable\n" +
		"benchlab compare --strategy ./NAME --strategy least-busy --seeds 2\n" +
		"```\n\n" +
		"Serve it: `gatewayd serve --worker URL --worker URL --plugin ./NAME`.\n",
	examples.Python: "# NAME\n\n" +
		"A routing strategy for gatewayd in Python. [MODULE.py](MODULE.py) is what you change:\n" +
		"`DEFINITION` says how it is named and which options it has, `info` what it needs, `route` decides.\n" +
		"[gatewayd_plugin.py](gatewayd_plugin.py) speaks the protocol, and strategy_pb2 holds its messages.\n\n" +
		"```sh\n" +
		"python3 -m venv .venv\n" +
		".venv/bin/pip install --quiet -r requirements.txt\n" +
		".venv/bin/python -m unittest\n" +
		"gatewayd plugin check ./NAME        # the rules that every strategy keeps\n" +
		"benchlab compare --strategy ./NAME --strategy least-busy --seeds 2\n" +
		"```\n\n" +
		"Serve it: `gatewayd serve --worker URL --worker URL --plugin ./NAME`.\n",
}
