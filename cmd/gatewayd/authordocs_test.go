package main

import (
	"encoding/base64"
	"net"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"gatewayd/pkg/plugin/wire"
	"gatewayd/pkg/strategytest/rules"
)

// TestWritingAStrategy runs every command of docs/writing-a-strategy.md, in order,
// on little traffic and on free ports.
func TestWritingAStrategy(t *testing.T) {
	author(t)
	pages := blocks(t, "../../docs/writing-a-strategy.md")
	if len(pages) < 6 {
		t.Fatalf("%d blocks of commands found, want 6 or more", len(pages))
	}
	python := -1
	for i, b := range pages {
		if strings.Contains(b, "--lang python") {
			python = i
		}
	}
	if python < 1 {
		t.Fatal("no block makes a project in Python")
	}
	replace := strings.NewReplacer(
		"~/src/gatewayd", repository(t), "--requests 1000", "--requests 100", "--seeds 5", "--seeds 2",
		"127.0.0.1:8001", freePort(t), "127.0.0.1:8002", freePort(t), "127.0.0.1:8080", freePort(t), "127.0.0.1:9090", freePort(t))
	work := t.TempDir()
	script := replace.Replace(strings.Join(pages[:python], ""))
	out := shell(t, work, "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"+script)
	for _, says := range []string{"all rules that were checked are kept", "shortest", "my-strategy"} {
		if !strings.Contains(out, says) {
			t.Errorf("%q is not in what the commands print:\n%s", says, out)
		}
	}
	t.Run("python", func(t *testing.T) {
		const venv = "python3 -m venv .venv\n.venv/bin/pip install --quiet -r requirements.txt\n"
		script := strings.Join(pages[python:], "")
		if !strings.Contains(script, venv) {
			t.Errorf("the page does not make a venv by\n%s", venv)
		}
		script = strings.Replace(script, venv, "ln -s "+pythonVenv(t)+" .venv\n", 1)
		script = strings.NewReplacer("plugin check", "plugin check --history 400", "--requests 1000", "--requests 30", "--seeds 5", "--seeds 2").Replace(script)
		if out := shell(t, work, script); !strings.Contains(out, "all rules that were checked are kept") {
			t.Errorf("the commands print:\n%s", out)
		}
	})
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// samePython holds that the stubs in Python are of the protocol as it is.
func samePython(t *testing.T, dir string) {
	t.Helper()
	out := shell(t, dir, `.venv/bin/python -B -c 'import base64, strategy_pb2; print(base64.b64encode(strategy_pb2.DESCRIPTOR.serialized_pb).decode())'`)
	b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(out))
	if err != nil {
		t.Fatal(err)
	}
	var there descriptorpb.FileDescriptorProto
	if err := proto.Unmarshal(b, &there); err != nil {
		t.Fatal(err)
	}
	here := protodesc.ToFileDescriptorProto(wire.File_strategy_proto)
	there.Name = here.Name
	for _, messages := range [][]*descriptorpb.DescriptorProto{here.MessageType, there.MessageType} {
		withoutJSON(messages)
	}
	if !proto.Equal(here, &there) {
		t.Error("the stubs in Python are not of docs/protocol/strategy/v1/strategy.proto; scripts/proto.sh makes them")
	}
}

// withoutJSON drops the names of fields in JSON, which only stubs in Go have.
func withoutJSON(messages []*descriptorpb.DescriptorProto) {
	for _, m := range messages {
		for _, f := range m.Field {
			f.JsonName = nil
		}
		withoutJSON(m.NestedType)
	}
}

// TestDocumentedRules holds that the page lists the rules as they are.
func TestDocumentedRules(t *testing.T) {
	page, err := os.ReadFile("../../docs/writing-a-strategy.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules.Rules() {
		if !strings.Contains(string(page), "| "+r.Name+" | "+r.Says+" |\n") {
			t.Errorf("the page has no row %s: %s", r.Name, r.Says)
		}
	}
}
