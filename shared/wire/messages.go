package wire

import (
	"math"
	"net/netip"
	"time"

	"gslb.internal/shared/check"
)

// Hello is the first message of an overwatch node to an agent that has connected.
type Hello struct {
	NodeID      string
	Version     string
	BootNonce   [16]byte // of this node process, for every message to it
	Certificate []byte   // the node's, DER; agents pin it at first use
	Share       [32]byte // for a session, see identity.Exchange; zero: the node offers none; since 1.1
}

// Enrol requests that a node pins the agent's certificate for the services of the proofs.
type Enrol struct {
	AgentID     string // also the certificate's common name
	Region      string
	Version     string
	Certificate []byte // DER
	Proofs      []Proof
	Share       [32]byte // for a session with a node that offers a share; zero: no session; since 1.1
}

// Proof proves knowledge of a service's token without revealing it: see identity.Proof.
type Proof struct {
	Service string
	MAC     [32]byte
}

// Heartbeat is the whole state of an agent. Each Heartbeat replaces the previous one, so a lost message is harmless.
type Heartbeat struct {
	Region          string
	Version         string
	UptimeSeconds   uint64
	IntervalMillis  uint32 // until the next heartbeat
	MissedThreshold uint32 // number of consecutive missing heartbeats after which the agent is treated as dead
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
	ChecksFailed  uint64 // failed health checks; since 1.1
	Cores         uint16 // processors that the agent may use; 0 when unknown; since 1.1
	RTTMicros     uint32 // round-trip time of its latest ping of the receiving node; 0 when unknown; since 1.1
}

// Transition reports immediately that a backend changed. The heartbeats repeat it.
type Transition struct {
	Backend Backend
}

// Deregister is the leave message of an agent: its backends leave the answers immediately instead of becoming stale.
type Deregister struct {
	Reason string // for people
}

// Signal reports the current early warnings immediately. The heartbeats repeat them. Backends that are not listed have
// no warnings.
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

// Warnings are the early warnings about a backend. Each is the time in milliseconds over which to reduce traffic, or 0
// without this warning.
type Warnings struct {
	CPUMillis       uint32
	MemoryMillis    uint32
	ErrorRateMillis uint32
}

// Millis returns the milliseconds of a warning or a drain: at least 1, since 0 means no warning or drain.
func Millis(over time.Duration) uint32 {
	return uint32(min(max(over.Milliseconds(), 1), math.MaxUint32))
}

// Drain reports immediately that all backends of the agent drain, as at its shutdown. The heartbeats repeat it.
type Drain struct {
	OverMillis uint32 // duration of the drain; 0: the node decides
}

// Backend is the state of a backend on its agent.
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
	DrainMillis          uint32 // duration of the drain while Draining; 0: the node decides
	CheckedAtMillis      uint64 // end of the last check, Unix time by the agent's clock; 0: never; since 1.1
}

// Check is the agent's check of the backend, so that nodes can make the same check.
type Check struct {
	Type               string // "http", "https", "tcp", "grpc" or "grpcs"; a later version may add types
	Path               string
	Host               string
	TimeoutMillis      uint32
	IntervalMillis     uint32
	FailureThreshold   uint16
	SuccessThreshold   uint16
	ServerName         string // https, grpcs
	InsecureSkipVerify bool   // https, grpcs

	// Settings that few checks have. Send is omitted: a node sends no octets that an agent has chosen.
	check.Detail
}

// Ack reports that the node accepted a message.
type Ack struct {
	AckedType Type
	AckedSeq  uint64
	Services  []string       // services that the agent may report with its certificate
	Refused   []RefusedClaim // rejected parts of the message
	// Duplicate is true while an earlier process also sends messages with the agent's certificate; since 1.2.
	Duplicate bool
	// Introduced lists the nodes of Heartbeat.Rejected that have proved to the sender, by the secret of the nodes, that
	// they own their certificates; since 1.2.
	Introduced []NodeCertificate
}

// RefusedClaim is a rejected report of a backend, or of a service, which has no address and port.
type RefusedClaim struct {
	Service string
	Address netip.Addr
	Port    uint16
	Code    RejectCode
	Rule    Rule // for CodePolicy; 0 when unknown; since 1.2
}

// Reject reports that the node rejected a message.
type Reject struct {
	AckedType Type
	AckedSeq  uint64
	AckedKey  [32]byte // key id of the rejected message: an agent ignores a Reject for another certificate
	Code      RejectCode
	Service   string // the affected service, if any
	Detail    string // for people
	Epoch     uint64 // for CodeDuplicate and CodeNewEpoch: the latest epoch that the node has accepted; since 1.2
}
