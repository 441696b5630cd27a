package policy

import (
	"net/netip"
	"time"

	"gslb.internal/shared/model"
)

// MaxLastResortTTL bounds, in seconds, how long an answer from backends that may not serve is kept by resolvers.
const MaxLastResortTTL = 30

// LastHealthySpan widens the moment at which a name last had enough healthy backends: those that were lost up to this
// long before it count too, since backends that fail together are noticed one after another.
const LastHealthySpan = time.Minute

// Candidate is one backend of a name, with the data that a decision depends on.
type Candidate struct {
	Address     netip.Addr
	Region      string
	Weight      int       // 0 serves only when no other may
	Share       float64   // 0 to 1: what is left of the weight after bleeding and draining
	Among       int       // addresses of one host name that share the weight equally; 0 and 1: it is its own
	MayServe    bool      // its effective status allows it
	Forbidden   bool      // an operator took it out: not even a last resort
	Unknown     bool      // nothing is known of its health yet: a MinHealthy in percent does not count it
	LastHealthy time.Time // zero: never seen healthy
	Latency     Measurement

	// What explains a decision and does not change it.
	Port   uint16
	Target string // the host name whose address it is, "" for none
	Facts  *Facts // nil: nothing is known
}

// Measurement is the smoothed duration of this node's own checks of a backend.
type Measurement struct {
	Smoothed time.Duration // exponential moving average
	Samples  int           // successful checks that went into it
	Held     []string      // the groups (Decision.Group) in which it was among the fastest at the last decision
}

// Rules are a domain's settings that a decision depends on.
type Rules struct {
	Algorithm  *Algorithm            // nil: Weighted
	Fallback   *Algorithm            // where Algorithm lacks data; nil: Algorithm chooses all the same
	Pools      map[string]*Algorithm // inside a region that was chosen; Weighted where it has none
	Regions    []string              // in order of preference; regions that are not listed come last
	OnAllDown  OnAllDown
	MinHealthy Minimum // with fewer backends that may serve, the last resort answers
	TTL        uint32  // seconds
	// Names: answers are the names of targets. Each has its whole weight while one of its addresses may serve. Every
	// candidate has a Target, and addresses of both families count alike.
	Names bool
	Ports bool // decisions have Ports

	Client      string                 // geolocation: the client's region, empty for a client in none
	Coordinates map[string]Coordinates // where regions are, as far as that is known
	Position    *Coordinates           // proximity: where the client is; nil: not known
	// proximity: from -MaxBias, which makes a region seem far, to MaxBias; 0 where it has none
	Bias map[string]int
	// Domain has the parameters of algorithms; nil: none is set.
	Domain *model.Domain
}

// Parameters returns the settings of the domain with the parameters of algorithms. The caller must not change them.
func (r *Rules) Parameters() *model.Domain {
	if r.Domain == nil {
		return &model.Domain{}
	}
	return r.Domain
}

// NeedsRegion reports whether decisions may depend on the client's region.
func (r *Rules) NeedsRegion() bool { return r.either(func(a *Algorithm) bool { return a.NeedsRegion }) }

// NeedsPosition reports whether decisions may depend on the client's position.
func (r *Rules) NeedsPosition() bool {
	return r.either(func(a *Algorithm) bool { return a.NeedsPosition })
}

// Measures reports whether decisions may depend on how long checks take.
func (r *Rules) Measures() bool {
	if r.either(func(a *Algorithm) bool { return a.NeedsLatency }) {
		return true
	}
	for _, within := range r.Pools {
		if within != nil && within.NeedsLatency && r.either((*Algorithm).ChoosesRegion) {
			return true
		}
	}
	return false
}

// either reports whether something holds for the algorithm or its fallback.
func (r *Rules) either(holds func(*Algorithm) bool) bool {
	return r.Algorithm != nil && holds(r.Algorithm) || r.Fallback != nil && holds(r.Fallback)
}

// ClientBits has the lengths of the prefixes that make a client's network, by address family.
type ClientBits struct{ IPv4, IPv6 uint8 }

// Family is an address family of answers: A or AAAA.
type Family uint8

// The address families.
const (
	IPv4 Family = iota
	IPv6
)

// FamilyOf returns the family of an address.
func FamilyOf(a netip.Addr) Family {
	if a.Is4() {
		return IPv4
	}
	return IPv6
}

// QueryType returns the DNS type of the family: A or AAAA.
func (f Family) QueryType() string {
	if f == IPv6 {
		return "AAAA"
	}
	return "A"
}

// Takes reports whether a candidate may answer questions for a family.
func (r *Rules) Takes(f Family, c *Candidate) bool { return r.Names || f.Has(c.Address) }

// Has reports whether addr is of the family.
func (f Family) Has(addr netip.Addr) bool {
	return addr.Is4() == (f == IPv4)
}
