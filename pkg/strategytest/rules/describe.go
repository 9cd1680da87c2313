package rules

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"gatewayd/pkg/router"
)

var kebab = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

func describes(_ context.Context, t *trial) {
	d := t.def
	if !kebab.MatchString(d.Name) {
		t.found("name %q must be lower case letters, digits and dashes, and begin with a letter", d.Name)
	}
	if d.Version == "" {
		t.found("it has no version")
	}
	if d.Summary == "" || strings.Contains(d.Summary, "\n") {
		t.found("its summary must be one line, and is %q", d.Summary)
	}
	seen := map[string]bool{}
	for _, o := range d.Options {
		if o.Name == "" || seen[o.Name] || o.Help == "" {
			t.found("option %q needs a name of its own and help", o.Name)
		}
		seen[o.Name] = true
		if len(o.Values) > 0 && !slices.Contains(o.Values, o.Default) {
			t.found("default %q of option %s is not one of its words %q", o.Default, o.Name, o.Values)
		}
	}
	if t.opening != nil {
		t.found("an instance cannot be opened: %v", t.opening)
		return
	}
	if o := t.fresh(d); o != nil {
		defer o.close()
		t.promises(o)
	}
}

// promises holds an instance's info to its definition and its methods.
func (t *trial) promises(o *opened) {
	info := o.info
	if info.Name != t.def.Name || info.Version != t.def.Version {
		t.found("it is defined as %s %s, and its instance calls itself %q %q", t.def.Name, t.def.Version, info.Name, info.Version)
	}
	if !info.Routes && !info.Plans {
		t.found("its info says that it neither routes nor plans: it could never decide")
	}
	if info.Interval < 0 {
		t.found("its plan interval is %v", info.Interval)
	}
	for _, kind := range info.Observes {
		if kind < router.Arrived || kind > router.CacheCleared {
			t.found("it observes events of unknown kind %d", kind)
		}
	}
	if slices.Contains(info.Facts, "") {
		t.found("it reads a family of facts without a name")
	}
	if o.remote != nil {
		return // the host's end of it has all methods
	}
	_, routes := o.instance.(router.Strategy)
	_, plans := o.instance.(router.Planner)
	_, observes := o.instance.(router.Observer)
	for _, m := range []struct {
		method    string
		has, says bool
	}{{"Route", routes, info.Routes}, {"Plan", plans, info.Plans}, {"Observe", observes, len(info.Observes) > 0}} {
		if m.has != m.says {
			t.found("method %s is there: %v; its info asks for calls of it: %v", m.method, m.has, m.says)
		}
	}
}

// refused are an option and a word that no strategy should know.
const (
	unknownOption = "no-such-option"
	unknownWord   = "no-such-word"
)

func options(_ context.Context, t *trial) {
	try := func(options router.Options) error {
		o, err := t.openWith(t.def, options)
		if err == nil {
			o.close()
		}
		return err
	}
	defaults := router.Options{}
	for _, o := range t.def.Options {
		if o.Default != "" {
			defaults[o.Name] = o.Default
		}
		for _, v := range o.Values {
			if err := try(router.Options{o.Name: v}); err != nil {
				t.found("%s=%s is listed, but refused: %v", o.Name, v, err)
			}
		}
		if len(o.Values) > 0 {
			t.refuses(o.Name, try(router.Options{o.Name: unknownWord}), o.Name+"="+unknownWord)
		}
	}
	if err := try(defaults); err != nil {
		t.found("its defaults, given in words, are refused: %v", err)
	}
	t.refuses(unknownOption, try(router.Options{unknownOption: "1"}), unknownOption+"=1")
}

func (t *trial) refuses(name string, err error, given string) {
	switch {
	case err == nil:
		t.found("%s is taken; it must be an error that names the option", given)
	case !strings.Contains(err.Error(), name):
		t.found("%s is refused with %q, which does not name the option", given, err)
	}
}
