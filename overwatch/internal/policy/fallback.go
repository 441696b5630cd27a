package policy

// OnAllDown is the fallback answer of a name with fewer serving backends than its Minimum.
type OnAllDown string

// The fallback answers.
const (
	ServFail    OnAllDown = "servfail"     // SERVFAIL, so that resolvers try the next nameserver
	LastHealthy OnAllDown = "last_healthy" // the last healthy backends
	All         OnAllDown = "all"          // all backends
)
