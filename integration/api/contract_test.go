package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// row is a request and the expected properties of its answer, according to the specification and the API page.
type row struct {
	operation string // method and path as the node's OpenAPI document writes it
	path      string // below /api, in the words of the fixture; empty: that of the operation
	body      string // JSON, but for config/validate
	status    int
	// shape contains the required fields of the body with their types: s(tring), i(nteger), n(umber), b(ool), t(ime),
	// o(bject), a(rray), x for any JSON. A suffix ? means that null is allowed, a suffix - that the field is optional.
	// {x|y} means one of these words, ~x a text that contains x. "list[].field" is a field of every element; the list
	// needs at least one element unless the suffix is -. Without a shape, the answer has no body.
	shape string
}

// each adds a prefix to the fields of a shape.
func each(prefix, shape string) string {
	words := strings.Fields(shape)
	for i := range words {
		words[i] = prefix + words[i]
	}
	return strings.Join(words, " ")
}

// optional returns a shape with optional fields.
func optional(shape string) string {
	return " " + strings.ReplaceAll(strings.Join(strings.Fields(shape), "- ")+"-", "--", "-")
}

// fixture contains the names of the cluster's objects that the rows use.
type fixture struct {
	app, backendAt, agentID, otherID string
	decision                         string // id of a sampled decision
}

// contract returns at least one row for each method of each path. In the order of the rows, the required objects exist.
func (f fixture) contract() []row {
	return slices.Concat(f.healthRows(), f.domainRows(), f.serverRows(), f.regionRows(), f.recordRows(), f.nodeRows(),
		f.dnssecRows(), f.backendRows(), f.configRows(), f.eventRows(), f.metricRows(), f.routingRows(), f.tokenRows(),
		f.agentRows())
}

// plannedStart returns the member starts_at of a body, for a start in an hour.
func plannedStart() string {
	return `"starts_at":"` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + `"`
}

// This test compares every method of every path of the running program with the contract.
func TestContract_EveryOperationAnswersAsPromised(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 1, 2)
	n, b := s.Nodes[0], s.Backends[0]
	n.File.Routing = &harness.Routing{DecisionSample: 1}
	testbed.Notify("webhook", "http://"+testbed.UnusedAddress(t), n)
	s.StartPrograms(t) // without a watch, whose questions would in the end take the place of the sampled one
	testbed.Exchange(t, "udp", n, testbed.AppName, dns.TypeA)
	var sampled api.RoutingDecisionList
	testbed.Until(t, testbed.StartBound, "a sampled decision", func(ctx context.Context) (err error) {
		if sampled, err = n.Client.RoutingDecisions(ctx, nil); err == nil && len(sampled.Decisions) == 0 {
			err = errors.New("there is none")
		}
		return err
	})
	d := documentOf(t, n)
	missing := map[string]bool{} // operations of the document; a test of the API holds it against the routes both ways
	for path, methods := range d.paths {
		for method := range methods {
			missing[strings.ToUpper(method)+" "+path] = false
		}
	}
	rows := fixture{app: testbed.AppName, backendAt: b.At.String(), agentID: s.Agents[0].Name, otherID: s.Agents[1].Name,
		decision: sampled.Decisions[0].ID}.contract()
	checkFields(t, d.raw, rows)
	for _, r := range rows {
		if _, known := missing[r.operation]; !known {
			t.Errorf("%s is promised, and the node does not describe it", r.operation)
		}
		missing[r.operation] = true
		if agent := s.Agents[0]; strings.HasPrefix(r.operation, "DELETE /api/v1/nodes/agent/") && agent.Running() {
			testbed.Kill(t, agent) // which would enrol again by itself
		}
		r.try(t, n, d)
	}
	for operation, tried := range missing {
		if !tried {
			t.Errorf("%s has no row here: add what is promised of it", operation)
		}
	}
}

func request(t *testing.T, n *harness.Node, method, path, body string) (int, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, n.Client.Node()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json") // which YAML may be called, too
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if kind := answer.Header.Get("Content-Type"); len(content) > 0 && strings.HasPrefix(path, "/api/v1") &&
		kind != "application/json" {
		t.Errorf("%s %s: Content-Type %q", method, path, kind)
	}
	if answer.Header.Get("X-Request-Id") == "" {
		t.Errorf("%s %s: no X-Request-Id", method, path)
	}
	return answer.StatusCode, content
}

// try sends the request and compares the answer with the shape of the row and with the OpenAPI document.
func (r row) try(t *testing.T, n *harness.Node, d *apiDocument) {
	t.Helper()
	method, described, _ := strings.Cut(r.operation, " ")
	path := described
	if r.path != "" {
		path = "/api" + r.path
	}
	status, body := request(t, n, method, path, r.body)
	what := fmt.Sprintf("%s %s %s: %d %.300s", method, path, r.body, status, body)
	if status != r.status {
		t.Errorf("%s\nwant status %d", what, r.status)
		return
	}
	if err := d.check(method, described, status, body); err != nil {
		t.Error(err)
	}
	if r.shape == "" || r.shape == "page" {
		if (len(body) > 0) != (r.shape == "page") {
			t.Errorf("%s\nhas %d bytes of body", what, len(body))
		}
		return
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Errorf("%s\n%v", what, err)
		return
	}
	for _, field := range strings.Fields(r.shape) {
		name, kind, _ := strings.Cut(field, ":")
		if wrong := fits(value, strings.Split(name, "."), kind); wrong != "" {
			t.Errorf("%s\n%s %s", what, field, wrong)
		}
	}
}

// fits returns "" if the field at a path has the kind, otherwise the mismatch.
func fits(value any, path []string, kind string) string {
	if len(path) == 0 {
		return fitsKind(value, kind)
	}
	name, list := strings.CutSuffix(path[0], "[]")
	object, _ := value.(map[string]any)
	inner, there := object[name]
	if name == "" { // the body is a list
		inner, there = value, true
	}
	if !there {
		if strings.HasSuffix(kind, "-") {
			return ""
		}
		return "is missing"
	}
	if !list {
		return fits(inner, path[1:], kind)
	}
	elements, _ := inner.([]any)
	if len(elements) == 0 && !strings.HasSuffix(kind, "-") {
		return "is in an empty list"
	}
	for _, element := range elements {
		if wrong := fits(element, path[1:], kind); wrong != "" {
			return wrong
		}
	}
	return ""
}

func fitsKind(value any, kind string) string {
	kind, nullable := strings.CutSuffix(strings.TrimSuffix(kind, "-"), "?")
	if value == nil && nullable {
		return ""
	}
	kind, part, _ := strings.Cut(kind, "~")
	kind, words, closed := strings.Cut(strings.TrimSuffix(kind, "}"), "{")
	text, isText := value.(string)
	number, isNumber := value.(float64)
	ok := false
	switch kind {
	case "s":
		ok = isText && (!closed || slices.Contains(strings.Split(words, "|"), text)) && strings.Contains(text, part)
	case "x":
		ok = true
	case "i":
		ok = isNumber && number == math.Trunc(number)
	case "n":
		ok = isNumber
	case "b":
		_, ok = value.(bool)
	case "t":
		at, err := time.Parse(time.RFC3339, text)
		ok = err == nil && strings.HasSuffix(text, "Z") && !at.IsZero()
	case "o":
		_, ok = value.(map[string]any)
	case "a":
		_, ok = value.([]any)
	}
	if !ok {
		return fmt.Sprintf("is %v", value)
	}
	return ""
}
