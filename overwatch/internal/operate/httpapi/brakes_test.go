package httpapi // inside: it shares world_test.go

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/operate/conditions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// brakedWorld returns a world whose name has three backends. Their agent reports all of them as unhealthy, and the
// node's own checks succeed.
func brakedWorld(t *testing.T) (*world, trust.Agent) {
	yes := func() bool { return true }
	w := newWorld(t, func(o *Options) {
		judge, err := conditions.New(conditions.Options{DNSServing: yes, ChecksCycled: yes, View: o.View,
			Domains: func() []conditions.Domain { return []conditions.Domain{{Name: service}} }})
		if err != nil {
			t.Fatal(err)
		}
		o.Fitness = judge
		backends := o.View
		o.DNSView = func() *zone.View { return steeredBy(t, backends, plainDomain())() }
	})
	w.declare()
	agent := w.agent("192.0.2.11", wire.ClaimHealthy)
	w.say(agent, wire.ClaimHealthy, wire.Warnings{})
	for _, last := range []string{"11", "12", "13"} {
		w.validate(service+":192.0.2."+last+":80", check.StateHealthy, "")
	}
	w.say(agent, wire.ClaimUnhealthy, wire.Warnings{})
	return w, agent
}

// say makes an agent report three backends.
func (w *world) say(agent trust.Agent, claim wire.Claim, warnings wire.Warnings) {
	w.t.Helper()
	m := &wire.Heartbeat{Region: "us", IntervalMillis: 10_000, MissedThreshold: 3}
	for last := byte(11); last <= 13; last++ {
		m.Backends = append(m.Backends, wire.Backend{Service: service, Address: netip.AddrFrom4([4]byte{192, 0, 2, last}),
			Port: 80, Weight: 50, Claim: claim, Warnings: warnings, Check: wire.Check{Type: "tcp"}})
	}
	_, err := w.registry.ApplyHeartbeat(w.t.Context(), agent, m)
	w.must(err)
}

// readOf decodes the answer to a GET.
func readOf[T any](w *world, path string) (answer T) {
	w.t.Helper()
	r := w.send("GET", "/api/v1"+path, "")
	if err := json.Unmarshal([]byte(r.body), &answer); err != nil || r.status != 200 {
		w.t.Fatalf("%s: %d %s", path, r.status, r.body)
	}
	return answer
}

func TestBrakes_AreToldEverywhereAndReleasedByAnOperator(t *testing.T) {
	w, agent := brakedWorld(t)
	list := readOf[api.BrakeList](w, "/overwatch/brakes")
	if list.Total != 1 || len(list.Brakes) != 1 || list.Brakes[0].Service != service ||
		list.Brakes[0].Concern != api.BrakeUnhealthy || len(list.Brakes[0].Backends) != 3 ||
		list.Brakes[0].Until.Sub(list.Brakes[0].Since) != 10*time.Minute {
		t.Errorf("%+v", list)
	}
	backends := readOf[api.BackendList](w, "/overwatch/backends")
	for _, b := range backends.Backends {
		if !b.Held || !b.MayServe || b.EffectiveStatus != api.EffectiveHealthy || *b.AgentHealthy ||
			!strings.HasPrefix(b.Reason, "held: the agents of many") {
			t.Errorf("%+v", b)
		}
	}
	if stats := readOf[api.Stats](w, "/overwatch/stats"); stats.HeldBackends != 3 || stats.HealthyBackends != 3 {
		t.Errorf("%+v", stats)
	}
	conditions := readOf[api.ConditionList](w, "/overwatch/conditions")
	if conditions.Total != 1 || conditions.Status != api.ServiceDegraded ||
		conditions.Conditions[0].Kind != api.AgentsHeld ||
		conditions.Conditions[0].Command != "gslbctl brakes release "+service ||
		!strings.HasPrefix(conditions.Conditions[0].Sentence,
			"agents report most backends of "+service+" unhealthy within a "+
				"short time, but own checks succeed: 3 backends of 1 domain serve in full until ") {
		t.Errorf("%+v", conditions)
	}
	w.say(agent, wire.ClaimUnhealthy, wire.Warnings{CPUMillis: 60_000}) // and warns of the same backends
	if c := readOf[api.ConditionList](w, "/overwatch/conditions"); c.Total != 1 {
		t.Errorf("unhealthy and warned of: %+v", c)
	}
	path := "/api/v1/overwatch/brakes/" + service
	w.wantError("safely", w.send("DELETE", path+"?if_safe=true", ""), 409, "nothing was changed", service)
	w.wantError("another", w.send("DELETE", "/api/v1/overwatch/brakes/other.example", ""), 404, "other.example")
	w.want("DELETE", w.send("DELETE", "/api/v1/overwatch/brakes/APP.Example.", ""), 200,
		"the agents of "+service+" are no longer held")
	w.want("again", w.send("DELETE", path, ""), 200, "no agents of "+service+" are held")
	for _, b := range readOf[api.BackendList](w, "/overwatch/backends").Backends {
		if b.Held || b.MayServe {
			t.Errorf("%+v", b)
		}
	}
	if list := readOf[api.BrakeList](w, "/overwatch/brakes"); list.Total != 0 || list.Brakes == nil {
		t.Errorf("%+v", list)
	}
	entries := readOf[api.AuditList](w, "/audit-logs?actions=release").Entries
	if len(entries) != 1 || entries[0].Resource != "brake" || entries[0].ResourceID != service ||
		entries[0].ActorType != api.ActorUser || !strings.Contains(string(entries[0].Before), "192.0.2.13") {
		t.Errorf("%+v", entries)
	}
}

func TestBrakes_WarningsAreReleasedWithoutLoss(t *testing.T) {
	w, agent := brakedWorld(t)
	_, err := w.registry.ReleaseServiceHold(t.Context(), service)
	w.must(err)
	w.say(agent, wire.ClaimHealthy, wire.Warnings{})
	w.say(agent, wire.ClaimHealthy, wire.Warnings{MemoryMillis: 60_000})
	list := readOf[api.BrakeList](w, "/overwatch/brakes")
	if list.Total != 1 || list.Brakes[0].Concern != api.BrakeWarning || len(list.Brakes[0].Backends) != 3 {
		t.Errorf("%+v", list)
	}
	if c := readOf[api.ConditionList](w, "/overwatch/conditions"); c.Total != 1 ||
		!strings.HasPrefix(c.Conditions[0].Sentence, "agents send early warnings about most backends of "+service) {
		t.Errorf("%+v", c)
	}
	w.want("DELETE", w.send("DELETE", "/api/v1/overwatch/brakes/"+service+"?if_safe=true", ""), 200)
}

// The hold of a region with the failures of only one agent has one condition. It is released by its region.
func TestBrakes_OfARegionAreToldOnceAndReleased(t *testing.T) {
	w, agent := brakedWorld(t)
	_, err := w.registry.ReleaseServiceHold(t.Context(), service)
	w.must(err)
	w.share.Store(100) // no share is above
	w.say(agent, wire.ClaimHealthy, wire.Warnings{})
	w.say(agent, wire.ClaimUnhealthy, wire.Warnings{})
	list := readOf[api.BrakeList](w, "/overwatch/brakes")
	if list.Total != 1 || list.Brakes[0].Service != "" || list.Brakes[0].Region != "us" || list.Brakes[0].Agent == "" ||
		!list.Brakes[0].Until.IsZero() || len(list.Brakes[0].Backends) != 3 {
		t.Errorf("%+v", list)
	}
	agentID := list.Brakes[0].Agent
	c := conditionsBesideFlapping(w)
	if c.Total != 1 || c.Conditions[0].Sentence != "agent "+agentID+" reports all serving backends of region us "+
		"unhealthy, but own checks succeed: 3 backends of 1 domain serve in full until the agent report or the own "+
		"checks change" || c.Conditions[0].Command != "gslbctl brakes release --region us" ||
		c.Conditions[0].Subject != "region us" {
		t.Errorf("%+v", c)
	}
	const path = "/api/v1/overwatch/brakes/"
	w.wantError("safely", w.send("DELETE", path+"us?scope=region&if_safe=true", ""), 409, "nothing was changed")
	w.wantError("nobody", w.send("DELETE", path+"nobody?scope=agent", ""), 404, "no agent nobody is known")
	w.want("agent", w.send("DELETE", path+agentID+"?scope=agent", ""), 200, "no agents of agent "+agentID+" are held")
	w.say(agent, wire.ClaimHealthy, wire.Warnings{})
	if c := conditionsBesideFlapping(w); c.Total != 0 {
		t.Errorf("the agent reports healthy, and still: %+v", c)
	}
	w.say(agent, wire.ClaimUnhealthy, wire.Warnings{})
	w.want("region", w.send("DELETE", path+"US?scope=region", ""), 200, "the agents of region us are no longer held")
	if list := readOf[api.BrakeList](w, "/overwatch/brakes"); list.Total != 0 {
		t.Errorf("%+v", list)
	}
}

// conditionsBesideFlapping returns the conditions except those of backends whose state the test has changed often.
func conditionsBesideFlapping(w *world) api.ConditionList {
	list := readOf[api.ConditionList](w, "/overwatch/conditions")
	list.Conditions = slices.DeleteFunc(list.Conditions, func(c api.Condition) bool {
		return c.Kind == api.Flapping
	})
	list.Total = len(list.Conditions)
	return list
}
