package config

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// group is one entry of a file in the form of Prometheus' file_sd.
type group struct {
	Targets []string          `yaml:"targets"`
	Labels  map[string]string `yaml:"labels"`
}

// own are the labels by which a file says more of its workers; those of other
// names are for others.
const own = "gatewayd_"

// setters take over the values of labels.
var setters = map[string]func(w *Worker, value string) error{
	own + "models": func(w *Worker, v string) error { w.Models = strings.Split(v, ","); return nil },
	own + "zone":   func(w *Worker, v string) error { w.Zone = v; return nil },
	own + "ranks":  func(w *Worker, v string) error { w.Ranks = v; return nil },
	own + "drain":  func(w *Worker, v string) (err error) { w.Drain, err = strconv.ParseBool(v); return err },
	own + "concurrency": func(w *Worker, v string) (err error) {
		w.Concurrency, err = strconv.Atoi(v)
		return err
	},
	own + "kv_tokens": func(w *Worker, v string) (err error) { w.KVTokens, err = strconv.Atoi(v); return err },
}

// ReadTargets reads the source's file: JSON or YAML, a list of groups with
// targets, each host:port, and labels. Of the labels __scheme__ and those that
// begin with gatewayd_ count. A file that is broken or half written is an error,
// and so is a worker that check would refuse.
func (s Source) ReadTargets(c Config) ([]Worker, error) {
	f, err := os.Open(s.File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	found, err := s.targets(text)
	if err != nil {
		return nil, err
	}
	return found, c.Fits(found)
}

// targets reads the text of a file of workers. An empty text is a file that is
// just being written: no workers are an empty list.
func (s Source) targets(text []byte) ([]Worker, error) {
	if strings.TrimSpace(string(text)) == "" {
		return nil, fmt.Errorf("it is empty; write [] for no workers")
	}
	var groups []group
	d := newDecoder()
	if d.decode(text, &groups); len(d.list) > 0 {
		p := d.list[0]
		return nil, fmt.Errorf("it is no list of groups with targets and labels: line %d, column %d: %s", p.Line, p.Column, p.Message)
	}
	var found []Worker
	for _, g := range groups {
		from := s
		if scheme, ok := g.Labels["__scheme__"]; ok {
			from.Scheme = scheme
		}
		for _, target := range g.Targets {
			w := from.worker(target)
			if err := w.label(g.Labels); err != nil {
				return nil, fmt.Errorf("target %s: %w", quote(target), err)
			}
			found = append(found, w)
		}
	}
	return found, nil
}

// label takes over what labels say of a worker.
func (w *Worker) label(labels map[string]string) error {
	for _, name := range sortedKeys(labels) {
		set, known := setters[name]
		switch {
		case !strings.HasPrefix(name, own):
		case !known:
			return fmt.Errorf("unknown label %s; %s", quote(name), nearest(name, sortedKeys(setters)))
		default:
			if err := set(w, labels[name]); err != nil {
				return fmt.Errorf("label %s: %s is no value for it", name, quote(labels[name]))
			}
		}
	}
	w.Models = slices.Clone(w.Models)
	return nil
}
