package registry

// An agent may claim a server that configuration or the API declares. An agent is trusted with its own backends, and
// that server is one of its own only if the declaration names the agent. Any other is an outsider there:
//
//	what it says or asks for       effect on a declared server, by an outsider
//	unhealthy                      decides unless this node's own checks succeed
//	healthy, or silence            as of any agent: where this node has a verdict, that decides who serves
//	a drain, an early warning      none: they are no evidence, they ask for less traffic
//	weight, region, check          none, of any agent: those of the declaration count
//	the claim itself               is shown, and makes way for that of the agent that the declaration names

// authority returns the declaration that counts, nil where there is none.
func (r *record) authority() *declared {
	if r.static != nil {
		return r.static
	}
	return r.api
}

// outsider reports whether the agent that claims r is one that its declaration does not name.
func (r *record) outsider() bool {
	d := r.authority()
	return d != nil && r.claim != nil && d.agent != r.claim.agent.id
}

// preempts reports whether an agent may take the claim on r over, because an outsider has it.
func (r *record) preempts(a *agent) bool { return r.outsider() && r.authority().agent == a.id }
