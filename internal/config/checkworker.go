package config

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// reserved are headers that the gateway itself sets on requests to workers.
var reserved = []string{
	"Authorization", "Connection", "Content-Length", "Content-Type", "Cookie", "Expect", "Host", "Keep-Alive",
	"Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Traceparent", "Tracestate",
}

// someWorker notes that there is no worker and that none can come.
func someWorker(c Config, p *problems) {
	if len(c.Workers)+len(c.Discovery.Sources)+len(c.Discovery.Register) == 0 {
		p.at("workers", "there is no worker", "add --worker URL, or workers or discovery to the file of --config; gatewayd demo runs without any")
	}
}

// workers checks each worker by itself and against the others.
func workers(c Config, p *problems) {
	if len(c.Workers) > maxWorkers {
		p.at("workers", fmt.Sprintf("there are more than %d workers", maxWorkers), "")
	}
	first := map[string]int{}
	for i, w := range c.Workers {
		path := fmt.Sprintf("workers[%d]", i)
		if _, err := ParseURL(w.URL); err != nil {
			p.at(path+".url", err.Error(), "write the server's address, as http://127.0.0.1:8000")
			continue
		}
		for _, id := range w.ids() {
			if other, twice := first[id]; twice {
				p.at(path, fmt.Sprintf("has the same id as workers[%d]: %q", other, id), "give it an id of its own")
			} else {
				first[id] = i
			}
		}
		if name := w.Name(); !isName(name) {
			p.at(path+".id", quote(name)+" is no name", nameHint)
		}
		w.check(c, path, p)
	}
}

// sources checks where further workers are found.
func sources(c Config, p *problems) {
	c.Discovery.register(p)
	first := map[string]int{}
	for i, s := range c.Discovery.Sources {
		path := fmt.Sprintf("discovery.sources[%d]", i)
		s.check(c, path, p)
		if other, twice := first[s.Name()]; twice {
			p.at(path, fmt.Sprintf("is the same place as discovery.sources[%d]", other), "remove one of them")
		}
		first[s.Name()] = i
	}
}

// check checks what does not concern other workers.
func (w Worker) check(c Config, path string, p *problems) {
	if _, ok := c.Zones[w.Zone]; w.Zone != "" && !ok {
		hint := "there are no zones; add it to zones"
		if known := sortedKeys(c.Zones); len(known) > 0 {
			hint = nearest(w.Zone, known)
		}
		p.at(path+".zone", "unknown zone "+quote(w.Zone), hint)
	}
	if pue := w.Energy.PUE; pue > 0 && pue < 1 {
		p.at(path+".energy.pue", fmt.Sprintf("%v is out of range", pue), "it is facility power over IT power: 1 or more, or 0 for unknown")
	}
	if _, err := w.RankList(); err != nil {
		p.at(path+".ranks", err.Error(), "write ranks as 0-3 or 0,2, each once")
	}
	for i, m := range w.Models {
		if m == "" || slices.Index(w.Models, m) < i {
			p.at(fmt.Sprintf("%s.models[%d]", path, i), quote(m)+" is empty or a repetition", "name each model once")
		}
	}
	w.names(path, p)
	for _, name := range sortedKeys(w.Headers) {
		at := join(path+".headers", name)
		if !isToken(name) {
			p.at(at, "is no header name", "")
		}
		if slices.Contains(reserved, http.CanonicalHeaderKey(name)) {
			p.at(at, "is set by the gateway itself", "for a key use api_key_file")
		}
		if strings.ContainsFunc(w.Headers[name], func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			p.at(at, "has a control character in its value", "")
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
