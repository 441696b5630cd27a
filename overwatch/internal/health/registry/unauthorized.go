package registry

// An agent may report a server that configuration or the API declares. If the declaration does not name the agent, the
// agent is an unauthorized reporter of the server:
//
//	report                       effect on a declared server, from an unauthorized reporter
//	unhealthy                    decides, unless the own checks of this node succeed
//	healthy, or a silent agent   the same as from any agent: the own check decides if there is one
//	a drain, an early warning    none
//	weight, region, check        none, from any agent: the declaration decides
//	the report itself            is shown, and is replaced by the report of the agent that the declaration names

// effectiveDeclaration returns the declaration of r with precedence, or nil.
func (r *record) effectiveDeclaration() *declared {
	if r.static != nil {
		return r.static
	}
	return r.api
}

// hasUnauthorizedReporter reports whether the agent that reports r differs from the agent that the declaration of r
// names.
func (r *record) hasUnauthorizedReporter() bool {
	d := r.effectiveDeclaration()
	return d != nil && r.report != nil && d.agent != r.report.agent.id
}

// canTakeOver reports whether a may replace the reporter of r: the declaration names a, and the current reporter is
// unauthorized.
func (r *record) canTakeOver(a *agent) bool {
	return r.hasUnauthorizedReporter() && r.effectiveDeclaration().agent == a.id
}
