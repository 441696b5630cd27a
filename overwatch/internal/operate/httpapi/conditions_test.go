package httpapi // inside: it shares world_test.go

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/ready"
	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

func TestConditions_AreListedWithASilentAgent(t *testing.T) {
	yes := func() bool { return true }
	var later atomic.Int64 // how far the judge's clock is ahead
	w := newWorld(t, func(o *Options) {
		judge, err := ready.New(ready.Options{DNSServing: yes, ChecksCycled: yes, View: o.View,
			Domains: func() []ready.Domain { return nil },
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
		!strings.HasPrefix(list.Conditions[0].Sentence, "agent "+agentName+" in us was last heard ") ||
		list.Conditions[0].Command != "gslbctl agents show "+agentName {
		t.Errorf("an hour later: %+v", list)
	}
}

func TestConditions_AnAgentOfAnUnknownRegionIsNamed(t *testing.T) {
	yes := func() bool { return true }
	regions := []string{"eu"}
	w := newWorld(t, func(o *Options) {
		judge, err := ready.New(ready.Options{DNSServing: yes, ChecksCycled: yes, View: o.View,
			Domains: func() []ready.Domain { return nil }, Regions: func() []string { return regions }})
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
