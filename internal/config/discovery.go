package config

import (
	"fmt"
	"net"
	"reflect"
	"strings"
	"time"
)

// Discovery says where workers are found beside those that are named.
type Discovery struct {
	Register []string `yaml:"register" doc:"networks, as 10.0.0.0/8, and host names of which workers may be registered through the admin listener, beside public addresses"`
	Sources  []Source `yaml:"sources" doc:"places where workers are found; what was found last stays in force while one cannot be read. Of several workers with one ID the first counts, those named under workers before all"`
}

// Source is one place where workers are found: a file or a DNS name.
type Source struct {
	File     string        `yaml:"file" doc:"file of workers in the form of Prometheus' file_sd, JSON or YAML, instead of dns; a relative path starts at the configuration file's folder"`
	DNS      string        `yaml:"dns" doc:"DNS name instead of file: host:port for the addresses (A, AAAA) of a name, as that of a headless service, or _service._proto.name for SRV records"`
	Scheme   string        `yaml:"scheme" doc:"http or https; \"\" means http"`
	Interval time.Duration `yaml:"interval" min:"0s" max:"1h" doc:"time between two looks; 0s means 500ms for a file and 5s for DNS"`
	Worker   Worker        `yaml:"worker" doc:"what its workers have in common: the keys of workers[] but url and id"`
}

// Name names the source for people.
func (s Source) Name() string {
	if s.File != "" {
		return "file " + s.File
	}
	return "dns " + s.DNS
}

// Every is the time between two looks at the source.
func (s Source) Every() time.Duration {
	switch {
	case s.Interval > 0:
		return s.Interval
	case s.File != "":
		return 500 * time.Millisecond
	}
	return 5 * time.Second
}

// SRV reports whether the source is a name of SRV records, whose labels of
// service and protocol begin with an underscore (RFC 2782).
func (s Source) SRV() bool { return strings.HasPrefix(s.DNS, "_") }

// check checks one source.
func (s Source) check(c Config, path string, p *problems) {
	switch {
	case (s.File == "") == (s.DNS == ""):
		p.at(path, "has to have either file or dns", "write - file: workers.json or - dns: llama.default.svc:8000")
	case s.DNS != "" && !s.SRV():
		if host, port, err := net.SplitHostPort(s.DNS); err != nil || host == "" || !validPort(port, 1) {
			p.at(path+".dns", quote(s.DNS)+" is neither host:port nor _service._proto.name", "write the port of the workers behind the name")
		}
	case s.SRV() && strings.Count(s.DNS, "._") != 1:
		p.at(path+".dns", quote(s.DNS)+" is no name of SRV records", "write _service._proto.name, as _http._tcp.llama.default.svc")
	}
	if s.Scheme != "" && s.Scheme != "http" && s.Scheme != "https" {
		p.at(path+".scheme", quote(s.Scheme)+" is not known", "it may be http, https")
	}
	if s.Interval > 0 && s.Interval < 100*time.Millisecond {
		p.at(path+".interval", fmt.Sprintf("%v is out of range", s.Interval), "it may be 100ms to 1h, or 0s")
	}
	if s.Worker.URL != "" || s.Worker.ID != "" {
		p.at(path+".worker", "has a url or id", "they come from the source")
	}
	s.Worker.check(c, path+".worker", p)
}

// worker returns the worker at an address, host:port.
func (s Source) worker(address string) Worker {
	w := s.Worker
	w.URL = "http://" + address
	if s.Scheme != "" {
		w.URL = s.Scheme + "://" + address
	}
	return w
}

// At returns the source's workers at these addresses, each host:port. It fails,
// without any, on what check would refuse under workers.
func (s Source) At(c Config, addresses []string) ([]Worker, error) {
	found := make([]Worker, len(addresses))
	for i, a := range addresses {
		found[i] = s.worker(a)
	}
	return found, c.Fits(found)
}

// Fits says what is wrong with workers that are to serve under this configuration
// although it does not name them: the first problem, or nil.
func (c Config) Fits(found []Worker) error {
	p := &problems{}
	c.Workers = found
	ranges(reflect.ValueOf(found), "workers", p)
	if len(found) > 0 {
		workers(c, p)
	}
	if len(p.list) == 0 {
		return nil
	}
	first := p.list[0]
	return fmt.Errorf("%s: %s", strings.TrimPrefix(first.Path, "workers"), first.Message)
}
