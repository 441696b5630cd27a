package policy

// OnAllDown is the answer of a name when none of its backends may serve, or fewer than its Minimum.
type OnAllDown string

// The last resorts.
const (
	ServFail    OnAllDown = "servfail"     // an error, so that resolvers try the next nameserver
	LastHealthy OnAllDown = "last_healthy" // the backends that were healthy last
	All         OnAllDown = "all"          // every backend
)
