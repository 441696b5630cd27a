package httpapi

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/answer/failback"
	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/strictjson"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/wire"
)

func failbackOperations() []Operation {
	pending := api.PendingFailback{Domain: "app.example.com", Region: "main", Failback: model.Failback{Manual: true},
		Since: exampleTime(), Serving: 2, Required: 1, CanServeSince: new(exampleTime())}
	return []Operation{
		{Method: get, Path: v1 + "/overwatch/failbacks", handle: (*Server).listFailbacks, Query: paged(),
			Summary: "List pending failbacks", Status: 200,
			Answer: api.FailbackList{Failbacks: []api.PendingFailback{pending}, Total: 1, GeneratedAt: exampleTime()}},
		{Method: post, Path: v1 + "/domains/{name}/failback", Changes: KindFailback, Role: api.RoleOperate,
			handle: (*Server).postFailback, Summary: "Return clients to regions that were down",
			Description: "Without `regions`, the clients of all regions return that await failback and can serve. A " +
				"request without a pending failback succeeds, also for named regions. 409 if a region cannot serve on this node.",
			Body: api.FailbackRequest{Regions: []string{"main"}}, Optional: true, Status: 200,
			Answer: api.FailbackDone{Success: true, Message: "the clients of main return", Returned: []string{"main"},
				Pending: []api.PendingFailback{}},
			Errors: []int{conflict, noStore}},
	}
}

// listFailbacks answers GET /overwatch/failbacks.
func (s *Server) listFailbacks(c *call) (answer, error) {
	list := api.FailbackList{GeneratedAt: stamp(s.o.Now())}
	list.Failbacks, list.Total = pageOf(slices.Values(s.o.Failbacks.List()), c.page, failbackRecord)
	return ok(list), nil
}

// postFailback answers POST /domains/{name}/failback. The body is optional.
func (s *Server) postFailback(c *call) (answer, error) {
	var req api.FailbackRequest
	if len(c.body) > 0 {
		if err := strictjson.Decode(c.body, &req); err != nil {
			return answer{}, err
		}
	}
	cfg, _ := s.o.Config()
	d, err := s.domainOf(c, cfg)
	if err != nil {
		return answer{}, err
	}
	f := &changes.FailBack{Domain: wire.CanonicalService(d.Name)}
	for _, region := range req.Regions {
		f.Regions = append(f.Regions, s.regionNames().Of(region))
	}
	if err := s.change(c, f); err != nil {
		return answer{}, err
	}
	done := api.FailbackDone{Success: true, Message: "no region of " + d.Name + " awaits failback", Returned: f.Returned,
		Pending: failbackRecords(f.Pending)}
	switch {
	case len(f.Returned) > 0:
		done.Message = fmt.Sprintf("the clients of %s return in the answers for %s", strings.Join(f.Returned, ", "), d.Name)
	case len(f.Regions) > 0:
		done.Message = fmt.Sprintf("%.200s of %s: no failback is pending", strings.Join(f.Regions, ", "), d.Name)
	}
	if f.Returned == nil {
		done.Returned = []string{}
	}
	return ok(done), nil
}

func failbackRecords(list []failback.Pending) []api.PendingFailback {
	records := make([]api.PendingFailback, len(list))
	for i := range list {
		records[i] = failbackRecord(list[i])
	}
	return records
}

func failbackRecord(p failback.Pending) api.PendingFailback {
	return api.PendingFailback{Domain: p.Domain, Region: p.Region, Failback: p.Setting, Since: stamp(p.Since),
		Serving: p.Serving, Required: p.Required, CanServeSince: momentOrNull(p.CanServeSince),
		ReturnsAt: momentOrNull(p.ReturnsAt)}
}

// momentOrNull returns a time as the API shows it, nil for the zero time.
func momentOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(stamp(t))
}
