package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

const (
	maxWorkers    = 4096 // plans count workers in 16 bits
	maxStrategies = 16
	maxShadows    = 4
	maxName       = 128 // bytes of a worker's ID or a namespace
)

// Validate checks a configuration that is complete, as one from a file with
// flags laid over it, and returns an *Error with all its problems, or nil. There
// must be a worker, or a place where they are found or registered.
func (c Config) Validate() error {
	var p problems
	someWorker(c, &p)
	check(c, &p)
	return p.err("")
}

// check notes everything that is wrong with a configuration.
func check(c Config, p *problems) {
	ranges(reflect.ValueOf(c), "", p)
	addresses(c, p)
	workers(c, p)
	sources(c, p)
	aliases(c, p)
	c.TLS.check(p)
	checkStrategies("strategies", c.Strategies, p)
	if len(c.Shadow) > maxShadows {
		p.at("shadow", fmt.Sprintf("has more than %d chains", maxShadows), "")
	}
	for i, chain := range c.Shadow {
		at := fmt.Sprintf("shadow[%d]", i)
		if len(chain) == 0 {
			p.at(at, "is empty", "write a chain as [NAME, NAME]")
		}
		checkStrategies(at, chain, p)
	}
	for i, h := range c.Headers.Session {
		if !isToken(h) {
			p.at(fmt.Sprintf("headers.session[%d]", i), quote(h)+" is no header name", "")
		}
	}
	if h := c.Headers.Priority; h != "" && !isToken(h) {
		p.at("headers.priority", quote(h)+" is no header name", "")
	}
	for _, class := range sortedKeys(c.Headers.Priorities) {
		if n := c.Headers.Priorities[class]; n < -1000 || n > 1000 {
			p.at("headers.priorities."+class, fmt.Sprintf("%d is out of range", n), "it may be -1000 to 1000")
		}
	}
	if c.Breaker.MaxCooldown < c.Breaker.Cooldown {
		p.at("breaker.max_cooldown", "is less than cooldown", "")
	}
}

// ranges checks every setting below v against the range in its tags.
func ranges(v reflect.Value, path string, p *problems) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			ranges(v.Index(i), fmt.Sprintf("%s[%d]", path, i), p)
		}
	case reflect.Map:
		for _, key := range slices.SortedFunc(slices.Values(v.MapKeys()), func(a, b reflect.Value) int {
			return strings.Compare(a.String(), b.String())
		}) {
			ranges(v.MapIndex(key), join(path, key.String()), p)
		}
	case reflect.Struct:
		for s := range settings(v.Type()) {
			f, at := v.FieldByIndex(s.index), join(path, s.name)
			ranges(f, at, p)
			if s.outside(f) {
				p.at(at, fmt.Sprintf("%v is out of range", f), fmt.Sprintf("it may be %s to %s", s.least, s.most))
			}
			if len(s.words) > 0 && !slices.Contains(s.words, f.String()) {
				p.at(at, quote(f.String())+" is not known", nearest(f.String(), s.words))
			}
		}
	}
}

// outside reports whether a value is out of the setting's range.
func (s setting) outside(v reflect.Value) bool {
	if s.least == "" {
		return false
	}
	least, most := reflect.New(v.Type()).Elem(), reflect.New(v.Type()).Elem()
	if setScalar(least, s.least) != nil || setScalar(most, s.most) != nil {
		return true
	}
	if v.CanFloat() {
		return !(v.Float() >= least.Float() && v.Float() <= most.Float())
	}
	return v.Int() < least.Int() || v.Int() > most.Int()
}

func addresses(c Config, p *problems) {
	if err := checkListen(c.Listen); err != nil {
		p.at("listen", err.Error(), "write an address as 127.0.0.1:8080 or :8080")
	}
	if c.AdminListen != "" {
		if err := checkListen(c.AdminListen); err != nil {
			p.at("admin_listen", err.Error(), "write an address as 127.0.0.1:9090")
		} else if c.AdminListen == c.Listen && !strings.HasSuffix(c.Listen, ":0") {
			p.at("admin_listen", "is the same address as listen", "give it a port of its own")
		}
	}
	if !c.State.Redis.Empty() {
		if err := checkRedis(c.State.Redis.Reveal()); err != nil {
			p.at("state.redis", err.Error(), "write redis://127.0.0.1:6379/0")
		}
	}
	if !isName(c.State.Namespace) {
		p.at("state.namespace", quote(c.State.Namespace)+" is no name", nameHint)
	}
}

const nameHint = "a name has 1 to 128 of the characters A-Z a-z 0-9 . _ - : / @ [ ]"

// isName reports whether a text can name a worker or namespace in headers,
// metrics and keys.
func isName(s string) bool {
	return s != "" && len(s) <= maxName && !strings.ContainsFunc(s, func(r rune) bool {
		return !isAlphanumeric(r) && !strings.ContainsRune("._-:/@[]", r)
	})
}

// isToken reports whether a text is an HTTP token, as header names are.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !isAlphanumeric(r) && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

func isAlphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}
