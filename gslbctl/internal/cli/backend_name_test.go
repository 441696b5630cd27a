package cli // inside: it uses backendNames and selectBackends

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

func TestBackendNames_ReadEveryForm(t *testing.T) {
	for text, want := range map[string]string{
		"app.example.com:192.0.2.10:443":      "app.example.com 192.0.2.10:443",
		"app.example.com:192.0.2.10":          "app.example.com 192.0.2.10",
		"192.0.2.10:443":                      "192.0.2.10:443",
		"192.0.2.10":                          "192.0.2.10",
		"app.example.com:2001:db8::1:443":     "app.example.com [2001:db8::1]:443; app.example.com 2001:db8::1:443",
		"app.example.com:[2001:db8::1]:443":   "app.example.com [2001:db8::1]:443",
		"app.example.com:2001:db8::a":         "app.example.com 2001:db8::a",
		"[2001:db8::1]:443":                   "[2001:db8::1]:443",
		"[2001:db8::1]":                       "2001:db8::1",
		"2001:DB8::1":                         "2001:db8::1; 2001 db8::1",
		"2001:db8::1:443":                     "2001:db8::1:443; [2001:db8::1]:443; 2001 [db8::1]:443; 2001 db8::1:443",
		"app.example.com":                     "",
		"app.example.com:lb.example.net:443":  "",
		"app.example.com:192.0.2.10:0":        "",
		"app.example.com:192.0.2.10:65536":    "",
		"app.example.com:[2001:db8::1:443":    "",
		"fe80::1%eth0":                        "",
		":192.0.2.10":                         "",
		"443":                                 "",
		"":                                    "",
		"app.example.com:192.0.2.10:443:more": "",
	} {
		var got []string
		for _, n := range backendNames(text) {
			got = append(got, strings.TrimSpace(n.service+" "+n.endpoint()))
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	}
}

func TestSelectBackends_ByEveryForm(t *testing.T) {
	known := []api.Backend{
		{ID: "a.example:192.0.2.10:80", Service: "a.example", Address: "192.0.2.10", Port: 80},
		{ID: "a.example:192.0.2.10:443", Service: "a.example", Address: "192.0.2.10", Port: 443},
		{ID: "b.example:192.0.2.10:443", Service: "b.example", Address: "192.0.2.10", Port: 443},
		{ID: "b.example:2001:db8::1:443", Service: "b.example", Address: "2001:db8::1", Port: 443},
		{ID: "b.example:2001:db8::1:443", Service: "b.example", Address: "2001:db8::1", Port: 443}, // by another node
		{ID: "cafe:2001:db8::2:443", Service: "cafe", Address: "2001:db8::2", Port: 443},
	}
	for text, want := range map[string]string{
		"a.example:192.0.2.10:80":     "a.example:192.0.2.10:80",
		"A.Example.:192.0.2.10:80":    "a.example:192.0.2.10:80",
		"a.example:192.0.2.10":        "a.example:192.0.2.10:80 a.example:192.0.2.10:443",
		"192.0.2.10:80":               "a.example:192.0.2.10:80",
		"192.0.2.10:443":              "a.example:192.0.2.10:443 b.example:192.0.2.10:443",
		"192.0.2.10":                  "a.example:192.0.2.10:80 a.example:192.0.2.10:443 b.example:192.0.2.10:443",
		"2001:db8::1":                 "b.example:2001:db8::1:443",
		"[2001:db8::1]:443":           "b.example:2001:db8::1:443",
		"2001:db8::1:443":             "b.example:2001:db8::1:443",
		"b.example:[2001:db8::1]:443": "b.example:2001:db8::1:443",
		"cafe:2001:db8::2:443":        "cafe:2001:db8::2:443",
		"192.0.2.10:81":               "",
		"c.example:192.0.2.10:443":    "",
		"eu":                          "",
	} {
		if got := strings.Join(allIDs(selectBackends(text, known)), " "); got != want {
			t.Errorf("%q selects %q, want %q", text, got, want)
		}
	}
}

// backendCommands are the commands with a backend argument, written as %s, and the request that each command sends for
// app.example.com:192.0.2.12:443.
var backendCommands = map[string]string{
	"drain %s -y":               "POST /api/v1/servers/app.example.com:192.0.2.12:443/drain",
	"undrain %s":                "DELETE /api/v1/servers/app.example.com:192.0.2.12:443/drain",
	"servers drain %s":          "POST /api/v1/servers/app.example.com:192.0.2.12:443/drain",
	"servers undrain %s":        "DELETE /api/v1/servers/app.example.com:192.0.2.12:443/drain",
	"servers set %s --weight 5": "PATCH /api/v1/servers/app.example.com:192.0.2.12:443",
	"servers remove %s -y":      "DELETE /api/v1/servers/app.example.com:192.0.2.12:443",
	"servers reset %s -y":       "DELETE /api/v1/servers/app.example.com:192.0.2.12:443/overlay",
	"servers check %s --path /": "PATCH " +
		"/api/v1/servers/app.example.com:192.0.2.12:443/health-check",
	"weight %s 7 --reason r": "PUT " +
		"/api/v1/overwatch/backends/app.example.com/192.0.2.12/443/weight",
	"weight %s --clear": "DELETE " +
		"/api/v1/overwatch/backends/app.example.com/192.0.2.12/443/weight",
	"overrides set %s --healthy --reason r":         "PUT /api/v1/overrides/app.example.com/192.0.2.12:443",
	"overrides clear %s":                            "DELETE /api/v1/overrides/app.example.com/192.0.2.12:443",
	"backends override set %s --healthy --reason r": "PUT /api/v1/overrides/app.example.com/192.0.2.12:443",
	"backends override clear %s":                    "DELETE /api/v1/overrides/app.example.com/192.0.2.12:443",
	"backends validate %s":                          "POST /api/v1/overwatch/validate",
}

// nodeWith returns a node with these backends as servers, and with an override and a weight for each of them.
func nodeWith(t *testing.T, ids ...string) *node {
	n := startNode(t)
	var backends api.BackendList
	var servers api.ServerList
	var overrides api.OverrideList
	var orders api.OrderList
	for _, id := range ids {
		name := backendNames(id)[0]
		backends.Backends = append(backends.Backends, api.Backend{ID: id, Service: name.service,
			Address: name.address.String(), Port: name.port, Draining: true, AgentID: "eu-1"})
		servers.Servers = append(servers.Servers, api.Server{ID: id, Service: name.service,
			Address: name.address.String(), Port: name.port})
		overrides.Overrides = append(overrides.Overrides, api.Override{Service: name.service, Address: name.endpoint()})
		orders.Orders = append(orders.Orders, api.Order{Kind: api.OrderWeight, Service: name.service,
			Address: name.endpoint(), Weight: pointer(1), InForce: true})
	}
	n.answers["GET /api/v1/overwatch/backends"], n.answers["GET /api/v1/servers"] = backends, servers
	n.answers["GET /api/v1/overrides"], n.answers["GET /api/v1/overwatch/orders"] = overrides, orders
	for _, request := range backendCommands {
		if n.answers[request] == nil {
			n.answers[request] = struct{}{}
		}
	}
	return n
}

func TestBackendCommands_AcceptEveryForm(t *testing.T) {
	const id = "app.example.com:192.0.2.12:443"
	for _, line := range slices.Sorted(maps.Keys(backendCommands)) {
		for _, form := range []string{id, "192.0.2.12:443", "192.0.2.12"} {
			n := nodeWith(t, id)
			r := ask(t, fmt.Sprintf(line, form), n)
			if changes := n.changes(); r.code != 0 || len(changes) != 1 ||
				!strings.HasPrefix(changes[0]+" ", backendCommands[line]+" ") {
				t.Errorf(line+": %+v, sent %q", form, r, changes)
			}
		}
	}
}

// A text that selects backends of several services selects none of them, and the error has their ids. drain takes all
// backends of an address.
func TestBackendCommands_RejectAmbiguousAndUnknown(t *testing.T) {
	ids := []string{"app.example.com:192.0.2.12:443", "www.example.com:192.0.2.12:443"}
	for _, line := range slices.Sorted(maps.Keys(backendCommands)) {
		if strings.HasPrefix(line, "drain") || strings.HasPrefix(line, "undrain") {
			continue
		}
		for form, words := range map[string]string{
			"192.0.2.12":     strings.Join(ids, ", "),
			"192.0.2.12:443": strings.Join(ids, ", "),
			"192.0.2.12:444": "did you mean " + strings.Join(ids, " or ") + "?",
			"192.0.2.13":     "did you mean " + strings.Join(ids, " or ") + "?",
			"198.51.100.7":   "gslbctl backends -o name lists the backends",
		} {
			n := nodeWith(t, ids...)
			r := ask(t, fmt.Sprintf(line, form), n)
			if r.code != fleet.Degraded || !strings.Contains(r.errors, words) || !strings.Contains(r.errors,
				fleet.NothingChanged) ||
				len(n.changes()) > 0 {
				t.Errorf(line+": %+v, sent %q, want %q", form, r, n.changes(), words)
			}
		}
	}
}

// An IP address selects all backends of its only service, for overrides and weights.
func TestBackendCommands_SelectAllPortsOfOneService(t *testing.T) {
	ids := []string{"app.example.com:192.0.2.12:80", "app.example.com:192.0.2.12:443"}
	n := nodeWith(t, ids...)
	n.answers["PUT /api/v1/overrides/app.example.com/192.0.2.12"] = api.Override{}
	r := ask(t, "overrides set 192.0.2.12 --healthy --reason r", n)
	if r.code != 0 || len(n.changes()) != 1 || !strings.HasPrefix(n.changes()[0],
		"PUT /api/v1/overrides/app.example.com/192.0.2.12 ") {
		t.Errorf("%+v, sent %q", r, n.changes())
	}
	n = nodeWith(t, ids...)
	n.answers["PUT /api/v1/overwatch/backends/app.example.com/192.0.2.12/80/weight"] = struct{}{}
	if r := ask(t, "weight 192.0.2.12 7 --reason r", n); r.code != 0 || len(n.changes()) != 2 {
		t.Errorf("%+v, sent %q", r, n.changes())
	}
	for _, line := range []string{"servers set 192.0.2.12 --weight 7", "overrides clear 192.0.2.12"} {
		n = nodeWith(t, ids...)
		if r := ask(t, line, n); r.code != fleet.Degraded || !strings.Contains(r.errors, strings.Join(ids, ", ")) ||
			len(n.changes()) > 0 {
			t.Errorf("%s: %+v, sent %q", line, r, n.changes())
		}
	}
}

// servers add accepts a server as one argument or as three arguments.
func TestServersAdd_TakesAnID(t *testing.T) {
	for line, want := range map[string]string{
		"app.example.com:192.0.2.12:443":         `"address":"192.0.2.12","port":443`,
		"app.example.com 192.0.2.12 443":         `"address":"192.0.2.12","port":443`,
		"app.example.com:2001:db8::2:443":        `"address":"2001:db8::2","port":443`,
		"app.example.com:[2001:db8::2]:443":      `"address":"2001:db8::2","port":443`,
		"app.example.com:lb.example.net:443":     `"target":"lb.example.net"`,
		"app.example.com 192.0.2.12":             "",
		"app.example.com:192.0.2.12":             "",
		"app.example.com:192.0.2.12:https":       "",
		"app.example.com:lb.example.net":         "",
		"app.example.com lb.example.net 443 too": "",
	} {
		n := startNode(t)
		r := ask(t, "servers add "+line+" --region eu", n)
		switch sent := strings.Join(n.changes(), " "); {
		case want == "" && (r.code != fleet.NotAsked || sent != ""):
			t.Errorf("%s: %+v, sent %s", line, r, sent)
		case want != "" && (r.code != 0 || !strings.Contains(sent, want)):
			t.Errorf("%s: %+v, sent %s", line, r, sent)
		}
	}
}
