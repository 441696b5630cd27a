package testbed

import (
	"time"
)

// The documented maximum times of restarts (rows 1 and 10 of the fault matrix), and the additional time of an agent's
// backoff.
const (
	DNSBackBound    = time.Second
	AgentBackBound  = 3 * time.Second
	ReconnectBound  = 20 * time.Second
	StaleResolution = 200 * time.Millisecond // interval of API requests
)

// RefusalBound is the promised time until a rejected agent logs the reason: "within seconds".
const RefusalBound = 15 * time.Second

// CreatedName is a name that exists only in the API.
const CreatedName = "created.test.gslb.test"

// The zones of the DNSSEC tests: one below the other, so that one signs the other's DS.
const (
	ZoneName  = "test.gslb.test"
	ChildZone = "child.test.gslb.test"
)

// Databases is the directory of MaxMind's test databases, relative to a package of tests. The other constants are
// clients in it; the last has no position.
const (
	Databases    = "../../overwatch/internal/answer/geo/testdata/"
	ClientLondon = "81.2.69.142/32"
	ClientUS     = "216.160.83.56/32" // Milton, Washington
	ClientSweden = "89.160.20.112/32"
	ClientNobody = "192.0.2.1/32"
)
