package docs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// runbook is a document with executed blocks. The word after the language of a block selects the machines:
//   - "node", "agent": each node or agent, one after the other; "first": the first node
//   - "new", "old": the machine that joins or leaves the cluster; "every": each node, including the joining node
//   - "all": any machine, with the addresses of all nodes
//   - "once NAME": any machine; the output of the block replaces NAME in later blocks
//
// A yaml block is merged into the configuration file of the machine.
type runbook struct {
	*testbed.Site
	path  string
	words map[string]string // what stands for a word of the document
	away  map[*harness.Node][]span
	ran   *int // blocks

	joining, leaving           *harness.Node // nil without one
	joiningAgent, leavingAgent *harness.Agent
}

// span is a time in which the runbook stopped a node.
type span struct{ from, to time.Time }

// sound waits until each node reports each backend as healthy, which a runbook requires before the next agent.
func (r *runbook) sound(t *testing.T) {
	t.Helper()
	for _, n := range r.Nodes {
		for _, b := range r.Backends {
			r.Status(t, n, b, testbed.StartBound, func(v api.Backend) error {
				if v.AgentHealthy == nil || !*v.AgentHealthy {
					return fmt.Errorf("its agent does not speak for it: %s", v.Reason)
				}
				return testbed.WantSound(v)
			})
		}
	}
}

// servedThroughout checks that every lookup had a good answer, except lookups at a node that the runbook had stopped,
// and that two nodes were never stopped at the same time.
func (r *runbook) servedThroughout(t *testing.T) {
	t.Helper()
	var all []span
	for _, n := range r.Nodes {
		all = append(all, r.away[n]...)
		for _, a := range r.Watch.Since(n, testbed.AppName, r.Began) {
			// The time of an answer is its arrival. A query to a stopped node waits for the client's timeout.
			excused := slices.ContainsFunc(r.away[n], func(s span) bool {
				return a.At.After(s.from.Add(-harness.AnswerBound)) && a.At.Before(s.to.Add(harness.AnswerBound))
			})
			if !a.Good() && !excused {
				t.Errorf("%s failed a lookup %s after all was ready: %+v", n.Name, a.At.Sub(r.Began).Round(time.Millisecond), a)
				return
			}
		}
	}
	slices.SortFunc(all, func(a, b span) int { return a.from.Compare(b.from) })
	for i := 1; i < len(all); i++ {
		if all[i].from.Before(all[i-1].to) {
			t.Error("two nodes were away at once")
		}
	}
}

// startRunbook starts a site for a document.
func startRunbook(t *testing.T, path string, ran *int, nodes, backends int) *runbook {
	t.Helper()
	testbed.Judge(t, "curl")
	r := &runbook{Site: testbed.StartSite(t, nodes, backends), path: path, ran: ran, away: map[*harness.Node][]span{}}
	r.words = map[string]string{"SERVICE": testbed.AppName, "ZONE": testbed.ZoneName, "PATH": testbed.ProgramsTogether(t)}
	return r
}

func TestRunbook_Rotation(t *testing.T) {
	t.Parallel()
	const path = "../../overwatch/docs/rotation.md"
	ran := 0
	t.Run("gossip key", func(t *testing.T) {
		r := startRunbook(t, path, &ran, 2, 2)
		r.words["OLD"] = r.GossipKey
		r.section(t, "Gossip key")
		r.servedThroughout(t)
		stranger := r.JoinAgent(t, "agent-3", r.Backends[0]) // has the old key
		testbed.Start(t, stranger)
		testbed.Until(t, testbed.StartBound, "the old key to be of no use", func(context.Context) error {
			return testbed.Said(stranger.Unit, "key")
		})
		for _, n := range r.Nodes {
			testbed.Until(t, testbed.StartBound, n.Name+" to count packets of who has the old key", func(context.Context) error {
				if text := testbed.Scrape(t, n.Prom.String()); !regexp.MustCompile(
					`gslb_gossip_dropped_total\{reason="[^"]*"\} [1-9]`).MatchString(text) {
					return errors.New("it counts none")
				}
				return nil
			})
		}
	})
	t.Run("service token", func(t *testing.T) {
		r := startRunbook(t, path, &ran, 2, 2)
		r.words["OLD"] = r.Tokens[testbed.AppName]
		r.section(t, "Service token")
		r.servedThroughout(t)
		if len(r.away) > 0 {
			t.Error("a node restarted")
		}
		late := r.JoinAgent(t, "agent-3", r.Backends[0]) // has the old token
		testbed.Start(t, late)
		testbed.Until(t, testbed.StartBound, "the old token to be refused",
			func(context.Context) error { return testbed.Said(late.Unit, "token") })
	})
	t.Run("key exchange secret", func(t *testing.T) {
		r := startRunbook(t, path, &ran, 2, 2)
		derived := testbed.DerivedSecret(t, r.GossipKey, r.Tokens)
		if _, sealed := testbed.AskForKeys(t, r.Nodes[0], derived); sealed == "" {
			t.Error("nobody is given keys before")
		}
		r.section(t, "Key exchange secret")
		r.servedThroughout(t)
		if len(r.away) > 0 {
			t.Error("a node restarted")
		}
		for _, n := range r.Nodes {
			if _, sealed := testbed.AskForKeys(t, n, derived); sealed != "" {
				t.Errorf("%s does not use the secret", n.Name)
			}
		}
	})
	t.Run("stolen machine", func(t *testing.T) {
		r := startRunbook(t, path, &ran, 2, 2)
		r.words["LOST"] = r.Agents[0].Name
		for _, n := range r.Nodes {
			testbed.Until(t, testbed.StartBound, n.Name+" to have heard every agent", func(context.Context) error {
				if !strings.Contains(testbed.Scrape(t, n.Prom.String()),
					`gslb_overwatch_service_pins_unreported{service="`+testbed.AppName+`"} 0`) {
					return errors.New("one is pinned and has not reported")
				}
				return nil
			})
		}
		r.section(t, "Stolen machine")
		r.servedThroughout(t)
		thief := r.JoinAgent(t, "agent-3", r.Backends[0]) // has the token, and another id
		testbed.Start(t, thief)
		testbed.Until(t, testbed.StartBound, "the locked token to be refused",
			func(context.Context) error { return testbed.Said(thief.Unit, "locked") })
		for _, n := range r.Nodes {
			if _, err := n.Client.Agent(t.Context(), thief.Name); err == nil {
				t.Errorf("%s took another agent with the locked token", n.Name)
			}
		}
		pages := *r
		pages.path, pages.ran = "../../overwatch/docs/runbooks.md", new(int)
		pages.section(t, "agent-pins")
	})
	t.Run("agent certificate", func(t *testing.T) {
		r := startRunbook(t, path, &ran, 2, 2)
		before := r.Pins(t, r.Nodes[0])
		r.section(t, "Agent certificate")
		r.servedThroughout(t)
		for _, n := range r.Nodes {
			for agent, pin := range r.Pins(t, n) {
				if before[agent] == pin {
					t.Errorf("%s has the old certificate of %s", n.Name, agent)
				}
			}
		}
	})
	t.Run("DNSSEC key", func(t *testing.T) {
		testbed.Judge(t, "dnssec-keygen")
		r := startRunbook(t, path, &ran, 1, 1)
		old := strings.TrimSuffix(filepath.Base(testbed.KeyFilesOf(t, r.Nodes[0])[0]), ".private")
		r.words["OLD"] = strings.TrimSuffix(old, ".key")
		r.section(t, "DNSSEC key")
		r.servedThroughout(t)
		tags, err := testbed.KeyTags(t.Context(), r.Nodes[0])
		if err != nil || len(tags) != 1 || strings.HasSuffix(r.words["OLD"], fmt.Sprintf("+%05d", tags[0])) {
			t.Errorf("keys %v after the rotation from %s: %v", tags, r.words["OLD"], err)
		}
	})
	if all := len(steps(t, path, "")); !t.Failed() && !t.Skipped() && ran != all {
		t.Errorf("%d of %d blocks were executed", ran, all)
	}
}

// Both nodes are lost with their disks and restored from their backups, with the same keys, pins and overrides. The
// agents only notice a pause.
func TestRunbook_AllNodesLost(t *testing.T) {
	t.Parallel()
	const path = "../../overwatch/docs/backup.md"
	ran := 0
	r := startRunbook(t, path, &ran, 2, 2)
	ctx := t.Context()
	known := map[*harness.Node][]any{}
	out := r.Backends[1].At
	r.shell(t, fmt.Sprintf("gslbctl overrides set %s %s --healthy=false --reason drill --expires-in 1h", testbed.AppName,
		out), nil)
	const kept = "kept.test.gslb.test"
	r.shell(t, "gslbctl domains add "+kept+" --ttl 7", nil)
	changed := time.Now()
	facts := func(n *harness.Node) []any {
		ds, err := n.Client.DSRecords(ctx)
		if err != nil {
			t.Fatal(err)
		}
		certificate, err := os.ReadFile(filepath.Join(n.File.DataDir, "overwatch.crt"))
		if err != nil {
			t.Fatal(err)
		}
		document, err := n.Client.Document(ctx)
		if err != nil || len(document.Domains) != 1 || document.Domains[0].Text("name") != kept {
			t.Fatalf("%s holds %+v, %v", n.Name, document, err)
		}
		return []any{fmt.Sprintf("%+v", ds.DSRecords), fmt.Sprint(r.Pins(t, n)), string(certificate)}
	}
	tokens, err := yaml.Marshal(r.Tokens)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range r.Nodes {
		testbed.Until(t, time.Minute, "the copy of "+n.Name, func(context.Context) error {
			info, err := os.Stat(filepath.Join(n.File.DataDir, "gslb.db.copy"))
			if err == nil && !info.ModTime().After(changed) {
				err = fmt.Errorf("it is of %s", info.ModTime())
			}
			return err
		})
		known[n] = facts(n)
		// The secrets move into separate files next to the configuration, as in the example of the packages.
		etc := filepath.Dir(n.Path)
		testbed.Write(t, filepath.Join(etc, "gossip.key"), 0o600, r.GossipKey)
		testbed.Write(t, filepath.Join(etc, "agent-tokens.yaml"), 0o600, string(tokens))
		r.lay(t, n.Path, "overwatch: {agent_tokens: null, agent_tokens_file: agent-tokens.yaml, "+
			"gossip: {encryption_key: null, encryption_key_file: gossip.key}}")
		r.systemctl(t, "reload", n.Unit, n)
	}
	r.section(t, "Making a backup")
	r.section(t, "Signing keys only")
	r.servedThroughout(t)
	for _, n := range r.Nodes {
		testbed.Kill(t, n)
		for _, lost := range []string{filepath.Dir(n.Path), n.File.DataDir} {
			if err := os.RemoveAll(lost); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.section(t, "Restoring a node")
	r.section(t, "API objects only")
	for _, n := range r.Nodes {
		if now := facts(n); !slices.Equal(now, known[n]) {
			t.Errorf("%s came back with\n%v\nand had\n%v", n.Name, now, known[n])
		}
		if text := testbed.Scrape(t, n.Prom.String()); !strings.Contains(text, "\ngslb_store_recovered 0\n") {
			t.Errorf("%s calls its store damaged", n.Name)
		}
		r.Status(t, n, r.Backends[0], time.Minute, func(v api.Backend) error {
			if v.AgentHealthy == nil || !*v.AgentHealthy {
				return fmt.Errorf("its agent is not back: %s", v.Reason)
			}
			return testbed.WantSound(v)
		})
		r.Status(t, n, r.Backends[1], time.Minute, testbed.StatusIs(api.EffectiveUnhealthy, false))
		began := time.Now()
		r.Answered(t, n, r.Backends[0].At.Addr(), began, testbed.StartBound)
		r.NoFailures(t, n, began)
	}
	if all := len(steps(t, path, "")); ran != all {
		t.Errorf("%d of %d blocks were executed", ran, all)
	}
}
