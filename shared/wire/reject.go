package wire

// RejectCode is the reason why a node rejected a message.
type RejectCode uint8

// The reasons, with their numbers on the wire.
const (
	CodeWrongToken       RejectCode = 1  // the proof does not match the service's token
	CodeUnknownService   RejectCode = 2  // the node has no token for the service
	CodeRevoked          RejectCode = 3  // an operator revoked the agent
	CodeExpired          RejectCode = 4  // the certificate's validity has ended
	CodeNotYetValid      RejectCode = 5  // the certificate's validity has not begun
	CodePinMismatch      RejectCode = 6  // another certificate is pinned for this agent id
	CodeConflictingClaim RejectCode = 7  // another live agent reports the backend
	CodeVersion          RejectCode = 8  // unsupported protocol version
	CodeBootNonce        RejectCode = 9  // for an earlier process of the node: restart with Hello
	CodeNotEnrolled      RejectCode = 10 // the node has no pin for the certificate, or no pin for the service
	CodeLimit            RejectCode = 11 // more backends, services or agents than allowed, or a high rate of new agents
	// the address is not allowed for a backend, by agent_policies or by the rules that apply without policies
	CodePolicy      RejectCode = 12
	CodeUnavailable RejectCode = 13 // the node cannot store a pin at present: retry later
	CodeLocked      RejectCode = 14 // the service's token admits no new agents: an operator locked it
	// a later process with the same certificate reports; since 1.2
	CodeDuplicate RejectCode = 15
	// a later process with the same certificate has stopped: enroll with an epoch above Reject.Epoch; since 1.2
	CodeNewEpoch RejectCode = 16
)

var codeNames = []string{
	CodeWrongToken:       "wrong_token",
	CodeUnknownService:   "unknown_service",
	CodeRevoked:          "revoked",
	CodeExpired:          "expired",
	CodeNotYetValid:      "not_yet_valid",
	CodePinMismatch:      "pin_mismatch",
	CodeConflictingClaim: "conflicting_claim",
	CodeVersion:          "version",
	CodeBootNonce:        "boot_nonce",
	CodeNotEnrolled:      "not_enrolled",
	CodeLimit:            "limit",
	CodePolicy:           "policy",
	CodeUnavailable:      "unavailable",
	CodeLocked:           "locked",
	CodeDuplicate:        "duplicate_identity",
	CodeNewEpoch:         "new_epoch",
}

// String returns the name of the code in logs, metrics and the API.
func (c RejectCode) String() string { return named(c, codeNames, "code") }
