package conditions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

// walkTroubles reports the agents that this node rejects, and agents with a copied identity.
func (j *Judge) walkTroubles(to report) {
	for _, one := range listed(j.o.Troubles) {
		kind, command := api.AgentRefused, "gslbctl agents show "+one.AgentID
		switch one.Code {
		case wire.CodeDuplicate:
			kind = api.AgentDuplicate
		case wire.CodePinMismatch:
			command = "gslbctl agents unpin " + one.AgentID
		}
		to(kind, one.AgentID, func() (string, string) { return DescribeTrouble(&one), command })
	}
}

// DescribeTrouble describes a problem of an agent with its remedy in one sentence.
func DescribeTrouble(one *trust.Trouble) string {
	about := fmt.Sprintf("agent %s is refused", one.AgentID)
	if one.From.IsValid() {
		about = fmt.Sprintf("agent %s at %s is refused", one.AgentID, one.From)
	}
	switch one.Code {
	case wire.CodeDuplicate:
		return fmt.Sprintf("two agents report as %s, the refused one from %s: data_dir was copied; stop one of the two, "+
			"run gslb-agent --reset-identity there and give it its own agent_id", one.AgentID, one.From)
	case wire.CodePinMismatch:
		return fmt.Sprintf("%s: it has a new certificate (%s), which happens if its data_dir was lost; if it is yours, "+
			"delete the old pin (gslbctl agents unpin %s) and give the agent a permanent data_dir", about,
			shortened(one.KeyID.Fingerprint()), one.AgentID)
	case wire.CodeExpired:
		return fmt.Sprintf("%s: its certificate has expired; stop the agent, run gslb-agent --reset-identity there, "+
			"delete the pin (gslbctl agents unpin %s), then start the agent", about, one.AgentID)
	case wire.CodeNotYetValid:
		return about + ": " + one.Detail
	case wire.CodeWrongToken:
		return fmt.Sprintf("%s: it has another token for %s than this node; compare agent.identity.service_token there "+
			"with overwatch.agent_tokens here", about, one.Service)
	case wire.CodeUnknownService:
		return fmt.Sprintf("%s: this node has no token for %s; add it to overwatch.agent_tokens, or correct the service "+
			"of the backend", about, one.Service)
	}
	return fmt.Sprintf("%s (%s): %s", about, one.Code, one.Detail)
}

// shortened returns the first 12 digits of a fingerprint.
func shortened(fingerprint string) string {
	return fingerprint[:min(len("sha256:")+12, len(fingerprint))] + "..."
}

// troubledAgents returns the set of agents with a problem.
func (j *Judge) troubledAgents() map[string]bool {
	agents := map[string]bool{}
	for _, one := range listed(j.o.Troubles) {
		agents[one.AgentID] = true
	}
	return agents
}

// walkRefused reports the refused backends of agents.
func (j *Judge) walkRefused(to report) {
	refused := func(a *registry.AgentState) bool { return len(a.Refused) > 0 && !a.HasLeft() }
	for _, a := range j.agents(refused) {
		for _, r := range a.Refused {
			if !lasts(r) {
				continue
			}
			to(api.BackendRefused, refusedBackend(r), func() (string, string) {
				return DescribeRefused(a.ID, r), "gslbctl agents show " + a.ID
			})
		}
	}
}

// lasts reports whether the node rejects the agent until an operator repairs the cause.
func lasts(r wire.RefusedClaim) bool {
	switch r.Code {
	case wire.CodePolicy, wire.CodeConflictingClaim, wire.CodeLimit:
		return r.Port != 0
	}
	return false
}

// refusedBackend returns the ID of a rejected backend.
func refusedBackend(r wire.RefusedClaim) string {
	return registry.ID{Service: r.Service, Address: r.Address.Unmap(), Port: r.Port}.String()
}

// DescribeRefused describes the rejection of an agent's backend, with the rule and the remedy.
func DescribeRefused(agentID string, r wire.RefusedClaim) string {
	why := cmp.Or(r.Rule.String(), r.Code.String())
	switch r.Code {
	case wire.CodeConflictingClaim:
		why = "another agent that is alive reports it: remove it from one of the two"
	case wire.CodeLimit:
		why = fmt.Sprintf("the agent has more than %d backends: divide them among two agents", wire.MaxBackends)
	}
	return fmt.Sprintf("backend %s of agent %s is refused: %s", refusedBackend(r), agentID,
		strings.ReplaceAll(why, "<service>", r.Service))
}

// refusedOf describes at most three rejected backends of a name, or returns "" if there are none.
func (j *Judge) refusedOf(name string) string {
	const shown = 3
	var texts []string
	for a := range j.o.View.EachAgent() {
		for _, r := range a.Refused {
			if r.Service == name && lasts(r) && !a.HasLeft() {
				texts = append(texts, DescribeRefused(a.ID, r))
			}
		}
	}
	slices.Sort(texts)
	if more := len(texts) - shown; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(texts[:shown], ", "), more)
	}
	return strings.Join(texts, ", ")
}

// Problems returns sentences about the rejected messages and backends of an agent.
func Problems(agentID string, troubles []trust.Trouble, refused []wire.RefusedClaim) []string {
	problems := []string{}
	for i := range troubles {
		if troubles[i].AgentID == agentID {
			problems = append(problems, DescribeTrouble(&troubles[i]))
		}
	}
	for _, r := range refused {
		if lasts(r) {
			problems = append(problems, DescribeRefused(agentID, r))
		}
	}
	return problems
}
