package trust

import (
	"fmt"
	"math"
	"net/netip"
	"time"

	"gslb.internal/shared/tokenbucket"
)

// Limits bound the pins of a service. Existing pins stay.
type Limits struct {
	MaxAgents    int // maximum number of active pins; one source may have half of them
	NewPerSecond int // maximum rate of new pins of a source
}

// The default limits of a service.
const (
	DefaultMaxAgents    = 1024
	DefaultNewPerSecond = 10
)

// Limits of the new pins that a node accepts for all services together, as a rate and a burst, because each new pin
// costs a verification and a write. Each service has a small separate allowance, so that a flood for a service does not
// block the agents of other services. The new_per_second of a service replaces both limits for the service.
const (
	nodePerSecond, nodeBurst = 100, 1000 // a new node can pin 10,000 agents within 90 seconds
	ownPerSecond, ownBurst   = 0.5, 10
)

// newBurst is the burst of new pins of a source, in seconds of its rate.
const newBurst = 10

// maxPaced is the maximum number of sources with an individual rate limit. Further sources share a limit per service.
const maxPaced = 8192

// serviceSource is a service and a source (see HostOf) with pins of the service.
type serviceSource struct {
	service string
	host    netip.Prefix
}

// census counts the active pins of each service, and limits the rate of new pins. Trust.mu guards it.
type census struct {
	limits  map[string]Limits
	pins    map[string]int
	sources map[serviceSource]int
	paces   *tokenbucket.Keyed[serviceSource]
	shared  *tokenbucket.Keyed[string] // by service, for the sources beyond maxPaced
	own     *tokenbucket.Keyed[string] // by service
	node    tokenbucket.Bucket         // of all services
}

func newCensus(limits map[string]Limits) *census {
	return &census{
		limits: canonical(limits), pins: make(map[string]int), sources: make(map[serviceSource]int),
		paces:  tokenbucket.NewKeyed[serviceSource](maxPaced),
		shared: tokenbucket.NewKeyed[string](math.MaxInt), own: tokenbucket.NewKeyed[string](math.MaxInt),
		node: tokenbucket.New(tokenbucket.PerSecond(nodePerSecond, nodeBurst)),
	}
}

// limitsOf returns the limits of a service.
func (c *census) limitsOf(service string) Limits {
	l := c.limits[service]
	if l.MaxAgents <= 0 {
		l.MaxAgents = DefaultMaxAgents
	}
	if l.NewPerSecond <= 0 {
		l.NewPerSecond = DefaultNewPerSecond
	}
	return l
}

func (c *census) count(service string, host netip.Prefix, by int) {
	change(c.pins, service, by)
	if host.IsValid() {
		change(c.sources, serviceSource{service, host}, by)
	}
}

// change adds by to the count of key, and deletes the key at zero.
func change[K comparable](counts map[K]int, key K, by int) {
	if counts[key] += by; counts[key] <= 0 {
		delete(counts, key)
	}
}

// admit counts a new pin of a service from a source. Above a limit, admit counts no pin and returns a sentence about
// the limit. It returns "" on success.
func (c *census) admit(service string, host netip.Prefix, now time.Duration) string {
	l := c.limitsOf(service)
	at := fmt.Sprintf("overwatch.agent_policies[%q]", service)
	switch half := (l.MaxAgents + 1) / 2; {
	case c.pins[service] >= l.MaxAgents:
		return fmt.Sprintf("the service has %d agents and %s.max_agents is %d: raise the limit, or unpin unused agents",
			c.pins[service], at, l.MaxAgents)
	case host.IsValid() && c.sources[serviceSource{service, host}] >= half:
		return fmt.Sprintf("%s has %d agents of the service, half of %s.max_agents: raise it", host.Addr(), half, at)
	case !c.pace(serviceSource{service, host}, l, now):
		return fmt.Sprintf("new agents from %s exceed %s.new_per_second (%d): the agent retries",
			host.Addr(),
			at, l.NewPerSecond)
	case !c.nodeTakes(service, now):
		return fmt.Sprintf("this node accepts %d new agents a second in total: the agent retries, or set %s.new_per_second",
			nodePerSecond, at)
	}
	c.count(service, host, +1)
	return ""
}

// pace reports whether the rate limit of a source permits a new pin, and counts the pin.
func (c *census) pace(s serviceSource, l Limits, now time.Duration) bool {
	limit, at := tokenbucket.PerSecond(float64(l.NewPerSecond), l.NewPerSecond*newBurst), instant(now)
	b := c.paces.Bucket(s, limit, at)
	if b == nil {
		b = c.shared.Bucket(s.service, limit, at)
	}
	return b.Take(at)
}

// nodeTakes reports whether the allowance of a service or the shared allowance permits a new pin, and counts the pin.
func (c *census) nodeTakes(service string, now time.Duration) bool {
	if c.limits[service].NewPerSecond > 0 {
		return true
	}
	at := instant(now)
	own := c.own.Bucket(service, tokenbucket.PerSecond(ownPerSecond, ownBurst), at)
	return own.Take(at) || c.node.Take(at)
}

// HostOf returns the source of an address: an IPv4 address, or the /64 network of an IPv6 address.
func HostOf(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := 32
	if a.Is6() {
		bits = 64
	}
	host, _ := a.Prefix(bits) // an invalid address has no host
	return host
}

// Use is the use of the limits by a service.
type Use struct {
	Service    string
	Pins       int
	Limit      int
	Unreported int // pins of agents that have not reported
	Locked     bool
}
