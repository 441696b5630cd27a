package replication_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// kept waits until nodes list objects that have no effect, as "kind name": objects that conflict with the file, objects
// that refer to missing objects, and objects that are also in the file.
func kept(t *testing.T, refused, unused []string, nodes ...*harness.Node) {
	t.Helper()
	named := func(list []api.ReplicationRefused) []string {
		names := []string{}
		for _, o := range list {
			names = append(names, o.Kind+" "+o.Name)
		}
		return names
	}
	for _, n := range nodes {
		testbed.Until(t, reachBound, fmt.Sprintf("%s to list %v and %v", n.Name, refused, unused),
			func(ctx context.Context) error {
				r, err := n.Client.Replication(ctx)
				if err != nil || !slices.Equal(named(r.Refused), refused) || !slices.Equal(named(r.Unused), unused) ||
					r.UnusedTotal != len(unused) {
					return fmt.Errorf("it lists %v and %v, %w", r.Refused, r.Unused, err)
				}
				return nil
			})
	}
}

// A server and an override of a name that was deleted on another node at the same time are stored, listed and not
// served until the name exists again. The audit log of the node where the earlier, replaced decision was made contains
// the decision.
func TestReplication_DecisionsThatDoNotGoTogether(t *testing.T) {
	t.Parallel()
	s := site(t)
	a, b, c := s.Nodes[0], s.Nodes[1], s.Nodes[2]
	s.StartNodes(t, s.Nodes...)
	const name, both, address = "far.test.gslb.test", "both.test.gslb.test", "192.0.2.5"
	for _, one := range []string{name, both} {
		if _, err := a.Client.CreateDomain(t.Context(), api.DomainChange{"name": one}); err != nil {
			t.Fatal(err)
		}
	}
	alike(t, s.Nodes...)
	describe := func(n *harness.Node, text string) error {
		_, err := n.Client.ChangeDomain(t.Context(), both, api.DomainChange{"description": text})
		return err
	}
	testbed.Stop(t, a)
	testbed.Stop(t, b)
	_, err := c.Client.CreateServer(t.Context(), api.ServerChange{"service": name, "address": address, "port": 80,
		"region": "eu"})
	if err = errors.Join(err, describe(c, "by c")); err != nil {
		t.Fatal(err)
	}
	override(t, c, name, address, true)
	answers(t, name, []string{address}, c)
	testbed.Stop(t, c)
	testbed.Start(t, a)
	s.Ready(t, a)
	if err := errors.Join(a.Client.DeleteDomain(t.Context(), name), describe(a, "by a")); err != nil {
		t.Fatal(err)
	}
	testbed.Start(t, b)
	testbed.Start(t, c)
	s.Ready(t, b)
	s.Ready(t, c)
	alike(t, s.Nodes...)
	orphans := []string{"override " + name + " " + address, "server " + name + " " + address + ":80"}
	kept(t, []string{}, orphans, s.Nodes...)
	answers(t, name, nil, s.Nodes...)
	log, err := c.Client.AuditLog(t.Context(), url.Values{"actions": {api.AuditSync}})
	if err != nil || !slices.ContainsFunc(log.Entries, func(e api.AuditEntry) bool {
		return e.ResourceID == both && e.Actor == a.Name
	}) {
		t.Errorf("the audit log of the node whose decision lost: %+v, %v", log.Entries, err)
	}
	if _, err := b.Client.CreateDomain(t.Context(), api.DomainChange{"name": name}); err != nil {
		t.Fatal(err)
	}
	kept(t, []string{}, []string{}, s.Nodes...)
	answers(t, name, []string{address}, s.Nodes...)
}

// Objects that the file of one node forbids are stored, listed and not served on this node until the file permits them,
// even after a restart. For a name that is also in the file, the file has precedence.
func TestReplication_WhatOneFileForbids(t *testing.T) {
	t.Parallel()
	s := site(t)
	a, c := s.Nodes[0], s.Nodes[2]
	const name, own, address = "www.test.gslb.test", "own.test.gslb.test", "192.0.2.6"
	domains := c.File.Domains
	first := domains[0]
	first.Name = own
	c.File.Domains = append(slices.Clone(domains), first)
	s.StartNodes(t, s.Nodes...)
	text, err := os.ReadFile(c.Path)
	with := strings.Replace(string(text), "- "+testbed.ZoneName+"\n",
		"- {name: "+testbed.ZoneName+", records: [www 300 CNAME elsewhere.example.]}\n", 1)
	if err != nil || with == string(text) {
		t.Fatalf("%s\n%v", text, err)
	}
	testbed.Write(t, c.Path, 0o600, with)
	testbed.HangUp(t, c)
	create(t, a, name, address)
	if _, err := a.Client.CreateDomain(t.Context(), api.DomainChange{"name": own}); err != nil {
		t.Fatal(err)
	}
	answers(t, name, []string{address}, s.Nodes[:2]...)
	alike(t, s.Nodes...)
	forbidden := []string{"domain " + name}
	hidden := []string{"domain " + own, "override " + name + " " + address, "server " + name + " " + address + ":80"}
	kept(t, forbidden, hidden, c)
	testbed.Kill(t, c)
	if err := c.Unit.Start(); err != nil { // with the file as it is
		t.Fatal(err)
	}
	s.Ready(t, c)
	kept(t, forbidden, hidden, c)
	c.File.Domains = domains
	if err := c.WriteFile(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Client.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	answers(t, name, []string{address}, c)
	kept(t, []string{}, []string{}, c)
}
