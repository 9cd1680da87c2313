package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	goplugin "github.com/hashicorp/go-plugin"
)

// Protocol is the newest version of the strategy protocol that this package speaks.
const Protocol = 1

// versions are the versions of the protocol that a host speaks, each with what
// makes a wire.StrategyClient of a connection to a plugin of that version. Host
// and plugin take the highest that both have.
func versions() map[int]goplugin.PluginSet {
	return map[int]goplugin.PluginSet{Protocol: {dispenseName: protocol{}}}
}

// spoken lists the versions for people.
func spoken(versions map[int]goplugin.PluginSet) string {
	var list []string
	for _, v := range slices.Sorted(maps.Keys(versions)) {
		list = append(list, strconv.Itoa(v))
	}
	return strings.Join(list, " and ")
}

// handshake is what both sides agree on before they talk. The cookie is no
// secret: it tells an executable that a host started it.
func handshake() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{
		ProtocolVersion:  Protocol,
		MagicCookieKey:   "GATEWAYD_PLUGIN",
		MagicCookieValue: "strategy",
	}
}

const (
	envDir       = "GATEWAYD_PLUGIN_DIR" // the process's private directory
	dispenseName = "strategy"
)

const hintAuthor = "the executable must serve strategies with plugin.Serve and print nothing to standard output before that; use standard error"

// checkHandshake reads the line "core|protocol|network|address|transport" that
// a plugin prints first. It returns what is wrong with it for a host of that spec,
// and a hint.
func checkHandshake(line string, spec *Spec) (hint string, err error) {
	parts := strings.Split(strings.TrimSpace(line), "|")
	if len(parts) < 5 {
		return hintAuthor, fmt.Errorf("%w handshake: its first line is %q", ErrInvalid, short(line))
	}
	core, errCore := strconv.Atoi(parts[0])
	version, errVersion := strconv.Atoi(parts[1])
	switch {
	case errCore != nil || errVersion != nil:
		return hintAuthor, fmt.Errorf("%w handshake: its first line is %q", ErrInvalid, short(line))
	case core != goplugin.CoreProtocolVersion:
		return "rebuild the plugin with a current go-plugin",
			fmt.Errorf("%w handshake: go-plugin core protocol %d, this gateway needs %d", ErrInvalid, core, goplugin.CoreProtocolVersion)
	case spec.versions[version] == nil:
		return "rebuild the plugin against this gateway's version, or use a gateway of the plugin's",
			fmt.Errorf("%w version: the plugin speaks strategy protocol %d, this gateway speaks %s", ErrInvalid, version, spoken(spec.versions))
	case parts[2] != "unix":
		return hintAuthor, fmt.Errorf("%w handshake: network %q, this gateway needs unix", ErrInvalid, short(parts[2]))
	case parts[4] != string(goplugin.ProtocolGRPC):
		return hintAuthor, fmt.Errorf("%w handshake: transport %q, this gateway needs grpc", ErrInvalid, short(parts[4]))
	case spec.MTLS && (len(parts) < 6 || parts[5] == ""):
		return "use a plugin that offers mutual TLS, as those built with plugin.Serve do, or switch it off for this one",
			fmt.Errorf("%w handshake: the plugin shows no certificate, and mutual TLS is switched on", ErrInvalid)
	}
	return "", nil
}

// firstLine catches the first line that is written and hands the rest on.
type firstLine struct {
	found chan string // gets the line once
	rest  *output
	begun []byte
	done  bool
}

func newFirstLine(rest *output) *firstLine {
	return &firstLine{found: make(chan string, 1), rest: rest}
}

// Write takes the next bytes of the stream; it never fails.
func (f *firstLine) Write(p []byte) (int, error) {
	if f.done {
		return f.rest.Write(p)
	}
	line, rest, whole := bytes.Cut(p, []byte{'\n'})
	f.begun = append(f.begun, line...)
	if whole || len(f.begun) > lineBytes {
		f.end()
		f.rest.Write(rest)
	}
	return len(p), nil
}

// end closes the first line although it has no end.
func (f *firstLine) end() {
	if !f.done && len(f.begun) > 0 {
		f.found <- string(f.begun)
		f.done = true
	}
}

var errNoHandshake = errors.New("it ended before the handshake")
