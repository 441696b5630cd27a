package config

import (
	"fmt"
	"net/netip"
	"slices"

	"gslb.internal/shared/settings"
)

// serverKey is the unique identity of a server.
type serverKey struct {
	service string
	at      netip.AddrPort
}

// serverPlace is the position of a server: an index of the regions and an index of the region's servers.
type serverPlace struct{ region, server int32 }

func (p serverPlace) String() string {
	return fmt.Sprintf("regions[%d].servers[%d]", p.region, p.server)
}

// noDomain is the index of a missing domain.
const noDomain int32 = -1

// Listener is a configured address of the node.
type Listener struct {
	Key, Address string
	Protocols    []string // tcp, udp
	// Network returns the network name of package net for a protocol and the address, such as tcp4, which selects the IP
	// versions.
	Network func(protocol, address string) string
}

// Listeners returns every address that the node listens on.
func (c *Config) Listeners() []Listener {
	both, stream := []string{"tcp", "udp"}, []string{"tcp"}
	list := []Listener{
		{"overwatch.gossip.bind_address", c.Overwatch.Gossip.BindAddress, both, settings.ListenNetwork},
	}
	for _, address := range c.DNS.ListenAddress {
		list = append(list, Listener{"dns.listen_address", address, both, settings.FamilyNetwork})
	}
	if c.API.Enabled {
		list = append(list, Listener{"api.address", c.API.Address, stream, settings.ListenNetwork})
	}
	if c.Metrics.Enabled && !c.OneListener() {
		list = append(list, Listener{"metrics.address", c.Metrics.Address, stream, settings.ListenNetwork})
	}
	return list
}

// OneListener reports whether the API's listener also serves metrics, because both have the same address.
func (c *Config) OneListener() bool {
	if !c.API.Enabled || !c.Metrics.Enabled {
		return false
	}
	of, remedy := settings.ParseListener(c.API.Address)
	other, otherRemedy := settings.ParseListener(c.Metrics.Address)
	return remedy+otherRemedy == "" && of == other && of.Port != 0
}

// Ports returns the ports of the listeners without duplicates, and without ports that the system chooses.
func (c *Config) Ports() (ports []uint16) {
	for _, l := range c.Listeners() {
		at, remedy := settings.ParseListener(l.Address)
		if remedy == "" && at.Port != 0 && !slices.Contains(ports, at.Port) {
			ports = append(ports, at.Port)
		}
	}
	return ports
}
