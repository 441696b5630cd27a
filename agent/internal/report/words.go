package report

import "gslb.internal/shared/wire"

// inWords returns a text about a reject code for the operator of this agent, with the remedy.
func inWords(code wire.RejectCode) string {
	switch code {
	case wire.CodeWrongToken:
		return "the overwatch node has another token for this service: compare agent.identity.service_token here with " +
			"overwatch.agent_tokens there; tokens are case-sensitive"
	case wire.CodeUnknownService:
		return "the overwatch node has no token for this service: add it to overwatch.agent_tokens there, or correct the " +
			"backend's service here"
	case wire.CodeRevoked:
		return "the overwatch node's operator revoked this agent: after the entry is deleted there, delete agent.crt and " +
			"agent.key here and restart"
	case wire.CodeExpired:
		return "this agent's certificate has expired: delete its pin on the overwatch nodes, delete agent.crt and " +
			"agent.key here, and restart"
	case wire.CodeNotYetValid:
		return "this agent's certificate is not valid yet by the overwatch node's clock: compare the two clocks"
	case wire.CodePinMismatch:
		return "the overwatch node has pinned another certificate for this agent id: delete that pin there if this is the " +
			"right agent, or give this one another agent.identity.agent_id"
	case wire.CodeConflictingClaim:
		return "another agent that is alive claims this backend: remove it from one of the two"
	case wire.CodeVersion:
		return "the overwatch node does not speak this agent's protocol version: upgrade the older of the two"
	case wire.CodeNotEnrolled:
		return "the overwatch node does not know this agent's certificate, or not for this service; the agent enrols"
	case wire.CodeLimit:
		return "this agent exceeds a limit of the overwatch node: backends or services of an agent, or agents of a " +
			"service (overwatch.agent_policies there); the agent retries"
	case wire.CodePolicy:
		return "the overwatch node does not allow a backend at this address: loopback, link-local and metadata addresses " +
			"need " +
			"overwatch.agent_policies.<service>.allowed_cidrs there, other networks must be in it where it is set, and the " +
			"node's own listeners are never backends"
	case wire.CodeUnavailable:
		return "the overwatch node cannot store this agent's pin; the agent retries"
	case wire.CodeLocked:
		return "the overwatch node takes no new agents with this service token, which was locked after a compromise: give " +
			"this agent the new token"
	case wire.CodeDuplicate:
		return "another process uses this agent's identity and reports to the overwatch node, so the backends of this " +
			"agent are not served: data_dir was copied; stop one of the two agents, run gslb-agent --reset-identity there " +
			"and give it its own agent.identity.agent_id"
	}
	return "the overwatch node refused something for a reason that this version does not know"
}
