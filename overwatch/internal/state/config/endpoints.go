package config

import (
	"fmt"
	"net/netip"
	"slices"

	"gslb.internal/shared/settings"
)

// serverKey identifies a server; it must be unique.
type serverKey struct {
	service string
	at      netip.AddrPort
}

// serverPlace is the position of a server: an index into regions and one into its servers.
type serverPlace struct{ region, server int32 }

func (p serverPlace) String() string {
	return fmt.Sprintf("regions[%d].servers[%d]", p.region, p.server)
}

// noDomain is the number of a domain that does not exist.
const noDomain int32 = -1

// maxChain bounds the servers of one domain that are compared one by one.
const maxChain = 16

// endpoints finds duplicate servers. The first maxChain servers of a domain are linked to one another by number,
// because a map of 400 000 servers would take 30 MB.
type endpoints struct {
	config *Config
	begin  []int32                   // by region: how many servers the regions before it have
	last   []serverPlace             // by domain: the one that was added last
	before []serverPlace             // by server, through all regions: the one of its domain added before it
	others map[serverKey]serverPlace // beyond maxChain of a domain, and those of no domain
}

// noServer ends a chain; the zero serverPlace is a server.
var noServer = serverPlace{region: -1}

func newEndpoints(c *Config) *endpoints {
	e := &endpoints{
		config: c, begin: make([]int32, len(c.Regions)), last: make([]serverPlace,
			len(c.Domains)), before: make([]serverPlace, c.CountServers()),
		others: map[serverKey]serverPlace{},
	}
	for i := 1; i < len(c.Regions); i++ {
		e.begin[i] = e.begin[i-1] + int32(len(c.Regions[i-1].Servers))
	}
	for i := range e.last {
		e.last[i] = noServer
	}
	return e
}

// add adds a server of a domain, or returns the earlier one with the same address and port.
func (e *endpoints) add(at serverPlace, s *Server, domain int32) (first serverPlace, again bool) {
	if domain == noDomain {
		return e.addOther(at, s)
	}
	length := 0
	for p := e.last[domain]; p != noServer; p = e.before[e.number(p)] {
		if other := &e.config.Regions[p.region].Servers[p.server]; other.Address == s.Address && other.Port == s.Port {
			return p, true
		}
		length++
	}
	if length == maxChain {
		return e.addOther(at, s)
	}
	e.before[e.number(at)] = e.last[domain]
	e.last[domain] = at
	return at, false
}

func (e *endpoints) addOther(at serverPlace, s *Server) (first serverPlace, again bool) {
	key := serverKey{s.Service, netip.AddrPortFrom(s.Address, s.Port)}
	if first, again = e.others[key]; !again {
		e.others[key] = at
	}
	return first, again
}

func (e *endpoints) number(p serverPlace) int32 { return e.begin[p.region] + p.server }

// Listener is an address that the configuration has the node listen on.
type Listener struct {
	Key, Address string
	Protocols    []string // tcp, udp
	// Network returns the network of package net for a protocol and the address, such as tcp4, which fixes the IP
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

// OneListener reports whether the API's listener also answers scrapes of metrics, because both have the same address.
func (c *Config) OneListener() bool {
	if !c.API.Enabled || !c.Metrics.Enabled {
		return false
	}
	of, remedy := settings.ParseListener(c.API.Address)
	other, otherRemedy := settings.ParseListener(c.Metrics.Address)
	return remedy+otherRemedy == "" && of == other && of.Port != 0
}

// Ports returns the ports of the listeners, each once, without those that the system chooses.
func (c *Config) Ports() (ports []uint16) {
	for _, l := range c.Listeners() {
		at, remedy := settings.ParseListener(l.Address)
		if remedy == "" && at.Port != 0 && !slices.Contains(ports, at.Port) {
			ports = append(ports, at.Port)
		}
	}
	return ports
}
