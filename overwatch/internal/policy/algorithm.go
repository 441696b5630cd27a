package policy

// Algorithm declares a routing algorithm (routing_algorithm in files, routing_policy in the API). Configuration, API,
// explanations, completion and documentation use the declaration. Each algorithm has its own file in this package and
// an entry in Algorithms. Declarations are immutable.
type Algorithm struct {
	Name        string            // name in files and the API
	Title       string            // display name
	Kind        string            // category: static, geo, measured or hash
	Description string            // one sentence without the final period
	Parameters  map[string]string // settings of a domain or region that the algorithm uses, with their meaning

	NeedsRegion    bool // depends on the client's region
	NeedsPosition  bool // depends on the client's position
	NeedsLatency   bool // depends on the measured latency of this node's checks
	WithinRegion   bool // can select backends within a region that another algorithm selected
	IgnoresWeights bool // all backends have equal shares
	AssignsClients bool // assigns each client network to one backend instead of rotating

	// RegionExplanation explains the selected region, which replaces %s. Empty if the client's region is the
	// explanation.
	RegionExplanation string

	// hasData reports whether the data of the client and candidates is sufficient; nil means always.
	hasData func(s *selection) bool
	// chooseRegion selects a region, or several regions that share the answers; nil if the algorithm ignores regions.
	chooseRegion func(s *selection) regionChoice
	// choose reduces the remaining candidates. group is Decision.Group. Nil selects all remaining candidates.
	choose func(s *selection, group string)
}

// DefaultAlgorithm is the name of the default algorithm of a domain.
const DefaultAlgorithm = "round-robin"

// Algorithms returns all algorithms in the order of the documentation.
func Algorithms() []*Algorithm {
	return []*Algorithm{RoundRobin, Weighted, Failover, Geolocation, Proximity, Latency, ClientHash}
}

// PoolAlgorithms returns the algorithms that can select backends within a region, in the order of Algorithms.
func PoolAlgorithms() (within []*Algorithm) {
	for _, a := range Algorithms() {
		if a.WithinRegion {
			within = append(within, a)
		}
	}
	return within
}

// FindAlgorithm returns the algorithm with a name; nil if there is no such algorithm.
func FindAlgorithm(name string) *Algorithm {
	for _, a := range Algorithms() {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// AlgorithmNames returns the names of algorithms, in the same order.
func AlgorithmNames(algorithms []*Algorithm) []string {
	names := make([]string, len(algorithms))
	for i, a := range algorithms {
		names[i] = a.Name
	}
	return names
}

// String returns the name; "" for nil.
func (a *Algorithm) String() string {
	if a == nil {
		return ""
	}
	return a.Name
}

// ChoosesRegion reports whether the algorithm selects a region before another algorithm selects backends in this
// region. It returns false for nil.
func (a *Algorithm) ChoosesRegion() bool { return a != nil && a.chooseRegion != nil }

// MayLackData reports whether the algorithm needs client data or measurements that may be missing.
func (a *Algorithm) MayLackData() bool { return a.hasData != nil }

// regionChoice is the result of Algorithm.chooseRegion.
type regionChoice struct {
	region   string   // selected region; the nearest if several regions share
	shared   []string // regions that share the answers, including region; nil if region is the only one
	reason   Reason   // reason for excluding the candidates of other regions
	failover bool     // healthy candidates in other regions would change the selection
}

// Settings of a domain or region that several algorithms use, with their meaning.
const (
	weightKey    = "weight"
	weightText   = "of each backend: the share is proportional; a backend with 0 serves only if no other can"
	regionsKey   = "regions"
	regionsText  = "the order in which regions are preferred"
	withinKey    = "regions[].routing_algorithm"
	withinText   = "how backends inside the region are chosen: weighted, round-robin, latency or client-hash"
	fallbackKey  = "fallback_algorithm"
	fallbackText = "algorithm for clients or backends without the required data"
	failbackKey  = "failback"
	failbackText = "when clients return to a region that was down: automatic, manual or after a time"
)
