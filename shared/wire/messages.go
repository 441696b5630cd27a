package wire

import "net/netip"

// Hello is how an overwatch node introduces itself to an agent that dialled it.
type Hello struct {
	NodeID      string
	Version     string
	BootNonce   [16]byte // of this node process; every message to it carries it
	Certificate []byte   // the node's, DER; agents pin it at first use
	Share       [32]byte // for a session: see identity.Exchange; zero: the node has no sessions; since 1.1
}

// Enrol asks a node to pin the agent's certificate for the services that the proofs cover.
type Enrol struct {
	AgentID     string // also the certificate's common name
	Region      string
	Version     string
	Certificate []byte // DER
	Proofs      []Proof
	Share       [32]byte // for a session with the node whose Hello has one; zero: the agent wants none; since 1.1
}

// Proof shows that the sender knows the token of one service, without showing the token: see identity.Proof.
type Proof struct {
	Service string
	MAC     [32]byte
}

// Heartbeat is the whole state of an agent. Only the newest counts, so a lost one does no harm.
type Heartbeat struct {
	Region          string
	Version         string
	UptimeSeconds   uint64
	IntervalMillis  uint32 // until the next one
	MissedThreshold uint32 // of these missing in a row, the agent counts as dead
	Backends        []Backend
	Figures         Figures
}

// Figures are an agent's own measurements.
type Figures struct {
	CPUPercent    uint16 // hundredths of a percent; 0 when unknown
	MemoryPercent uint16 // hundredths of a percent; 0 when unknown
	ChecksTotal   uint64 // health checks made since the agent started
	ChecksFailed  uint64 // those of them that failed; since 1.1
	Cores         uint16 // processors that the agent may use; 0 when unknown; since 1.1
}

// Transition says at once that one backend changed; the heartbeats repeat it.
type Transition struct {
	Backend Backend
}

// Deregister is an agent's goodbye: its backends leave the answers now rather than when they go stale.
type Deregister struct {
	Reason string // for people
}

// Signal says at once which early warnings hold now; the heartbeats repeat it. A backend of the agent's that is not named has none.
type Signal struct {
	Backends []Warned
}

// Warned is one backend with early warnings.
type Warned struct {
	Service  string
	Address  netip.Addr
	Port     uint16
	Warnings Warnings
}

// Warnings are the early warnings about one backend. Each is the time over which traffic is to be reduced, in milliseconds,
// and 0 while there is no such warning.
type Warnings struct {
	CPUMillis       uint32
	MemoryMillis    uint32
	ErrorRateMillis uint32
}

// Drain says at once that all of the agent's backends are to be drained, as at its shutdown; the heartbeats repeat it.
type Drain struct {
	OverMillis uint32 // 0: the node decides
}

// Backend is one backend as its agent sees it.
type Backend struct {
	Service              string // lower case, without trailing dot
	Address              netip.Addr
	Port                 uint16
	Weight               uint16
	Claim                Claim
	Draining             bool
	ConsecutiveFailures  uint32
	ConsecutiveSuccesses uint32
	LatencyMicros        uint32 // of the last check; 0 when unknown
	LastError            string // of the last failed check, for people
	Check                Check
	Warnings             Warnings
	DrainMillis          uint32 // over which traffic is to end while Draining; 0: the node decides
}

// Check is how the agent checks the backend, so that nodes can check it likewise.
type Check struct {
	Type               string // "http", "https", "tcp", "grpc" or "grpcs"; a later version may add others
	Path               string
	Host               string
	TimeoutMillis      uint32
	IntervalMillis     uint32
	FailureThreshold   uint16
	SuccessThreshold   uint16
	ServerName         string // https
	InsecureSkipVerify bool   // https

	// What few checks have; "" for what is not used. What a tcp check sends does not travel: a node sends no octets that an
	// agent chose.
	Method         string // http, https
	Headers        string // http, https: "Name: value", one in a line
	ExpectedStatus string // http, https
	BodyContains   string // http, https
	BodyMatches    string // http, https: a regular expression
	Expect         string // tcp
	GRPCService    string // grpc
	Authorities    string // https: certificates in PEM
	Counting       string
}

// Ack says that a message was taken.
type Ack struct {
	AckedType Type
	AckedSeq  uint64
	Services  []string       // those that the agent's certificate speaks for now
	Refused   []RefusedClaim // the parts of the message that were not taken
}

// RefusedClaim is a service (then without address and port) or a backend that a node did not take from an agent.
type RefusedClaim struct {
	Service string
	Address netip.Addr
	Port    uint16
	Code    RejectCode
}

// Reject says that a message was not taken.
type Reject struct {
	AckedType Type
	AckedSeq  uint64
	AckedKey  [32]byte // key id of the rejected message: an agent ignores what is not about its own certificate
	Code      RejectCode
	Service   string // the service concerned, if it is about one
	Detail    string // for people
}
