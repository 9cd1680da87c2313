package fleet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"gatewayd/internal/config"
)

// Resolver is the part of net.Resolver that finds workers.
type Resolver interface {
	LookupHost(ctx context.Context, host string) ([]string, error)
	LookupSRV(ctx context.Context, service, proto, name string) (string, []*net.SRV, error)
}

// Sources returns the places where a valid configuration has workers found. A nil
// resolver is the system's.
func Sources(c config.Config, r Resolver) []Source {
	if r == nil {
		r = net.DefaultResolver
	}
	var out []Source
	for _, s := range c.Discovery.Sources {
		find := func(context.Context) ([]config.Worker, error) { return s.ReadTargets(c) }
		if s.DNS != "" {
			n := &name{source: s, resolver: r}
			find = func(ctx context.Context) ([]config.Worker, error) {
				addresses, err := n.addresses(ctx)
				if err != nil {
					return nil, err
				}
				return s.At(c, addresses)
			}
		}
		out = append(out, Source{Name: s.Name(), Interval: s.Every(), Find: func(ctx context.Context) ([]Spec, error) {
			found, err := find(ctx)
			if err != nil {
				return nil, err
			}
			with := c
			with.Workers = found
			return Specs(with, now())
		}})
	}
	return out
}

// name is a DNS name that stands for workers.
type name struct {
	source   config.Source
	resolver Resolver
	missed   int // answers in a row that there is no such name
}

// gone is how many answers in a row, that a name does not exist, are believed: a
// service without any ready worker has none, but so has one whose name server
// has just started.
const gone = 3

// addresses returns the host:port of every worker behind the name, in order.
func (n *name) addresses(ctx context.Context) (found []string, err error) {
	if n.source.SRV() {
		found, err = n.services(ctx)
	} else {
		found, err = n.hosts(ctx)
	}
	var answer *net.DNSError
	switch {
	case err == nil:
		n.missed = 0
	case errors.As(err, &answer) && answer.IsNotFound:
		if n.missed++; n.missed < gone {
			return nil, fmt.Errorf("there is no such name")
		}
		return nil, nil
	default:
		return nil, err
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// hosts asks for the addresses of host:port.
func (n *name) hosts(ctx context.Context) ([]string, error) {
	host, port, err := net.SplitHostPort(n.source.DNS)
	if err != nil {
		return nil, err
	}
	ips, err := n.resolver.LookupHost(ctx, host)
	for i, ip := range ips {
		ips[i] = net.JoinHostPort(ip, port)
	}
	return ips, err
}

// services asks for SRV records. A target of "." says that there is no service.
func (n *name) services(ctx context.Context) (found []string, err error) {
	_, records, err := n.resolver.LookupSRV(ctx, "", "", n.source.DNS)
	for _, r := range records {
		if target := strings.TrimSuffix(r.Target, "."); target != "" {
			found = append(found, net.JoinHostPort(target, strconv.Itoa(int(r.Port))))
		}
	}
	return found, err
}
