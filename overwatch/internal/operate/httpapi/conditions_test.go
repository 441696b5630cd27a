package httpapi // inside: it shares world_test.go

import (
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/operate/conditions"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

func TestConditions_AreListedWithASilentAgent(t *testing.T) {
	yes := func() bool { return true }
	var later atomic.Int64 // how far the judge's clock is ahead
	w := newWorld(t, func(o *Options) {
		judge, err := conditions.New(conditions.Options{DNSServing: yes, ChecksCycled: yes, View: o.View,
			Domains: func() []conditions.Domain { return nil },
			Now:     func() time.Time { return time.Now().Add(time.Duration(later.Load())) }})
		if err != nil {
			t.Fatal(err)
		}
		o.Fitness = judge
	})
	w.agent("192.0.2.9", wire.ClaimHealthy)
	listed := func() (list api.ConditionList) {
		r := w.send("GET", "/api/v1/overwatch/conditions", "")
		if err := json.Unmarshal([]byte(r.body), &list); err != nil || r.status != 200 || list.Total != len(list.Conditions) {
			t.Fatalf("%d %s", r.status, r.body)
		}
		return list
	}
	if list := listed(); list.Total != 0 || list.Status != api.ServiceHealthy {
		t.Errorf("while it is heard: %+v", list)
	}
	later.Store(int64(time.Hour))
	list := listed()
	if list.Total != 1 || list.Status != api.ServiceHealthy || list.Conditions[0].Kind != api.AgentSilent ||
		!strings.HasPrefix(list.Conditions[0].Sentence, "agent "+agentName+" in us was last seen ") ||
		list.Conditions[0].Command != "gslbctl agents show "+agentName {
		t.Errorf("an hour later: %+v", list)
	}
}

func TestConditions_AnAgentOfAnUnknownRegionIsNamed(t *testing.T) {
	yes := func() bool { return true }
	regions := []string{"eu"}
	w := newWorld(t, func(o *Options) {
		judge, err := conditions.New(conditions.Options{DNSServing: yes, ChecksCycled: yes, View: o.View,
			Domains: func() []conditions.Domain { return nil }, Regions: func() []string { return regions }})
		if err != nil {
			t.Fatal(err)
		}
		o.Fitness = judge
	})
	w.agent("192.0.2.9", wire.ClaimHealthy)
	const path = "/api/v1/overwatch/conditions"
	const sentence = `agent agent-1 reports from region \"us\", which is not among regions`
	if r := w.send("GET", path, ""); !strings.Contains(r.body, `"region_unknown"`) || !strings.Contains(r.body, sentence) {
		t.Errorf("%s", r.body)
	}
	if r := w.send("GET", "/api/v1/health/regions", ""); !strings.Contains(r.body, `"name":"us"`) {
		t.Errorf("the region is not listed: %s", r.body)
	}
	regions = append(regions, "us")
	if r := w.send("GET", path, ""); strings.Contains(r.body, "region_unknown") {
		t.Errorf("declared: %s", r.body)
	}
}

// The rule that refuses a backend is in the conditions, in the condition of its name, and in the list of agents.
func TestConditions_NameTheRuleThatRefusesABackend(t *testing.T) {
	yes := func() bool { return true }
	minimum, _ := policy.ParseMinimum("1")
	w := newWorld(t, func(o *Options) {
		judge, err := conditions.New(conditions.Options{DNSServing: yes, ChecksCycled: yes, View: o.View,
			Domains: func() []conditions.Domain { return []conditions.Domain{{Name: service, MinHealthy: minimum}} }})
		if err != nil {
			t.Fatal(err)
		}
		o.Fitness = judge
	})
	w.agent("127.0.0.2", wire.ClaimHealthy)
	const sentence = "backend app.example:127.0.0.2:80 of agent agent-1 is refused: loopback addresses need " +
		"overwatch.agent_policies.app.example.allowed_cidrs on the overwatch node"
	r := w.send("GET", "/api/v1/overwatch/conditions", "")
	if !strings.Contains(r.body, `"kind":"backend_refused"`) ||
		!strings.Contains(r.body, "(no check result yet); "+sentence) {
		t.Errorf("conditions: %s", r.body)
	}
	if r := w.send("GET", "/api/v1/overwatch/agents", ""); !strings.Contains(r.body, `"problems":["`+sentence) {
		t.Errorf("agents: %s", r.body)
	}
}

// A silent agent has one condition, which includes its backends.
func TestConditions_ASilentAgentIncludesItsBackends(t *testing.T) {
	yes := func() bool { return true }
	w := newWorld(t, func(o *Options) {
		judge, err := conditions.New(conditions.Options{DNSServing: yes, ChecksCycled: yes, View: o.View,
			Domains: func() []conditions.Domain { return []conditions.Domain{{Name: service}} }})
		if err != nil {
			t.Fatal(err)
		}
		o.Fitness = judge
	})
	w.declare()
	agent := w.agent("192.0.2.11", wire.ClaimHealthy)
	w.say(agent, wire.ClaimHealthy, wire.Warnings{})
	for _, last := range []string{"11", "12", "13"} {
		w.validate(service+":192.0.2."+last+":80", check.StateHealthy, "")
	}
	w.must(w.registry.SetTiming(t.Context(), registry.Timing{StaleThreshold: time.Nanosecond, RemoveAfter: time.Hour,
		ValidationEnabled: true, ValidationInterval: time.Minute}))
	list := readOf[api.ConditionList](w, "/overwatch/conditions")
	if list.Total != 1 || list.Conditions[0].Kind != api.AgentLost || list.Status != api.ServiceDegraded ||
		list.Conditions[0].Sentence != "agent "+agentName+" is silent: its 3 backends of 1 name serve on this node's own "+
			"checks" {
		t.Errorf("%+v", list)
	}
	for _, last := range []string{"11", "12"} {
		w.validate(service+":192.0.2."+last+":80", check.StateUnhealthy, "connection refused")
	}
	list = readOf[api.ConditionList](w, "/overwatch/conditions")
	if list.Total != 1 || list.Conditions[0].Kind != api.AgentLost || list.Conditions[0].Sentence != "agent "+agentName+
		" is silent: 2 of its 3 backends do not serve: "+service+":192.0.2.11:80: connection refused, "+
		service+":192.0.2.12:80: connection refused" {
		t.Errorf("%+v", list)
	}
	w.validate(service+":192.0.2.13:80", check.StateUnhealthy, "connection refused")
	list = readOf[api.ConditionList](w, "/overwatch/conditions")
	if kinds := kindsOf(list); kinds != "no_name_answered name_unanswered region_lost" {
		t.Errorf("%s: %+v", kinds, list)
	}
}

func kindsOf(list api.ConditionList) string {
	var kinds []string
	for _, c := range list.Conditions {
		kinds = append(kinds, string(c.Kind))
	}
	return strings.Join(kinds, " ")
}

// An agent with warnings has one condition for all of its backends, with the lowest share and the region without a
// backend in full service. A flapping backend also has one condition.
func TestConditions_OfReducedSharesAndFlaps(t *testing.T) {
	yes := func() bool { return true }
	w := newWorld(t, func(o *Options) {
		judge, err := conditions.New(conditions.Options{DNSServing: yes, ChecksCycled: yes, View: o.View,
			Domains: func() []conditions.Domain { return []conditions.Domain{{Name: service}} }})
		if err != nil {
			t.Fatal(err)
		}
		o.Fitness = judge
	})
	w.declare()
	w.share.Store(100)
	agent := w.agent("192.0.2.11", wire.ClaimHealthy)
	w.say(agent, wire.ClaimHealthy, wire.Warnings{})
	w.say(agent, wire.ClaimHealthy, wire.Warnings{ErrorRateMillis: 1})
	var list api.ConditionList
	for list = readOf[api.ConditionList](w, "/overwatch/conditions"); list.Total == 0; { // until the share falls
		w.must(w.registry.WaitForCommands(t.Context()))
		list = readOf[api.ConditionList](w, "/overwatch/conditions")
	}
	if c := list.Conditions[0]; list.Total != 1 || c.Severity != api.SeverityDegraded || c.Kind != api.DegradedShare ||
		c.Subject != agentName || !strings.HasPrefix(c.Sentence, "agent "+agentName+" warns of failing checks: 3 backends "+
		"of 1 name serve with a reduced share, the lowest ") || !strings.HasSuffix(c.Sentence, "; every serving backend of "+
		"region us is reduced, so its clients stay there: shares are relative inside a region") {
		t.Errorf("%+v", list)
	}
	for range 3 {
		w.say(agent, wire.ClaimUnhealthy, wire.Warnings{})
		w.say(agent, wire.ClaimHealthy, wire.Warnings{})
	}
	list = readOf[api.ConditionList](w, "/overwatch/conditions")
	flapping := slices.DeleteFunc(list.Conditions, func(c api.Condition) bool { return c.Kind != api.Flapping })
	if len(flapping) != 1 || flapping[0].Subject != "region us" || flapping[0].Sentence != "3 backends of region us "+
		"flap, such as "+service+":192.0.2.11:80: each stopped serving 3 times within 10 minutes; "+
		"the last reason: the agent reports "+
		"unhealthy" {
		t.Errorf("%+v", list)
	}
}
