package policy

import (
	"net/netip"
	"time"

	"gslb.internal/shared/model"
)

// MaxFallbackTTL is the maximum TTL of fallback answers, in seconds.
const MaxFallbackTTL = 30

// LastHealthyWindow extends the time at which a name last had enough healthy backends. Backends that failed up to this
// duration earlier are included, because failures of one cause are detected at different times.
const LastHealthyWindow = time.Minute

// Candidate is a backend of a name, with the data that decisions use.
type Candidate struct {
	Address      netip.Addr
	Region       string
	Weight       int       // 0: serves only if no other backend can
	Share        float64   // 0 to 1: remaining part of the weight after early warnings and drains
	AddressCount int       // number of addresses of one host name that share the weight equally; 0 and 1: not shared
	MayServe     bool      // the effective status permits serving
	Forbidden    bool      // removed by an operator, even from fallback answers
	Withdrawn    bool      // an override, or a drain of an operator or the agent, removes it
	Unknown      bool      // the health is unknown: a MinHealthy in percent ignores the backend
	LastHealthy  time.Time // zero if it was never healthy
	Latency      LatencyMeasurement

	// Data that explains decisions, without influence on them.
	Port   uint16
	Target string         // host name that resolved to the address; "" if missing
	Info   *CandidateInfo // nil if unknown
}

// LatencyMeasurement is the smoothed duration of this node's own checks of a backend.
type LatencyMeasurement struct {
	Smoothed time.Duration // exponential moving average
	Samples  int           // number of successful checks
	Groups   []string      // groups (Decision.Group) in which the backend was among the fastest at the last decision
}

// Rules contains the settings of a domain that decisions use.
type Rules struct {
	Algorithm  *Algorithm            // nil means Weighted
	Fallback   *Algorithm            // used if Algorithm lacks data; nil: Algorithm decides without the data
	Pools      map[string]*Algorithm // algorithm within a selected region; Weighted if missing
	Regions    []string              // in order of preference; other regions follow
	OnAllDown  OnAllDown
	MinHealthy Minimum // with fewer serving backends, the fallback answer applies
	TTL        uint32  // seconds
	// AnswerNames: answers are alias targets. A target has its whole weight while one of its addresses can serve. Each
	// candidate has a Target, and addresses of both families are equivalent.
	AnswerNames bool
	WithPorts   bool // decisions contain Ports

	// AwaitingFailback has the regions that were down and must not serve before their failback, unless no other region
	// can serve.
	AwaitingFailback []string

	Client      string                 // geolocation, geofence: region of the client; empty if it has none
	Coordinates map[string]Coordinates // known positions of regions
	Position    *Coordinates           // proximity: position of the client; nil if unknown
	// proximity: percent from -MaxBias (appears farther) to MaxBias (appears nearer); 0 if missing
	Bias map[string]int
	// Domain contains the parameters of algorithms; nil means defaults.
	Domain *model.Domain
}

// Parameters returns the settings of the domain with the parameters of algorithms. The caller must not change them.
func (r *Rules) Parameters() *model.Domain {
	if r.Domain == nil {
		return &model.Domain{}
	}
	return r.Domain
}

// NeedsRegion reports whether decisions can depend on the client's region.
func (r *Rules) NeedsRegion() bool {
	return r.hasGeofence() || r.anyAlgorithm(func(a *Algorithm) bool { return a.NeedsRegion })
}

// NeedsPosition reports whether decisions can depend on the client's position.
func (r *Rules) NeedsPosition() bool {
	return r.anyAlgorithm(func(a *Algorithm) bool { return a.NeedsPosition })
}

// UsesLatency reports whether decisions can depend on measured latency.
func (r *Rules) UsesLatency() bool {
	if r.anyAlgorithm(func(a *Algorithm) bool { return a.NeedsLatency }) {
		return true
	}
	for _, within := range r.Pools {
		if within != nil && within.NeedsLatency && r.anyAlgorithm((*Algorithm).ChoosesRegion) {
			return true
		}
	}
	return false
}

// anyAlgorithm reports whether holds returns true for the algorithm or its fallback.
func (r *Rules) anyAlgorithm(holds func(*Algorithm) bool) bool {
	return r.Algorithm != nil && holds(r.Algorithm) || r.Fallback != nil && holds(r.Fallback)
}

// ClientBits contains the prefix lengths of client networks by address family.
type ClientBits struct{ IPv4, IPv6 uint8 }

// Family is the address family of answers: A or AAAA.
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

// QueryType returns the record type of the family: A or AAAA.
func (f Family) QueryType() string {
	if f == IPv6 {
		return "AAAA"
	}
	return "A"
}

// Accepts reports whether a candidate can answer queries of a family.
func (r *Rules) Accepts(f Family, c *Candidate) bool { return r.AnswerNames || f.Contains(c.Address) }

// Contains reports whether addr belongs to the family.
func (f Family) Contains(addr netip.Addr) bool {
	return addr.Is4() == (f == IPv4)
}
