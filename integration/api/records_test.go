package api_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// addresses returns the addresses that a node answers for a name, in order.
func addresses(t *testing.T, n *harness.Node, name string) (list []string) {
	t.Helper()
	for _, rr := range testbed.Exchange(t, "udp", n, name, dns.TypeA).Answer {
		if a, is := rr.(*dns.A); is {
			list = append(list, a.A.String())
		}
	}
	slices.Sort(list)
	return list
}

// A document creates, replaces and prunes records, and an undo restores them. Records that expire are not in an export,
// and an apply leaves them.
func TestRecords_DocumentsReplaceThem(t *testing.T) {
	t.Parallel()
	s := testbed.StartSite(t, 1, 1)
	n, name := s.Nodes[0], "www.test.gslb.test"
	apply := func(prune bool, records ...api.DocumentRecords) api.Plan {
		t.Helper()
		plan, err := n.Client.Apply(t.Context(), api.ApplyRequest{Owner: "web", Prune: prune, Force: true,
			Document: api.Document{Records: records}})
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
	set := func(name string, data ...string) api.DocumentRecords {
		return api.DocumentRecords{"name": name, "type": "A", "data": data}
	}
	want := func(name string, list ...string) {
		t.Helper()
		if got := addresses(t, n, name); !slices.Equal(got, list) {
			t.Errorf("%s has %v, want %v", name, got, list)
		}
	}
	apply(false, set(name, "192.0.2.1", "192.0.2.2"), set("two.test.gslb.test", "192.0.2.3"))
	want(name, "192.0.2.1", "192.0.2.2")
	if _, err := n.Client.AddRecords(t.Context(), api.RecordSetChange{"name": name, "type": "A",
		"data": []string{"192.0.2.9"}, "expires_at": time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if plan := apply(true, set(name, "192.0.2.2")); len(plan.Changes) != 2 {
		t.Errorf("the plan: %+v", plan.Changes)
	}
	want(name, "192.0.2.2", "192.0.2.9")
	want("two.test.gslb.test")
	doc, err := n.Client.Document(t.Context())
	if err != nil || len(doc.Records) != 1 || !reflect.DeepEqual(doc.Records[0].Texts("data"), []string{"192.0.2.2"}) {
		t.Errorf("the export: %+v, %v", doc.Records, err)
	}
	if plan := apply(true, doc.Records...); len(plan.Changes) != 0 || plan.Unchanged != 1 {
		t.Errorf("an apply of the export: %+v", plan)
	}
	if _, err := n.Client.Undo(t.Context(), "last"); err != nil {
		t.Error(err)
	}
	want(name, "192.0.2.1", "192.0.2.2", "192.0.2.9")
	want("two.test.gslb.test", "192.0.2.3")
	_, err = n.Client.Apply(t.Context(), api.ApplyRequest{Owner: "web", Document: api.Document{
		Records: []api.DocumentRecords{set(testbed.AppName, "192.0.2.1")}}})
	if err == nil || !strings.Contains(err.Error(), "load-balanced") {
		t.Errorf("records of a load-balanced name: %v", err)
	}
}

// A domain cannot replace records of the API: the error names the record. Undo of PUT restores the previous records.
func TestRecords_NoOtherChangeDisplacesThem(t *testing.T) {
	t.Parallel()
	s := testbed.StartSite(t, 1, 1)
	n, name := s.Nodes[0], "www.test.gslb.test"
	for _, data := range []string{"192.0.2.1", "192.0.2.2"} {
		if _, err := n.Client.PutRecords(t.Context(), name, "A", api.RecordSetChange{"data": []string{data}}); err != nil {
			t.Fatal(err)
		}
		if got := addresses(t, n, name); !slices.Equal(got, []string{data}) {
			t.Errorf("after the call, %s has %v", name, got)
		}
	}
	if _, err := n.Client.CreateDomain(t.Context(), api.DomainChange{"name": name}); err == nil ||
		!strings.Contains(err.Error(), name+" A 192.0.2.2") {
		t.Errorf("a domain at the name of a record: %v", err)
	}
	if _, err := n.Client.Undo(t.Context(), "last"); err != nil {
		t.Error(err)
	}
	if got := addresses(t, n, name); !slices.Equal(got, []string{"192.0.2.1"}) {
		t.Errorf("after the undo, %s has %v", name, got)
	}
	testbed.Kill(t, n)
	testbed.Start(t, n)
	s.Ready(t, n)
	if got := addresses(t, n, name); !slices.Equal(got, []string{"192.0.2.1"}) {
		t.Errorf("after a kill, %s has %v", name, got)
	}
}
