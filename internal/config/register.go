package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Admits says why a worker at this address may not be registered, nil if it may:
// its host must be a public address, in one of the networks of Register, or one
// of its names. Names are not looked up, so that no answer of a name server opens
// the way to an address that is not admitted.
func (d Discovery) Admits(u *url.URL) error {
	host := strings.ToLower(u.Hostname())
	ip, err := netip.ParseAddr(host)
	if err != nil {
		if slices.ContainsFunc(d.Register, func(name string) bool { return strings.EqualFold(name, host) }) {
			return nil
		}
		return fmt.Errorf("the host %s is a name that discovery.register does not list", quote(host))
	}
	ip = ip.Unmap()
	for _, text := range d.Register {
		if network, err := netip.ParsePrefix(text); err == nil && network.Contains(ip.WithZone("")) {
			return nil
		}
	}
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || sharedSpace.Contains(ip) {
		return fmt.Errorf("the address %s is not public and in no network of discovery.register", ip)
	}
	return nil
}

// sharedSpace is for the inner side of carriers' address translation (RFC 6598),
// which clouds use for their own services.
var sharedSpace = netip.MustParsePrefix("100.64.0.0/10")

// register checks which workers may be registered.
func (d Discovery) register(p *problems) {
	for i, text := range d.Register {
		_, err := netip.ParsePrefix(text)
		_, single := netip.ParseAddr(text)
		if err != nil && (single == nil || !isName(text) || strings.ContainsAny(text, "/:@[]_")) {
			p.at(fmt.Sprintf("discovery.register[%d]", i), quote(text)+" is neither a network nor a host name", "write 10.0.0.0/8, 10.1.2.3/32, fd00::/8 or llama.internal")
		}
	}
}
