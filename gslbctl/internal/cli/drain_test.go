package cli // inside: it looks at backends

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// drainingNode returns a node with a domain with a TTL of one second, and its DNS server.
func drainingNode(t *testing.T, backends ...api.Backend) (*node, *dnsServer) {
	t.Helper()
	n := startNode(t)
	n.setOrders(api.OrderDrain)
	n.answers["GET /api/v1/domains/app.example.com"] = api.DomainDetail{
		Domain: api.Domain{Domain: model.Domain{Name: "app.example.com", TTL: 1, Enabled: true}}}
	n.answers["GET /api/v1/routing/answers"] = answersTo(map[string]string{"": "192.0.2.11"})
	n.answers["GET /api/v1/overwatch/backends"] = api.BackendList{Backends: backends, Total: len(backends)}
	for _, b := range backends {
		n.answers["POST /api/v1/servers/"+b.ID+"/drain"] = api.Drain{Draining: true, DrainEndsAt: pointer(now)}
		n.answers["DELETE /api/v1/servers/"+b.ID+"/drain"] = api.Drain{}
	}
	return n, startDNS(t, map[string][][4]byte{"app.example.com": {{192, 0, 2, 10}, {192, 0, 2, 11}}})
}

func fakeBackend(address string, port int, agent, region string) api.Backend {
	return api.Backend{ID: fmt.Sprintf("app.example.com:%s:%d", address, port), Service: "app.example.com",
		Address: address, Port: port, AgentID: agent, Region: region,
		MayServe: true, Share: 1, EffectiveStatus: api.EffectiveHealthy}
}

// drainedAt returns a drained backend in a stage. Without a stage, the backend is as in version 0.9.0. safeIn is the
// time until the backend is safe to stop, which a node of a later version reports.
func drainedAt(b api.Backend, stage api.DrainStage, safeIn time.Duration) api.Backend {
	b.Drain = &api.ActiveDrain{EndsAt: now, Stage: stage, SafeAt: pointer(now.Add(safeIn))}
	if stage != api.DrainDraining {
		b.Share = 0
	}
	return b
}

// backendsOf returns a node's answer with backends.
func backendsOf(backends ...api.Backend) api.BackendList {
	return api.BackendList{Backends: backends, Total: len(backends), GeneratedAt: now}
}

// answersTo returns the routing answers of a domain with one address for the clients of each region.
func answersTo(byRegion map[string]string) (list api.RoutingAnswerList) {
	for region, address := range byRegion {
		list.Answers = append(list.Answers, api.RoutingAnswer{ClientRegion: region, Decision: api.RoutingSuccess,
			TTL:       1,
			Addresses: []api.RoutingShare{{Address: address, Share: 1}}})
	}
	return list
}

func (n *node) set(request string, answer any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answers[request] = answer
}

func TestDrain_NameMeansAServerAnAddressAnAgentOrARegion(t *testing.T) {
	a, b := fakeBackend("192.0.2.10", 443, "eu-1", "eu"), fakeBackend("192.0.2.10", 444, "eu-1", "eu")
	c, d := fakeBackend("192.0.2.11", 443, "eu-2", "eu"), fakeBackend("2001:db8::1", 443, "us-1", "us")
	for name, want := range map[string]string{
		a.ID:                "443",
		"192.0.2.10":        "10:443 10:444",
		"192.0.2.10:444":    "10:444",
		"eu-2":              "11:443",
		"eu":                "10:443 10:444 11:443",
		"2001:db8::1":       "::1:443",
		"[2001:db8::1]:443": "::1:443",
		"2001:DB8:0::1":     "::1:443",
		"nobody":            "",
		"192.0.2.1":         "",
	} {
		n, _ := drainingNode(t, a, b, c, d)
		r := ask(t, "drain "+name+" --yes", n)
		changes := n.changes()
		wanted := strings.Fields(want)
		if len(changes) != len(wanted) || (r.code == 0) != (want != "") {
			t.Errorf("%s: %+v, %q", name, r, changes)
			continue
		}
		for i, change := range changes {
			if !strings.Contains(change, wanted[i]+"/drain") {
				t.Errorf("%s: %q, want %s", name, change, wanted[i])
			}
		}
		if tells := strings.Contains(r.out, "\ngslbctl undrain "+name+" reverts all of it\n"); tells !=
			(len(wanted) > 1) {
			t.Errorf("%s says %q", name, r.out)
		}
		if want == "" {
			continue
		}
		if name != a.ID {
			if r := ask(t, "drain "+name, n); r.code != 2 || !strings.Contains(r.errors, "add --yes") ||
				len(n.changes()) != len(changes) {
				t.Errorf("%s without --yes: %+v", name, r)
			}
		}
		n.setOrders(api.OrderDrain, a, b, c, d)
		if r := ask(t, "undrain --yes "+name, n); r.code != 0 || !strings.Contains(r.out, "receives traffic again") {
			t.Errorf("undrain %s: %+v", name, r)
		}
	}
}

// setOrders gives the node an admin state of a kind for each backend.
func (n *node) setOrders(kind api.OrderKind, backends ...api.Backend) {
	var list api.OrderList
	for _, b := range backends {
		list.Orders = append(list.Orders, api.Order{Kind: kind, Service: b.Service,
			Address: netip.AddrPortFrom(netip.MustParseAddr(b.Address), uint16(b.Port)).String(), Share: pointer(0.0)})
	}
	n.set("GET /api/v1/overwatch/orders", list)
}

// Without a drain, undrain does nothing. For several servers, it reports only the drained servers.
func TestUndrain_ConcernsOnlyWhatIsDrained(t *testing.T) {
	a, b := fakeBackend("192.0.2.10", 443, "eu-1", "eu"), fakeBackend("192.0.2.10", 444, "eu-1", "eu")
	n, _ := drainingNode(t, a, b)
	n.setOrders(api.OrderDrain)
	for _, name := range []string{a.ID, "192.0.2.10", "eu"} {
		if r := ask(t, "undrain "+name, n); r.code != fleet.Degraded || len(n.changes()) > 0 ||
			!strings.Contains(r.errors, "no active or planned drain of") || !strings.Contains(r.errors,
			"nothing was changed") {
			t.Errorf("undrain %s: %+v, %q", name, r, n.changes())
		}
	}
	n.setOrders(api.OrderDrain, b)
	if r := ask(t, "undrain eu", n); r.code != 0 || len(n.changes()) != 1 || !strings.Contains(n.changes()[0], b.ID) {
		t.Errorf("one of two: %+v, %q", r, n.changes())
	}
}

// A planned window is replaced only with the flag. The check of all servers precedes the first change.
func TestDrain_ReplacesNoPlannedWindowByAccident(t *testing.T) {
	a, b := fakeBackend("192.0.2.10", 443, "eu-1", "eu"), fakeBackend("192.0.2.10", 444, "eu-1", "eu")
	n, _ := drainingNode(t, a, b)
	n.setOrders(api.OrderDrain, b) // planned: not in force
	r := ask(t, "drain eu --to 10% --yes", n)
	if r.code != fleet.Degraded || len(n.changes()) > 0 ||
		!strings.Contains(r.errors, "a drain is planned for 1 server of 2") ||
		!strings.Contains(r.errors, b.ID) || !strings.Contains(r.errors, "--replace-planned; nothing was changed") {
		t.Errorf("%+v, %q", r, n.changes())
	}
	r = ask(t, "drain eu --to 10% --yes --replace-planned", n)
	if changes := n.changes(); r.code != fleet.OK || len(changes) != 2 ||
		!strings.Contains(changes[0], "replace_planned=true") {
		t.Errorf("told so: %+v, %q", r, changes)
	}
}

// The command ends a drain of a backend that no longer exists. Only some of the nodes may know the drain.
func TestUndrain_EndsTheDrainOfABackendThatIsGone(t *testing.T) {
	gone := fakeBackend("192.0.2.10", 443, "eu-1", "eu")
	end := "DELETE /api/v1/servers/" + gone.ID + "/drain"
	without := func(t *testing.T) *node {
		n, _ := drainingNode(t)
		n.set("GET /api/v1/overwatch/orders", api.OrderList{Total: 2, Orders: []api.Order{
			{Kind: api.OrderWeight, Service: gone.Service, Address: "192.0.2.12:443", Weight: pointer(7)},
			{Kind: api.OrderDrain, Service: gone.Service, Address: "192.0.2.10:443", Share: pointer(0.0)}}})
		n.set(end, api.Drain{})
		return n
	}
	for _, name := range []string{gone.ID, "192.0.2.10", "192.0.2.10:443"} {
		n := without(t)
		if r := ask(t, "undrain "+name, n); r.code != 0 || strings.Join(n.changes(), ",") != end {
			t.Errorf("%s: %+v, %q", name, r, n.changes())
		}
	}
	known, _ := drainingNode(t, gone)
	for _, name := range []string{gone.ID, "192.0.2.10", "eu-1", "eu"} {
		nodes := []*node{without(t), known}
		if r := ask(t, "undrain "+name, nodes...); r.code != 0 || strings.Join(nodes[0].changes(), ",") != end {
			t.Errorf("%s, known to one of two nodes: %+v, %q", name, r, nodes[0].changes())
		}
	}
	n := without(t)
	for _, line := range []string{"undrain 192.0.2.12", "undrain eu", "drain 192.0.2.10 --yes"} {
		if r := ask(t, line, n); r.code != 1 || len(n.changes()) != 0 || !strings.Contains(r.errors, "no node knows") {
			t.Errorf("%s: %+v, %q", line, r, n.changes())
		}
	}
}

// looked waits until a node has received the given number of backend requests after the given number of drains.
func (n *node) looked(t *testing.T, drains, times int) {
	// The test polls for the requests of the command, because they use real sockets.
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for looks := 0; looks < times && t.Context().Err() == nil; <-tick.C {
		looks = 0
		n.mu.Lock()
		begun := 0
		for _, request := range n.asked {
			switch {
			case strings.HasPrefix(request, "POST /api/v1/servers"):
				begun, looks = begun+1, 0
			case begun < drains:
			case strings.HasPrefix(request, "GET /api/v1/overwatch/backends"):
				looks++
			}
		}
		n.mu.Unlock()
	}
}

func TestDrainWait_OnOldNodesEndsWhenNoneAnswersAndTheTTLHasPassed(t *testing.T) {
	leaving, staying := fakeBackend("192.0.2.10", 443, "eu-1", "eu"), fakeBackend("192.0.2.11", 443, "eu-2", "eu")
	leaving.Drain = &api.ActiveDrain{EndsAt: now}
	n, dns := drainingNode(t, leaving, staying)
	changed := make(chan time.Time, 1)
	go func() {
		n.looked(t, 1, 2) // the first look has seen everything as it was
		gone := leaving
		gone.Share = 0
		// The API reports the change first.
		n.set("GET /api/v1/overwatch/backends", api.BackendList{Backends: []api.Backend{gone, staying}, Total: 2})
		n.looked(t, 1, 4)
		changed <- time.Now()
		dns.answer("app.example.com", [4]byte{192, 0, 2, 11})
	}()
	r := ask(t, "drain "+leaving.ID+" --wait --within 1m --dns "+dns.at, n)
	if r.code != 0 || !strings.Contains(r.out, "is draining") ||
		!strings.Contains(r.out, "drained: app.example.com:192.0.2.10:443 no longer has traffic") {
		t.Errorf("%+v", r)
	}
	select {
	case at := <-changed:
		if took := time.Since(at); took < time.Second {
			t.Errorf("it ended %s after DNS had changed: resolvers may have the address for a second", took)
		}
	default:
		t.Error("it ended before DNS had changed")
	}
	if !strings.Contains(r.errors, "still has 100% of its share") || !strings.Contains(r.errors,
		"cached answers expire") || strings.Count(r.errors, "does not report when a server is safe to stop") != 1 {
		t.Errorf("progress: %s", r.errors)
	}
}

// A node of a later version than 0.9.0 reports the stage; gslbctl derives nothing from answers, DNS and TTL.
func TestDrainWait_EndsWhenAllNodesReportSafe(t *testing.T) {
	leaving, staying := fakeBackend("192.0.2.10", 443, "eu-1", "eu"), fakeBackend("192.0.2.11", 443, "eu-2", "eu")
	at := func(n *node, stage api.DrainStage) {
		n.set("GET /api/v1/overwatch/backends", backendsOf(drainedAt(leaving, stage, time.Hour), staying))
	}
	first, dns := drainingNode(t, leaving, staying)
	second, _ := drainingNode(t, leaving, staying)
	at(first, api.DrainSafe)
	at(second, api.DrainDraining)
	changed := make(chan time.Time, 1)
	go func() {
		second.looked(t, 1, 2)
		at(second, api.DrainCached)
		second.looked(t, 1, 4)
		changed <- time.Now()
		at(second, api.DrainSafe)
	}()
	r := call(t, cmdline.System{}, []*node{first, second}, "drain", leaving.ID, "--wait", "--within", "1m", "--api",
		documented(0), "--api", documented(1), "--dns", dns.at, "--dns", dns.at)
	if r.code != 0 || !strings.Contains(r.out, "no longer has traffic") ||
		!strings.Contains(r.errors, "still has 100% of its share at http://"+documented(1)) ||
		!strings.Contains(r.errors, "cached answers expire in 1h") || strings.Contains(r.errors, "does not report") {
		t.Errorf("%+v", r)
	}
	if len(changed) == 0 {
		t.Error("it ended before all nodes had reported that the server is safe to stop")
	}
}

func TestDrainWait_SaysWhyANodeReportsTraffic(t *testing.T) {
	leaving := fakeBackend("192.0.2.10", 443, "eu-1", "eu")
	for name, tc := range map[string]struct {
		backend api.Backend
		words   string
	}{
		"answered": {drainedAt(leaving, api.DrainAnswered, 0), "to clients in eu, because no other backend of the name"},
		"cached":   {drainedAt(leaving, api.DrainCached, time.Minute), "resolvers may use it for another 1m"},
		"ended":    {leaving, leaving.ID + " is no longer drained at http://"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, dns := drainingNode(t)
			n.set("GET /api/v1/overwatch/backends", backendsOf(tc.backend))
			n.set("POST /api/v1/servers/"+leaving.ID+"/drain", api.Drain{Draining: true})
			n.set("GET /api/v1/routing/answers", answersTo(map[string]string{"eu": "192.0.2.10"}))
			r := ask(t, "drain "+leaving.ID+" --wait --within 10ms --dns "+dns.at, n)
			if r.code != 1 || !strings.Contains(r.errors, "not drained: ") || !strings.Contains(r.errors, tc.words) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// The local query to DNS returns other addresses, but clients in other regions still receive the address.
func TestDrainWait_LooksAtTheClientsOfAllRegions(t *testing.T) {
	leaving, staying := fakeBackend("192.0.2.10", 443, "eu-1", "eu"), fakeBackend("192.0.2.11", 443, "eu-2", "eu")
	leaving = drainedAt(leaving, "", 0)
	first, dns := drainingNode(t, leaving, staying)
	second, _ := drainingNode(t, leaving, staying)
	dns.answer("app.example.com", [4]byte{192, 0, 2, 11})
	const answers = "GET /api/v1/routing/answers?domain=app.example.com&query_type=A"
	second.set(answers, answersTo(map[string]string{"": "192.0.2.11", "us": "192.0.2.10"}))
	line := []string{"drain", leaving.ID, "--wait", "--api", documented(0), "--api", documented(1), "--dns", dns.at,
		"--dns", dns.at}
	r := call(t, cmdline.System{}, []*node{first, second}, append(slices.Clone(line), "--within", "10ms")...)
	if r.code != 1 || !strings.Contains(r.errors,
		"not drained: http://"+documented(1)+" still answers app.example.com with 192.0.2.10 to clients in us") {
		t.Errorf("%+v", r)
	}
	changed := make(chan time.Time, 1)
	go func() {
		second.looked(t, 2, 2)
		changed <- time.Now()
		second.set(answers, answersTo(map[string]string{"": "192.0.2.11", "us": "192.0.2.11"}))
	}()
	r = call(t, cmdline.System{}, []*node{first, second}, line...)
	if r.code != 0 || !strings.Contains(r.errors, "to clients in us") {
		t.Errorf("%+v", r)
	}
	select {
	case at := <-changed:
		if took := time.Since(at); took < time.Second {
			t.Errorf("it ended %s after the answers had changed: resolvers may have the address for a second", took)
		}
	default:
		t.Error("it ended before the answers had changed")
	}
	// A node without this domain has no answer with the address.
	for _, request := range []string{answers, "GET /api/v1/domains/app.example.com"} {
		second.set(request, &api.Error{Status: 404, Message: "no such domain"})
	}
	if r = call(t, cmdline.System{}, []*node{first, second}, line...); r.code != 0 {
		t.Errorf("%+v", r)
	}
}

func TestDrainWait_SaysWhyAServerStillHasTraffic(t *testing.T) {
	leaving := fakeBackend("192.0.2.10", 443, "eu-1", "eu")
	leaving.Drain = &api.ActiveDrain{EndsAt: now}
	drained := drainedAt(leaving, "", 0)
	sibling := fakeBackend("192.0.2.10", 444, "eu-1", "eu")
	for name, tc := range map[string]struct {
		backends []api.Backend
		words    string
	}{
		"its share":        {[]api.Backend{leaving}, "still has 100% of its share"},
		"the last one":     {[]api.Backend{drained}, "no other backend of the name can serve"},
		"the same address": {[]api.Backend{drained, sibling}, "app.example.com:192.0.2.10:444 has the same address"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, dns := drainingNode(t, tc.backends...)
			n.set("GET /api/v1/routing/answers", answersTo(map[string]string{"": "192.0.2.10"}))
			r := ask(t, "drain "+leaving.ID+" --wait --within 10ms --dns "+dns.at+" -o json", n)
			if r.code != 1 || !strings.Contains(r.errors, "not drained: ") || !strings.Contains(r.errors, tc.words) ||
				!strings.Contains(r.out, `"drained": false`) {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestDrainWait_ChangesNothingWhereItCouldNotWait(t *testing.T) {
	n, _ := drainingNode(t, fakeBackend("192.0.2.10", 443, "eu-1", "eu"))
	r := call(t, cmdline.System{}, []*node{n}, "drain", "192.0.2.10", "--yes", "--wait", "--api", documented(0),
		"--dns", dead(t))
	if r.code != 2 || !strings.Contains(r.errors, "nothing was drained") || !strings.Contains(r.errors, "--dns") ||
		len(n.changes()) != 0 {
		t.Errorf("%+v, %q", r, n.changes())
	}
	// One of two nodes is unreachable: it may still answer.
	n, dns := drainingNode(t, fakeBackend("192.0.2.10", 443, "eu-1", "eu"))
	gone := dead(t)
	r = call(t, cmdline.System{}, []*node{n}, "drain", "192.0.2.10", "--yes", "--wait", "--api", documented(0), "--api",
		gone,
		"--dns", dns.at)
	if r.code != 2 || !strings.Contains(r.errors, "nothing was drained") ||
		!strings.Contains(r.errors, "nothing listens on http://"+gone) ||
		!strings.Contains(r.errors, "give the other nodes with --api") || len(n.changes()) != 0 {
		t.Errorf("%+v, %q", r, n.changes())
	}
	for _, args := range []string{"drain x --within 5s", "drain x --over -1s", "drain x --wait --within 0s"} {
		if r := call(t, cmdline.System{}, nil, strings.Fields(args)...); r.code != 2 || !strings.Contains(r.errors,
			"--within") {
			t.Errorf("%s: %+v", args, r)
		}
	}
}
