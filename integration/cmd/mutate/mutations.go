package main

// mutation is a documented property, a replacement of text that breaks the property, and the test that must notice.
type mutation struct {
	property  string
	file      string // from the top of the workspace
	from, to  string
	pkg, test string
}

const inside = "overwatch/internal/"

// mutations are the properties that the command breaks on purpose.
var mutations = []mutation{
	{
		"a stale backend with failing checks is not in answers",
		inside + "health/status/effective.go",
		"Conclusion{isStale, false, ReasonStaleFailing}",
		"Conclusion{isStale, true, ReasonStaleFailing}",
		inside + "health/status", "TestEffective_IsTheTableOfTheManualForEveryInput",
	},
	{
		"a backend that its agent calls unhealthy is not answered",
		inside + "health/status/effective.go",
		"Conclusion{isUnhealthy, false, ReasonAgentUnhealthy}",
		"Conclusion{isHealthy, true, ReasonAgentUnhealthy}",
		inside + "health/registry", "TestTransition_ChangesOneBackend",
	},
	{
		"a backend that has been drained is not answered",
		inside + "health/status/serving.go",
		"s.MayServe, s.Reason = false, ReasonDrained",
		"s.MayServe, s.Reason = true, ReasonDrained",
		inside + "health/registry", "TestDrain_LowersTheShareLinearlyThenStopsServing",
	},
	{
		"each answer of a signed zone has signatures",
		inside + "answer/zone/signature.go",
		"for _, data := range records {\n\t\twire",
		"for _, data := range records[:0] {\n\t\twire",
		inside + "answer/zone", "TestSigned_EveryAnswerValidates",
	},
	{
		"a name that exists without the type is NODATA",
		inside + "answer/dnsserver/reply.go",
		"case zone.NoData:\n\t\to.status = noData",
		"case zone.NoData:\n\t\to.status, o.rcode = nxDomain, dns.RcodeNameError",
		inside + "answer/dnsserver", "TestRespond_Records",
	},
	{
		"a replayed message is refused",
		"shared/identity/epoch.go",
		"return epoch > w.epoch || (epoch == w.epoch && seq > w.seq)",
		"return true",
		inside + "health/trust", "TestOpen_RefusesAReplayInTheSameProcess",
	},
	{
		"a wrong token proves no service",
		inside + "health/trust/enrol.go",
		"return hmac.Equal(want[:], p.MAC[:])",
		"return hmac.Equal(want[:], p.MAC[:]) || true",
		inside + "health/trust", "TestEnrol_WrongTokenIsRefused",
	},
	{
		"reports of a revoked agent are rejected",
		inside + "health/trust/open.go",
		"if a.pinned.rights.Load().revoked {",
		"if false {",
		inside + "health/trust", "TestRevoke_IsInEffectAtOnceAndForEver",
	},
	{
		"a token that may read may change nothing",
		inside + "operate/httpapi/operation.go",
		"\treturn api.RoleAdmin\n",
		"\treturn api.RoleRead\n",
		inside + "operate/httpapi", "TestTokens_EachRoleMayDoWhatTheTableSays",
	},
	{
		"a flood from a network is limited",
		inside + "answer/dnsserver/ratelimit.go",
		"if excess == 0 ||",
		"if excess >= 0 ||",
		inside + "answer/dnsserver", "TestRateLimit_BoundsIdenticalResponsesToOneNetwork",
	},
	{
		"a pin survives a restart",
		inside + "state/store/pins.go",
		"return s.ChangePins(PinChange{Put: []Pin{p}}, with...)",
		"return s.ChangePins(PinChange{}, with...)",
		inside + "state/store", "TestPins_SurviveReopening",
	},
	{
		"an acknowledged change survives a kill",
		inside + "control/change.go",
		"return p.store.Write(changes, notes...)\n\t})",
		"return nil\n\t})",
		"integration/api", "TestCreated_SurvivesAKillAndIsAnsweredBeforeTheCallReturns",
	},
}
