package externaldns // inside: it shares provider_test.go, which uses the types of the protocol

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// fakeNode stores a document as a node does, from the point of view of a Provider.
type fakeNode struct {
	t  *testing.T
	mu sync.Mutex

	doc      api.Document
	plan     api.Plan                          // of the next plans
	refuse   string                            // the request that is refused with 409
	refuses  func(api.Document) *api.ErrorBody // of each plan and apply, nil if it is accepted
	requests []string
	zones    []string
	client   *api.Client
}

func startFake(t *testing.T) *fakeNode {
	t.Helper()
	n := &fakeNode{t: t, zones: []string{"example.com."}, doc: api.Document{
		Domains: []api.DocumentDomain{{"name": "app.example.com"}},
		Servers: []api.DocumentServer{fakeServer("app.example.com", "203.0.113.9", "us", "us-1")},
	}}
	server := httptest.NewServer(n)
	t.Cleanup(server.Close)
	client, err := api.NewClient(api.ClientOptions{Node: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	n.client = client
	return n
}

func fakeServer(name, address, region, owner string) api.DocumentServer {
	return api.DocumentServer{"owner": owner,
		"service": name, "address": address, "port": 443, "region": region}
}

func (n *fakeNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	line := r.Method + " " + r.URL.Path
	if r.Method != http.MethodGet {
		n.requests = append(n.requests, line)
	}
	w.Header().Set("Content-Type", "application/json")
	status, answer := n.answer(line, r)
	w.WriteHeader(status)
	if status != http.StatusNoContent {
		_ = json.NewEncoder(w).Encode(answer)
	}
}

func (n *fakeNode) answer(line string, r *http.Request) (int, any) {
	name := strings.TrimPrefix(r.URL.Path, "/api/v1/domains/")
	switch {
	case line == n.refuse:
		return http.StatusConflict, api.ErrorBody{Error: "nothing was changed: servers[0]: it is taken"}
	case line == "GET /api/v1/config/dns":
		answer := api.DNSConfigAnswer{}
		answer.Config.Zones = n.zones
		return http.StatusOK, answer
	case line == "GET /api/v1/regions":
		return http.StatusOK, api.RegionList{Regions: []api.Region{{ID: "eu"}, {ID: "us"}}, Total: 2}
	case line == "GET /api/v1/servers":
		return http.StatusOK, api.ServerList{Total: 1, Servers: []api.Server{{Service: "file.example.com",
			Address: "192.0.2.1", Port: 443, Source: api.SourceStatic}}}
	case line == "GET /api/v1/domains":
		return http.StatusOK, api.DomainList{Total: 1,
			Domains: []api.Domain{{Domain: model.Domain{Name: "file.example.com"}}}}
	case line == "GET /api/v1/document":
		return http.StatusOK, n.doc
	case strings.HasPrefix(line, "POST /api/v1/document/"):
		var req api.ApplyRequest
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			n.t.Error(err)
		}
		if n.refuses != nil {
			if refusal := n.refuses(req.Document); refusal != nil {
				return http.StatusBadRequest, refusal
			}
		}
		if line == "POST /api/v1/document/plan" {
			return http.StatusOK, n.plan
		}
		n.apply(req)
		return http.StatusOK, api.Plan{Applied: true}
	case r.Method == http.MethodDelete:
		n.doc.Domains = slices.DeleteFunc(n.doc.Domains,
			func(d api.DocumentDomain) bool { return d.Text("name") == name })
		return http.StatusNoContent, nil
	case strings.HasPrefix(line, "GET /api/v1/domains/") && hasDomain(n.doc, name):
		detail := api.DomainDetail{Domain: api.Domain{Domain: model.Domain{Name: name}}}
		for _, s := range n.doc.Servers {
			if s.Text("service") == name {
				detail.Domain.BackendCount++
			}
		}
		return http.StatusOK, detail
	}
	return http.StatusNotFound, api.ErrorBody{Error: "no such thing is known"}
}

func (n *fakeNode) apply(req api.ApplyRequest) {
	if req.Prune {
		if !req.Force {
			n.t.Error("an apply of servers without force")
		}
		n.doc.Servers = slices.DeleteFunc(n.doc.Servers,
			func(s api.DocumentServer) bool { return s.Text("owner") == req.Owner })
		n.doc.Domains = slices.DeleteFunc(n.doc.Domains,
			func(d api.DocumentDomain) bool { return d.Text("owner") == req.Owner })
	}
	for _, d := range req.Document.Domains {
		if !hasDomain(n.doc, d.Text("name")) {
			n.doc.Domains = append(n.doc.Domains, d)
		}
	}
	for _, s := range req.Document.Servers {
		if !hasDomain(n.doc, s.Text("service")) {
			n.t.Errorf("a server of %s, which is no name yet", s.Text("service"))
		}
		n.doc.Servers = append(n.doc.Servers, s)
	}
}

// servers returns the servers of the node, such as "us-1 app.example.com 203.0.113.9 us".
func (n *fakeNode) servers() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var list []string
	for _, s := range n.doc.Servers {
		list = append(list, strings.Join([]string{s.Text("owner"), s.Text("service"), hostOf(s), s.Text("region")},
			" "))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// instance is a Provider with its node and its log.
type instance struct {
	t *testing.T
	*Provider
	log *bytes.Buffer
}

func startInstance(t *testing.T, n *fakeNode, owner, region string) *instance {
	t.Helper()
	i := &instance{t: t, log: &bytes.Buffer{}}
	i.Provider = &Provider{Node: func(context.Context) (*api.Client, error) { return n.client, nil }, Owner: owner,
		Region: region, Port: 443, Log: slog.New(slog.NewTextHandler(i.log, nil))}
	return i
}

// ask sends a request as ExternalDNS does, and returns the response.
func (i *instance) ask(method, path, body string) (int, string) {
	i.t.Helper()
	r := httptest.NewRequestWithContext(i.t.Context(), method, path, strings.NewReader(body))
	r.Host = "localhost:8888"
	if method == http.MethodPost {
		r.Header.Set("Content-Type", MediaType)
	}
	w := httptest.NewRecorder()
	i.Handler().ServeHTTP(w, r)
	if w.Code == http.StatusOK && w.Header().Get("Content-Type") != MediaType {
		i.t.Errorf("%s %s: Content-Type is %q", method, path, w.Header().Get("Content-Type"))
	}
	return w.Code, strings.TrimSpace(w.Body.String())
}

// well is ask where the status must be good.
func (i *instance) well(method, path, body string) string {
	i.t.Helper()
	code, answer := i.ask(method, path, body)
	if code >= 300 {
		i.t.Fatalf("%s %s %s: %d %s", method, path, body, code, answer)
	}
	return answer
}
