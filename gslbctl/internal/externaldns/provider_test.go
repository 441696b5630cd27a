package externaldns // inside: it uses the types of the protocol

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"gslb.internal/shared/api"
)

const properties = `"providerSpecific":[{"name":"webhook/gslb-port","value":"443"},` +
	`{"name":"webhook/gslb-region","value":"eu"}]`

// Adjusted endpoints must equal the endpoints that are read after their creation. Otherwise ExternalDNS would change
// them forever.
func TestProvider_WhatIsAppliedReadsAsItWasAdjusted(t *testing.T) {
	n := startFake(t)
	i := startInstance(t, n, "eu-1", "eu")
	if got := i.well("GET", "/", ""); got != `{"include":["example.com"]}` {
		t.Errorf("negotiate: %s", got)
	}
	if got := i.well("GET", "/records", ""); got != "[]" {
		t.Errorf("the servers of another owner are its own: %s", got)
	}
	adjusted := i.well("POST", "/adjustendpoints", `[
		{"dnsName":"App.example.com.","recordType":"A","targets":["192.0.2.1"],"recordTTL":60,"setIdentifier":"x",
		 "providerSpecific":[{"name":"alias","value":"false"}],"labels":{"resource":"service/default/app"},"later":1},
		{"dnsName":"app.example.com","recordType":"A","targets":["192.0.2.2","192.0.2.1"]},
		{"dnsName":"app.example.com","recordType":"AAAA","targets":["2001:DB8:0::1"]},
		{"dnsName":"app.example.com","recordType":"CNAME","targets":["LB.cloud.example."]},
		{"dnsName":"*.new.example.com","recordType":"A","targets":["192.0.2.3"]}]`)
	if want := `[{"dnsName":"app.example.com","targets":["192.0.2.1","192.0.2.2"],"recordType":"A",` + properties + `},` +
		`{"dnsName":"app.example.com","targets":["2001:db8::1"],"recordType":"AAAA",` + properties + `},` +
		`{"dnsName":"app.example.com","targets":["lb.cloud.example"],"recordType":"CNAME",` + properties + `},` +
		`{"dnsName":"*.new.example.com","targets":["192.0.2.3"],"recordType":"A",` + properties + `}]`; adjusted != want {
		t.Fatalf("adjusted\n%s\nwant\n%s", adjusted, want)
	}
	txt := `,{"dnsName":"a-app.example.com","recordType":"TXT","targets":["\"heritage=external-dns\""]}]`
	if code, body := i.ask("POST", "/records", `{"create":`+strings.TrimSuffix(adjusted, "]")+txt+`}`); code != 204 ||
		body != "" {
		t.Fatalf("apply: %d %s", code, body)
	}
	owned := strings.ReplaceAll(adjusted, properties, `"labels":{"owner":"eu-1"},`+properties)
	if got := i.well("GET", "/records", ""); got != owned {
		t.Errorf("records\n%s\nwant\n%s", got, owned)
	}
	i.well("POST", "/records",
		`{"delete":[{"dnsName":"app.example.com","recordType":"CNAME","targets":["lb.cloud.example"]},`+
			`{"dnsName":"*.new.example.com","recordType":"A","targets":["192.0.2.3"]}]}`)
	if got := i.well("GET", "/records", ""); strings.Contains(got, "lb.cloud") || strings.Contains(got, "*.new") ||
		!strings.Contains(got, "192.0.2.2") {
		t.Errorf("records without what was deleted\n%s", got)
	}
	if log := i.log.String(); strings.Contains(log, "WARN") {
		t.Errorf("%s", log)
	}
}

// Two clusters have servers of one name. A change by one cluster does not affect the servers of the other.
func TestProvider_OneClusterGoesAndTheOtherStays(t *testing.T) {
	n := startFake(t)
	eu, asia := startInstance(t, n, "eu-1", "eu"), startInstance(t, n, "us-2", "us")
	endpoint := func(address, region string) string {
		return `[{"dnsName":"both.example.com","recordType":"A","targets":["` + address + `"],` +
			strings.ReplaceAll(properties, `"eu"`, `"`+region+`"`) + `}]`
	}
	eu.well("POST", "/records", `{"create":`+endpoint("192.0.2.1", "eu")+`}`)
	asia.well("POST", "/records", `{"create":`+endpoint("192.0.2.2", "us")+`}`)
	const others = "us-1 app.example.com 203.0.113.9 us"
	both := "eu-1 both.example.com 192.0.2.1 eu, " + others + ", us-2 both.example.com 192.0.2.2 us"
	if got := n.servers(); got != both {
		t.Fatalf("both: %s", got)
	}
	n.doc.Servers[1]["weight"] = 7
	n.doc.Servers[1]["health_check"] = api.HealthCheckChange{"path": "/live"}
	kept := n.doc.Servers[1]
	asia.well("POST", "/records", `{"updateOld":`+endpoint("192.0.2.2", "us")+`,"updateNew":`+endpoint("192.0.2.4",
		"us")+`}`)
	eu.well("POST", "/records", `{"updateOld":`+endpoint("192.0.2.1", "eu")+`,"updateNew":`+endpoint("192.0.2.1",
		"us")+`}`)
	for _, s := range n.doc.Servers {
		if s.Text("owner") == kept.Text("owner") && (s.Number("weight") != 7 ||
			!strings.Contains(fmt.Sprintf("%s", s["health_check"]), "/live")) {
			t.Errorf("what people have set of a server is gone: %+v", s)
		}
	}
	eu.well("POST", "/records", `{"delete":`+endpoint("192.0.2.1", "us")+`}`)
	if got := n.servers(); got != others+", us-2 both.example.com 192.0.2.4 us" || !hasDomain(n.doc,
		"both.example.com") {
		t.Fatalf("one is gone: %s", got)
	}
	asia.well("POST", "/records", `{"delete":`+endpoint("192.0.2.4", "us")+`}`)
	if got := n.servers(); got != others || hasDomain(n.doc, "both.example.com") || !hasDomain(n.doc,
		"app.example.com") {
		t.Errorf("both are gone: %s, %+v", got, n.doc.Domains)
	}
}

func TestAdjust_WhatCannotBeAServerStaysAsItWasAndIsToldOnce(t *testing.T) {
	n := startFake(t)
	taken := fakeServer("app.example.com", "", "us", "us-1")
	taken["target"] = "taken.cloud.example"
	delete(taken, "address")
	n.doc.Servers = append(n.doc.Servers, fakeServer("app.example.com", "192.0.2.1", "eu", "eu-1"), taken)
	i := startInstance(t, n, "eu-1", "eu")
	const region, port = `"providerSpecific":[{"name":"webhook/gslb-region","value":"mars"}]`,
		`"providerSpecific":[{"name":"webhook/gslb-port","value":"http"}]`
	here := `{"dnsName":"app.example.com","targets":["192.0.2.1"],"recordType":"A","labels":{"owner":"eu-1"},` +
		properties + `}`
	for _, tc := range []struct{ endpoint, want, told string }{
		{`{"dnsName":"a.example.com","recordType":"CNAME","targets":["192.0.2.300"]}`, "", "must be a host name"},
		{`{"dnsName":"a.example.com","recordType":"CNAME","targets":["b.example.com"]}`, "", "may lead to itself"},
		{`{"dnsName":"app.example.com","recordType":"CNAME","targets":["taken.cloud.example"]}`, "",
			"belongs to the owner \\\"us-1\\\""},
		{`{"dnsName":"a.example.com","recordType":"MX","targets":["10 a"]}`, "", "only A, AAAA and CNAME"},
		{`{"dnsName":"a.example.org","recordType":"A","targets":["192.0.2.1"]}`, "",
			"outside every zone of the nodes (example.com.)"},
		{`{"dnsName":"a example.com","recordType":"A","targets":["192.0.2.1"]}`, "", "letters, digits, hyphens"},
		{`{"dnsName":"a-.example.com","recordType":"A","targets":["192.0.2.1"]}`, "", "letters, digits, hyphens"},
		{`{"recordType":"A","targets":["192.0.2.1"]}`, "", "letters, digits, hyphens"},
		{`{"dnsName":"a.example.com","recordType":"A","targets":["2001:db8::1"]}`, "", "an address for A records"},
		{`{"dnsName":"a.example.com","recordType":"AAAA","targets":["::ffff:192.0.2.1"]}`, "",
			"an address for AAAA records"},
		{`{"dnsName":"a.example.com","recordType":"A","targets":["0.0.0.0","224.0.0.1","255.255.255.255"]}`, "",
			"an address for A records"},
		{`{"dnsName":"b.example.com","recordType":"A"}`, "", "no target"},
		{`{"dnsName":"app.example.com","recordType":"A","targets":["203.0.113.9"]}`, "",
			"belongs to the owner \\\"us-1\\\""},
		{`{"dnsName":"app.example.com","recordType":"A","targets":["192.0.2.7"],` + region + `}`, here,
			"one of eu, us"},
		{`{"dnsName":"app.example.com","recordType":"A","targets":["192.0.2.7"],` + port + `}`, here,
			"a port from 1 to 65535"},
		{`null`, "", ""},
		{`{"dnsName":"file.example.com","recordType":"A","targets":["192.0.2.1"]}`, "",
			"belongs to the configuration file"},
	} {
		i.log.Reset()
		if got := i.well("POST", "/adjustendpoints", "["+tc.endpoint+"]"); got != "["+tc.want+"]" {
			t.Errorf("%s: %s, want %s", tc.endpoint, got, tc.want)
		}
		log := i.log.String()
		i.well("POST", "/adjustendpoints", "["+tc.endpoint+"]")
		if !strings.Contains(log, tc.told) || (log == "") != (tc.told == "") || i.log.String() != log {
			t.Errorf("%s is told %q, then %q, want %q once", tc.endpoint, log, i.log.String(), tc.told)
		}
	}
	two := `[{"dnsName":"app.example.com","recordType":"A","targets":["192.0.2.1"]},{"dnsName":"app.example.com",` +
		`"recordType":"A","targets":["192.0.2.2"],"providerSpecific":[{"name":"webhook/gslb-region","value":"us"}]}]`
	if got := i.well("POST", "/adjustendpoints", two); strings.Contains(got, "192.0.2.2") ||
		!strings.Contains(i.log.String(), "give both the same") {
		t.Errorf("two regions: %s, %s", got, i.log)
	}
	n.zones = nil
	names := i.well("POST", "/adjustendpoints",
		`[{"dnsName":"app.example.com","recordType":"A","targets":["192.0.2.2"]},
		{"dnsName":"file.example.com","recordType":"A","targets":["192.0.2.2"]}]`)
	if strings.Contains(names, "app.") || !strings.Contains(names, "file.") || i.well("GET", "/", "") != "{}" {
		t.Errorf("without zones, the names that there are: %s", names)
	}
}

// If the API server of a cluster reports an incomplete state, the owner's servers must not be deleted.
func TestApply_MuchNeedsForceAndALostNameDoesNot(t *testing.T) {
	n := startFake(t)
	n.plan = api.Plan{Force: []string{"5 of the 12 objects would go", "app.example.com would have no backend"},
		Answers: api.PlanAnswers{Losses: []api.Consequence{{Name: "app.example.com"}}}}
	i := startInstance(t, n, "us-1", "us")
	change := `{"delete":[{"dnsName":"app.example.com","recordType":"A","targets":["203.0.113.9"]}]}`
	if code, body := i.ask("POST", "/records", change); code != 500 || !strings.Contains(body, "5 of the 12 objects") ||
		!strings.Contains(body, "--force") || n.servers() == "" {
		t.Errorf("%d %s", code, body)
	}
	n.plan.Force = n.plan.Force[1:]
	i.well("POST", "/records", change)
	if n.servers() != "" || !hasDomain(n.doc, "app.example.com") {
		t.Errorf("%s: a name that people have made is theirs: %+v", n.servers(), n.doc.Domains)
	}
}

func TestHandler_RefusesWhatIsNoProtocol(t *testing.T) {
	n := startFake(t)
	i := startInstance(t, n, "eu-1", "eu")
	good := `[{"dnsName":"app.example.com","recordType":"A","targets":["192.0.2.1"],` + properties + `}]`
	for _, tc := range []struct {
		method, path, kind, body string
		want                     int
	}{
		{"POST", "/records", "application/json", `{}`, 415},
		{"POST", "/records", "", `{}`, 415},
		{"POST", "/records", "application/external.dns.webhook+json;version=2", `{}`, 415},
		{"POST", "/adjustendpoints", "text/plain", `[]`, 415},
		{"POST", "/records", "application/external.dns.webhook+json; version=1", `{}`, 204},
		{"POST", "/records", MediaType, ``, 400},
		{"POST", "/records", MediaType, `{"create":`, 400},
		{"POST", "/records", MediaType, `{"create":{}}`, 400},
		{"POST", "/records", MediaType, `{} {}`, 400},
		{"POST", "/records", MediaType, `{"create":[null],"delete":[null]}`, 204},
		{"POST", "/records", MediaType, `{"create":[{"dnsName":"` + strings.Repeat("a", 2*api.MaxDocument) + `"}]}`,
			413},
		{"POST", "/records", MediaType, `{"create":` + strings.ReplaceAll(good, `"443"`, `"0"`) + `}`, 204},
		{"POST", "/records", MediaType, `{"create":` + strings.ReplaceAll(good, `"A"`, `"MX"`) + `}`, 204},
		{"POST", "/records", MediaType, `{"create":` + strings.ReplaceAll(good, `192.0.2.1`, `b`) + `}`, 204},
		{"POST", "/records", MediaType, `{"create":` + strings.ReplaceAll(good, `app.`, `..`) + `}`, 204},
		{"POST", "/adjustendpoints", MediaType, `{}`, 400},
		{"POST", "/adjustendpoints", MediaType, `null`, 200},
		{"PUT", "/records", MediaType, `{}`, 405},
		{"POST", "/", MediaType, `{}`, 405},
		{"GET", "/healthz", "", ``, 404},
	} {
		r := httptest.NewRequestWithContext(t.Context(), tc.method, tc.path, strings.NewReader(tc.body))
		r.Host = "127.0.0.1:8888"
		r.Header.Set("Content-Type", tc.kind)
		w := httptest.NewRecorder()
		i.Handler().ServeHTTP(w, r)
		if left, err := io.ReadAll(r.Body); tc.want == http.StatusRequestEntityTooLarge && (err != nil || len(left) > 0) {
			t.Errorf("%s: %d octets of a refused body are unread, and its sender gets a reset: %v", tc.path, len(left),
				err)
		}
		if w.Code != tc.want {
			t.Errorf("%s %s %q %.80s: %d %s, want %d", tc.method, tc.path, tc.kind, tc.body, w.Code, w.Body, tc.want)
		}
	}
	for _, request := range n.requests {
		if request == "DELETE" || !strings.HasPrefix(request, "POST /api/v1/document/") {
			t.Errorf("a node was asked %s", request)
		}
	}
}

// ExternalDNS exits after 4xx and retries after 5xx. An unreachable or rejecting node results in 5xx.
func TestHandler_ANodeThatIsAwayOrRefusesIsAskedAgain(t *testing.T) {
	n := startFake(t)
	i := startInstance(t, n, "eu-1", "eu")
	n.refuse = "POST /api/v1/document/apply"
	change := `{"create":[{"dnsName":"app.example.com","recordType":"A","targets":["192.0.2.1"],` + properties + `}]}`
	before := n.servers()
	if code, body := i.ask("POST", "/records", change); code != 500 || n.servers() != before ||
		!strings.Contains(body, "servers[0]: it is taken") || !strings.Contains(i.log.String(), "it is taken") {
		t.Errorf("refused: %d %s", code, body)
	}
	n.refuse = ""
	gone, err := api.NewClient(api.ClientOptions{Node: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	i.Node = func(context.Context) (*api.Client, error) { return gone, nil }
	for _, r := range [][3]string{{"GET", "/", ""}, {"GET", "/records", ""}, {"POST", "/adjustendpoints", "[]"},
		{"POST", "/records", change}} {
		if code, body := i.ask(r[0], r[1], r[2]); code != 500 {
			t.Errorf("%s %s: %d %s", r[0], r[1], code, body)
		}
	}
}

// A page with a name that DNS rebinding maps to this address sends this name as Host.
func TestHandler_RefusesAHostThatIsNotItsOwn(t *testing.T) {
	n := startFake(t)
	i := startInstance(t, n, "eu-1", "eu")
	i.Hosts = []string{"gslb-webhook"}
	for host, want := range map[string]int{"localhost:8888": 200, "127.0.0.1:8888": 200, "[::1]:8888": 200,
		"gslb-webhook:8888": 200, "evil.example:8888": 421, "localhost.evil.example": 421, "": 421} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/records", nil)
		r.Host = host
		w := httptest.NewRecorder()
		i.Handler().ServeHTTP(w, r)
		if w.Code != want || want == 421 && !strings.Contains(w.Body.String(), "--allowed-host") {
			t.Errorf("%s: %d %s, want %d", host, w.Code, w.Body, want)
		}
	}
}

// The node has rules that a Provider lacks, such as names with static records. Both requests omit only the endpoints
// that the node rejects.
func TestRecords_WhatTheNodeRefusesBlocksNothingElse(t *testing.T) {
	n := startFake(t)
	named := false
	n.refuses = func(doc api.Document) *api.ErrorBody {
		for _, d := range doc.Domains {
			if d.Text("name") == "static.example.com" {
				return &api.ErrorBody{Error: "static.example.com has static records"}
			}
		}
		for i, s := range doc.Servers {
			if s.Text("address") == "192.0.2.66" {
				named = true
				return &api.ErrorBody{Error: "nothing was changed", Problems: []api.DocumentProblem{
					{Object: fmt.Sprintf("servers[%d]", i), Problem: "its address is the node's own"}}}
			}
		}
		return nil
	}
	i := startInstance(t, n, "eu-1", "eu")
	list := `[{"dnsName":"a.example.com","recordType":"A","targets":["192.0.2.1"],` + properties + `},
		{"dnsName":"static.example.com","recordType":"A","targets":["192.0.2.2"],` + properties + `},
		{"dnsName":"b.example.com","recordType":"A","targets":["192.0.2.3","192.0.2.66"],` + properties + `},
		{"dnsName":"hyphen-.example.com","recordType":"A","targets":["192.0.2.4"],` + properties + `}]`
	adjusted := i.well("POST", "/adjustendpoints", list)
	if strings.Contains(adjusted, "static") || strings.Contains(adjusted, "192.0.2.66") ||
		strings.Contains(adjusted, "hyphen") || !strings.Contains(adjusted, "192.0.2.1") ||
		!strings.Contains(adjusted, "192.0.2.3") || !named {
		t.Errorf("adjusted: %s", adjusted)
	}
	i.log.Reset()
	i.well("POST", "/adjustendpoints", list)
	if i.log.Len() > 0 {
		t.Errorf("it is logged twice: %s", i.log)
	}
	i.told = nil
	i.well("POST", "/records", `{"create":`+list+`}`)
	want := "eu-1 a.example.com 192.0.2.1 eu, eu-1 b.example.com 192.0.2.3 eu, us-1 app.example.com 203.0.113.9 us"
	if got := n.servers(); got != want {
		t.Errorf("servers: %s\nwant: %s", got, want)
	}
	for _, reason := range []string{"static.example.com has static records", "its address is the node's own",
		"hyphen-.example.com"} {
		if !strings.Contains(i.log.String(), reason) {
			t.Errorf("the log lacks %q: %s", reason, i.log)
		}
	}
	i.well("POST", "/records", `{"updateOld":[{"dnsName":"a.example.com","recordType":"A","targets":["192.0.2.1"]}],
		"updateNew":[{"dnsName":"a.example.com","recordType":"A","targets":["192.0.2.66"],`+properties+`}]}`)
	if got := n.servers(); got != want {
		t.Errorf("a refused update changes servers: %s\nwant: %s", got, want)
	}
}

// FuzzBody searches for request bodies that crash a provider, or cause a response that the provider would reject.
func FuzzBody(f *testing.F) {
	f.Add(`[{"dnsName":"app.example.com","recordType":"A","targets":["192.0.2.1"],"providerSpecific":[{"name":"a"}]}]`)
	f.Add(`{"create":[{"dnsName":"*.example.com","recordType":"TXT"}],"updateOld":[null],"delete":[{}]}`)
	p := Provider{Owner: "eu-1", Region: "eu", Port: 443}
	k := nodeState{zones: []string{"example.com"}, regions: []string{"eu"}}
	f.Fuzz(func(t *testing.T, body string) {
		var c changes
		if json.Unmarshal([]byte(body), &c) == nil {
			c = c.clean()
			_ = p.document(api.Document{}, append(c.Delete, c.UpdateOld...), nil)
		}
		var list []*endpoint
		if json.Unmarshal([]byte(body), &list) != nil {
			return
		}
		for _, e := range list {
			if e == nil {
				continue
			}
			made, _ := p.wanted(e, &k)
			if made == nil {
				continue
			}
			again, problems := p.wanted(made, &k)
			if len(problems) > 0 || again.key() != made.key() || !slices.Equal(again.Targets, made.Targets) {
				t.Errorf("%q is valid once and then not: %v", body, problems)
			}
			if doc := p.document(api.Document{}, nil, []*endpoint{made}); len(doc.Servers) == 0 {
				t.Errorf("%q is valid and makes no server", body)
			}
		}
	})
}
