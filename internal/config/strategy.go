package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"gatewayd/pkg/plugin/ref"
)

var strategyType = reflect.TypeFor[ref.Ref]()

// strategyForm is a strategy written as a mapping instead of as text.
type strategyForm struct {
	Name    string            `yaml:"name" doc:"name of the strategy"`
	Path    string            `yaml:"path" doc:"path of its executable, instead of a name; a relative one starts at the configuration file's folder"`
	SHA256  string            `yaml:"sha256" doc:"checksum that its executable must have, 64 hexadecimal digits as gatewayd plugin describe shows them; \"\" allows any"`
	Options map[string]string `yaml:"options" doc:"its options by name, as the strategy documents them"`
}

// strategy sets a strategy from text, NAME|PATH[:key=value...], or a mapping.
func (d *decoder) strategy(n ast.Node, v reflect.Value, path string) {
	if n.Type() == ast.StringType {
		text, _ := scalarText(n)
		r, err := ref.Parse(text)
		if err != nil {
			d.here(start(n), path, err.Error(), strategyHint)
		}
		v.Set(reflect.ValueOf(r))
		return
	}
	if _, ok := n.(ast.MapNode); !ok {
		d.mismatch(n, strategyType, path)
		return
	}
	var form strategyForm
	d.fields(n, reflect.ValueOf(&form).Elem(), path)
	if form.Name != "" && form.Path != "" {
		d.here(start(n), path, "has both name and path", "keep one of them")
	}
	if form.Path != "" && !strings.Contains(form.Path, "/") {
		form.Path = "./" + form.Path
	}
	v.Set(reflect.ValueOf(ref.Ref{Name: form.Name + form.Path, Options: form.Options, SHA256: form.SHA256}))
}

const strategyHint = "write each strategy as an item of its own: NAME or PATH, or NAME:key=value"

// checkStrategies checks the chain's names; whether a strategy exists and
// takes its options is for those who start it.
func checkStrategies(path string, chain []ref.Ref, p *problems) {
	if len(chain) > maxStrategies {
		p.at(path, fmt.Sprintf("has more than %d strategies", maxStrategies), "")
	}
	for i, s := range chain {
		at := fmt.Sprintf("%s[%d]", path, i)
		if s.Name == "" {
			p.at(at, "has neither name nor path", strategyHint)
		} else if r, err := ref.Parse(s.Name); err != nil {
			p.at(at, err.Error(), strategyHint)
		} else if r.Options != nil {
			p.at(at, fmt.Sprintf("the name %q contains options", s.Name), "put them under options")
		}
		if b, err := hex.DecodeString(s.SHA256); err != nil || s.SHA256 != "" && len(b) != sha256.Size {
			p.at(at+".sha256", fmt.Sprintf("%.80q is no checksum of 64 hexadecimal digits", s.SHA256), "gatewayd plugin describe shows that of an executable")
		}
	}
}

// resolve makes the paths in the configuration independent of the folder in
// which the gateway runs.
func (c *Config) resolve(folder string) {
	at := func(path string) string {
		if path == "" || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(folder, path)
	}
	c.Plugins.Dir = at(c.Plugins.Dir)
	c.TLS.CertFile, c.TLS.KeyFile, c.TLS.WorkerCAFile = at(c.TLS.CertFile), at(c.TLS.KeyFile), at(c.TLS.WorkerCAFile)
	c.Record.File, c.Record.SaltFile = at(c.Record.File), at(c.Record.SaltFile)
	for i := range c.Workers {
		c.Workers[i].APIKeyFile = at(c.Workers[i].APIKeyFile)
	}
	for i := range c.Discovery.Sources {
		s := &c.Discovery.Sources[i]
		s.File, s.Worker.APIKeyFile = at(s.File), at(s.Worker.APIKeyFile)
	}
	c.AdminToken = at(c.AdminToken)
	for _, chain := range append(slices.Clone(c.Shadow), c.Strategies) {
		for i, s := range chain {
			if s.IsPath() {
				chain[i].Name = at(s.Name)
			}
		}
	}
}
