package httpapi

import "gslb.internal/shared/api"

// pinOperations concern many pins, and who may be pinned at all.
func pinOperations() []Operation {
	const service = "app.example.com"
	return []Operation{
		{Method: del, Path: v1 + "/overwatch/agents", Changes: KindNode, handle: (*Server).deleteAgents,
			Summary: "Delete the pins of many agents",
			Description: "Of one service: those that never reported, or that were pinned since a time, at most 500 in a call. " +
				"Revoked agents stay. Their processes may enrol again, if their tokens admit them.",
			Status: 200,
			Query: []Parameter{
				needed(text("service", "only of this service", nil)), flag("never_reported", "only those that never reported"),
				moment("pinned_since", "only those pinned since this time"), flag("dry_run", "only tell which"),
				ifSafeParameter(),
			},
			Answer: api.Unpinned{Unpinned: []string{"eu-west-host-7"}}, Errors: []int{conflict, noStore}},
		{Method: get, Path: v1 + "/overwatch/locks", handle: (*Server).listLocks, Query: none,
			Summary: "Services whose tokens admit no new agents", Status: 200,
			Answer: api.TokenLockList{Locks: []api.TokenLock{
				{Service: service, AgentID: "eu-west-host-1", Reason: "its key was stolen", LockedAt: at()},
			}, Total: 1, GeneratedAt: at()}},
		{Method: del, Path: v1 + "/overwatch/locks/{service}", Changes: KindLock, handle: (*Server).deleteLock,
			Summary: "Have the locked tokens of a service admit new agents again", Status: 200,
			Answer: api.Outcome{Success: true, Message: "the token of " + service + " admits new agents again"},
			Errors: []int{noStore}},
	}
}
