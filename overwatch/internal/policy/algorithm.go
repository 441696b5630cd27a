package policy

// Algorithm is a way of choosing among the backends of a name: routing_algorithm in files, routing_policy in the API.
type Algorithm string

// The algorithms that work.
const (
	RoundRobin Algorithm = "round-robin" // every serving backend alike
	Weighted   Algorithm = "weighted"    // in proportion to weight
	Failover   Algorithm = "failover"    // weighted inside the first region that has enough serving backends
	// Geolocation is weighted inside the client's region, or else inside the nearest one that serves.
	Geolocation Algorithm = "geolocation"
	// Proximity is weighted inside the region that is nearest to the client, and those hardly farther away.
	Proximity Algorithm = "proximity"
	// Latency is weighted among the backends that this node's own checks find fastest.
	Latency Algorithm = "latency"
	// ClientHash gives each client network one backend, and all of them their shares by weight.
	ClientHash Algorithm = "client-hash"
)

// DefaultAlgorithm serves a domain that names none.
const DefaultAlgorithm = RoundRobin

// Algorithms lists the algorithms that work, in the order in which they are documented.
func Algorithms() []Algorithm {
	return []Algorithm{RoundRobin, Weighted, Failover, Geolocation, Proximity, Latency, ClientHash}
}

// PoolAlgorithms lists those that may choose inside a region.
func PoolAlgorithms() []Algorithm { return []Algorithm{Weighted, RoundRobin, Latency, ClientHash} }

// ChoosesRegion says whether the algorithm chooses among regions first, and inside them only then.
func (a Algorithm) ChoosesRegion() bool { return a == Failover || a == Geolocation || a == Proximity }

// MayLackData says whether there are clients or moments that the algorithm knows too little of.
func (a Algorithm) MayLackData() bool { return a == Geolocation || a == Proximity || a == Latency }

// OnAllDown is what a name answers when none of its backends may serve, or fewer than its Minimum.
type OnAllDown string

// The last resorts.
const (
	ServFail    OnAllDown = "servfail"     // an error, so that resolvers try the next nameserver
	LastHealthy OnAllDown = "last_healthy" // the backends that were healthy last
	All         OnAllDown = "all"          // every backend
)
