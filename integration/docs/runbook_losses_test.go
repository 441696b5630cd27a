package docs_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

const lossesPath = "../../overwatch/docs/runbooks.md"

// preparedRunbook is startRunbook before anything is started.
func preparedRunbook(t *testing.T, nodes, backends int) *runbook {
	t.Helper()
	testbed.Judge(t, "curl")
	r := &runbook{Site: testbed.NewSite(t, nodes, backends), path: lossesPath, ran: new(int),
		away: map[*harness.Node][]span{}}
	r.words = map[string]string{"SERVICE": testbed.AppName, "PATH": testbed.ProgramsTogether(t)}
	return r
}

// condition waits until a node lists a condition, or no longer lists it.
func condition(t *testing.T, n *harness.Node, kind api.ConditionKind, want bool) {
	t.Helper()
	testbed.Until(t, testbed.StartBound, fmt.Sprintf("%s of %s: %t", kind, n.Name, want), func(ctx context.Context) error {
		list, err := n.Client.Conditions(ctx)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(list.Conditions, func(c api.Condition) bool { return c.Kind == kind }) != want {
			return fmt.Errorf("%+v", list.Conditions)
		}
		return nil
	})
}

// A region fails. Its backends return, and receive no clients while the runbook has drained the region.
func TestRunbook_ALostRegion(t *testing.T) {
	t.Parallel()
	r := preparedRunbook(t, 2, 2)
	for _, n := range r.Nodes {
		n.File.Regions = append(n.File.Regions, harness.Region{Name: "us"})
		n.File.Domains[0].Regions = []string{"eu", "us"}
	}
	r.Agents[1].File.Agent.Identity.Region = "us"
	r.StartAll(t)
	r.words["REGION"] = "us"
	blocks := steps(t, lossesPath, "region-lost")
	if len(blocks) != 4 {
		t.Fatalf("%d blocks, want two that look, the drain and its end", len(blocks))
	}
	first, lost := r.Nodes[0], r.Backends[1]
	died := testbed.Kill(t, lost)
	condition(t, first, api.RegionLost, true)
	for _, n := range r.Nodes {
		r.Gone(t, n, lost.At.Addr(), died, testbed.StartBound)
	}
	for _, s := range blocks[:3] {
		r.do(t, s, first.Path, first, nil)
	}
	testbed.Until(t, testbed.StartBound, "the end of the drain", func(ctx context.Context) error {
		list, err := first.Client.Backends(ctx, api.BackendFilter{})
		if err != nil {
			return err
		}
		for _, b := range list.Backends {
			if b.Address == lost.At.Addr().String() && (b.Drain == nil || time.Now().Before(b.Drain.EndsAt)) {
				return fmt.Errorf("%s has the drain %+v", b.ID, b.Drain)
			}
		}
		return nil
	})
	drained := time.Now()
	testbed.Start(t, lost)
	condition(t, first, api.RegionLost, false)
	r.Status(t, first, lost, testbed.StartBound, testbed.StatusIs(api.EffectiveHealthy, false))
	if at := r.Watch.FirstWith(first, testbed.AppName, lost.At.Addr(), drained); !at.IsZero() {
		t.Errorf("%s answers with a backend of the drained region", first.Name)
	}
	ended := time.Now()
	r.do(t, blocks[3], first.Path, first, nil)
	r.Answered(t, first, lost.At.Addr(), ended, testbed.StartBound)
	for _, n := range r.Nodes {
		r.NoFailures(t, n, r.Began)
	}
}

// A node without peers loses its data_dir. The agents reject it until the runbook has been executed on each of them.
func TestRunbook_AWipedNode(t *testing.T) {
	t.Parallel()
	r := preparedRunbook(t, 1, 2)
	r.StartPrograms(t)
	n := r.Nodes[0]
	testbed.Stop(t, n)
	if err := os.RemoveAll(n.File.DataDir); err != nil {
		t.Fatal(err)
	}
	testbed.Start(t, n)
	began := time.Now()
	condition(t, n, api.NodeRejected, true)
	blocks := steps(t, lossesPath, "node-rejected")
	for _, s := range blocks {
		for _, a := range r.Agents {
			places := strings.NewReplacer("/var/lib/gslb-agent", a.File.DataDir, "NODE:7946", n.Gossip.String())
			r.shell(t, places.Replace(s.text), nil)
		}
	}
	for _, b := range r.Backends {
		r.Status(t, n, b, testbed.StartBound, testbed.SoundSince(began))
	}
	condition(t, n, api.NodeRejected, false)
}

// A geolocation database is truncated. The runbook replaces it.
func TestRunbook_ADamagedDatabase(t *testing.T) {
	t.Parallel()
	database := testbed.Read(t, testbed.Databases+"GeoLite2-Country-Test.mmdb")
	r := preparedRunbook(t, 1, 1)
	n := r.Nodes[0]
	path := filepath.Join(filepath.Dir(n.Path), "geo.mmdb")
	testbed.Write(t, path, 0o600, database)
	n.File.Overwatch.Geolocation.DatabasePath = path
	r.StartPrograms(t)
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(database))
	}))
	t.Cleanup(provider.Close)
	r.words["URL"] = provider.URL
	testbed.Write(t, path, 0o600, database[:len(database)/2])
	condition(t, n, api.DatabaseUnusable, true)
	r.section(t, "geo-database")
	condition(t, n, api.DatabaseUnusable, false)
}
