package policy

// Algorithm declares one way of choosing among the backends of a name: routing_algorithm in files, routing_policy in
// the API. Configuration, API, explanations, completion and documentation take all that they say of an algorithm from
// its declaration. Each algorithm has a file of its own here and a line in Algorithms. A declaration never changes.
type Algorithm struct {
	Name        string            // as it is written in files
	Title       string            // as people read it
	Kind        string            // by what it chooses: static, geo, measured or hash
	Description string            // one sentence without its full stop
	Parameters  map[string]string // the keys of a domain or region that it reads, and their meaning

	NeedsRegion    bool // its choice depends on the client's region
	NeedsPosition  bool // its choice depends on the client's position
	NeedsLatency   bool // its choice depends on how long this node's checks take
	WithinRegion   bool // it may choose inside a region that another algorithm chose
	IgnoresWeights bool // it gives every backend the same share
	KeepsClients   bool // it gives each client network one backend, instead of letting them take turns

	// WhyRegion explains the choice of a region, for which %s stands; empty where the client's region explains it.
	WhyRegion string

	// hasData reports whether enough is known of the client and the candidates; nil: nothing needs to be known.
	hasData func(s *selection) bool
	// chooseRegion chooses a region, or several that share the answers; nil: the algorithm looks at no regions.
	chooseRegion func(s *selection) regionChoice
	// choose narrows the candidates that are left, inside the group that Decision.Group names; nil: it keeps them all.
	choose func(s *selection, group string)
}

// DefaultAlgorithm names the algorithm of a domain that names none.
const DefaultAlgorithm = "round-robin"

// Algorithms lists the algorithms in the order in which they are documented.
func Algorithms() []*Algorithm {
	return []*Algorithm{RoundRobin, Weighted, Failover, Geolocation, Proximity, Latency, ClientHash}
}

// PoolAlgorithms lists those that may choose inside a region, in the order of Algorithms.
func PoolAlgorithms() (within []*Algorithm) {
	for _, a := range Algorithms() {
		if a.WithinRegion {
			within = append(within, a)
		}
	}
	return within
}

// Named returns the algorithm of a name, or nil if there is none.
func Named(name string) *Algorithm {
	for _, a := range Algorithms() {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// Names returns the names of algorithms, in their order.
func Names(algorithms []*Algorithm) []string {
	names := make([]string, len(algorithms))
	for i, a := range algorithms {
		names[i] = a.Name
	}
	return names
}

// String returns the name, empty for nil.
func (a *Algorithm) String() string {
	if a == nil {
		return ""
	}
	return a.Name
}

// ChoosesRegion reports whether the algorithm first chooses a region, inside which another algorithm chooses. It is
// false for nil.
func (a *Algorithm) ChoosesRegion() bool { return a != nil && a.chooseRegion != nil }

// MayLackData reports whether the algorithm needs data of the client or of checks that may be missing.
func (a *Algorithm) MayLackData() bool { return a.hasData != nil }

// regionChoice is the result of Algorithm.chooseRegion.
type regionChoice struct {
	region string   // the one that serves; of several, the nearest
	shared []string // those that share the answers, region included; nil: region alone
	reason Reason   // why candidates of other regions do not answer
	over   bool     // the choice would be another, were all candidates fit to serve
}

// Keys of a domain or a region that several algorithms read, with their meaning.
const (
	weightKey   = "weight"
	weightText  = "of each backend: its share is in proportion to it; 0 serves only when no other may"
	regionsKey  = "regions"
	regionsText = "the order in which regions are preferred"
	withinKey   = "regions[].routing_algorithm"
	withinText  = "how backends inside the region are chosen: weighted, round-robin, latency or client-hash"
	instead     = "fallback_algorithm"
	insteadText = "another algorithm for what this one knows too little of"
)
