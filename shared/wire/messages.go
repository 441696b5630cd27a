package wire

import (
	"math"
	"net/netip"
	"time"

	"gslb.internal/shared/check"
)

// Hello is an overwatch node's introduction to an agent that dialled it.
type Hello struct {
	NodeID      string
	Version     string
	BootNonce   [16]byte // of this node process; every message to it carries it
	Certificate []byte   // the node's, DER; agents pin it at first use
	Share       [32]byte // for a session, see identity.Exchange; zero: the node offers none; since 1.1
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

// Proof proves knowledge of a service's token without revealing it: see identity.Proof.
type Proof struct {
	Service string
	MAC     [32]byte
}

// Heartbeat is the whole state of an agent. Only the latest counts, so a lost one does no harm.
type Heartbeat struct {
	Region          string
	Version         string
	UptimeSeconds   uint64
	IntervalMillis  uint32 // until the next one
	MissedThreshold uint32 // of these missing in a row, the agent is treated as dead
	Backends        []Backend
	Figures         Figures
	Rejected        []NodeCertificate // overwatch nodes with another certificate than the pinned one; since 1.2
}

// NodeCertificate names an overwatch node and the certificate in its Hello.
type NodeCertificate struct {
	NodeID string
	KeyID  [32]byte
}

// Figures are an agent's own measurements.
type Figures struct {
	CPUPercent    uint16 // hundredths of a percent; 0 when unknown
	MemoryPercent uint16 // hundredths of a percent; 0 when unknown
	ChecksTotal   uint64 // health checks made since the agent started
	ChecksFailed  uint64 // those of them that failed; since 1.1
	Cores         uint16 // processors that the agent may use; 0 when unknown; since 1.1
	RTTMicros     uint32 // round-trip time of its latest ping of the node that is told; 0 when unknown; since 1.1
}

// Transition reports immediately that one backend changed. The heartbeats repeat it.
type Transition struct {
	Backend Backend
}

// Deregister is an agent's goodbye: its backends leave the answers immediately instead of becoming
// stale.
type Deregister struct {
	Reason string // for people
}

// Signal reports immediately the current early warnings. The heartbeats repeat them. Backends that are
// not named have none.
type Signal struct {
	Backends []Warned
}

// Warned is a backend with early warnings.
type Warned struct {
	Service  string
	Address  netip.Addr
	Port     uint16
	Warnings Warnings
}

// Warnings are the early warnings about one backend. Each is the time in milliseconds over which
// traffic is to be reduced, or 0 without that warning.
type Warnings struct {
	CPUMillis       uint32
	MemoryMillis    uint32
	ErrorRateMillis uint32
}

// Millis returns the milliseconds of a warning or a drain: at least 1, since 0 means that there is none.
func Millis(over time.Duration) uint32 {
	return uint32(min(max(over.Milliseconds(), 1), math.MaxUint32))
}

// Drain reports immediately that all backends of the agent are to be drained, as at its shutdown. The
// heartbeats repeat it.
type Drain struct {
	OverMillis uint32 // 0: the node decides
}

// Backend is a backend as its agent sees it.
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
	CheckedAtMillis      uint64 // when the last check ended, Unix time by the agent's clock; 0: never; since 1.1
}

// Check is the agent's check of the backend, so that nodes can make the same one.
type Check struct {
	Type               string // "http", "https", "tcp", "grpc" or "grpcs"; a later version may add others
	Path               string
	Host               string
	TimeoutMillis      uint32
	IntervalMillis     uint32
	FailureThreshold   uint16
	SuccessThreshold   uint16
	ServerName         string // https, grpcs
	InsecureSkipVerify bool   // https, grpcs

	// Settings that few checks have. Send is omitted: a node sends no octets that an agent chose.
	check.Detail
}

// Ack means that a message was accepted.
type Ack struct {
	AckedType Type
	AckedSeq  uint64
	Services  []string       // services that the agent's certificate may speak for now
	Refused   []RefusedClaim // parts of the message that were refused
	// Duplicate is true while an earlier process with the agent's certificate sends messages too; since 1.2.
	Duplicate bool
	// Introduced lists those of Heartbeat.Rejected that have proved to the sender, by the secret of the nodes, that the
	// certificate is theirs; since 1.2.
	Introduced []NodeCertificate
}

// RefusedClaim is a service (then without address and port) or a backend whose report a node
// refused.
type RefusedClaim struct {
	Service string
	Address netip.Addr
	Port    uint16
	Code    RejectCode
	Rule    Rule // of CodePolicy; 0 when unknown; since 1.2
}

// Reject means that a message was refused.
type Reject struct {
	AckedType Type
	AckedSeq  uint64
	AckedKey  [32]byte // key id of the rejected message: an agent ignores a Reject for another certificate
	Code      RejectCode
	Service   string // the service concerned, if it is about one
	Detail    string // for people
	Epoch     uint64 // of CodeDuplicate and CodeNewEpoch: the latest epoch that the node has accepted; since 1.2
}
