package integration_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
	"go.yaml.in/yaml/v3"

	"gslb.internal/integration/harness"
	"gslb.internal/shared/api"
)

// reloadBound is how long a reload may take.
const reloadBound = 5 * time.Second

// A file that is wrong is told, and changes nothing: neither what is answered nor what a later, right file can do.
func TestReload_WrongFileLeavesTheOneBeforeInForce(t *testing.T) {
	s := startSite(t, 1, 2)
	n := s.nodes[0]
	for _, text := range []string{"mode: overwatch\ndomains: [{name: }}\n", "mode: overwatch\nno_such_key: 1\n", ""} {
		write(t, n.Path, 0o600, text)
		hangUp(t, n)
	}
	until(t, reloadBound, "the node to tell that it did not reload", func(context.Context) error {
		return said(n.Unit, "not reloaded", "no_such_key")
	})
	comesTo(t, n, `gslb_overwatch_config_reloads_total{outcome="failed"}`, 3)
	for _, b := range s.backends {
		s.answered(t, n, b.At.Addr(), time.Now(), time.Second)
	}
	rewrite(t, n)
	hangUp(t, n)
	until(t, reloadBound, "the node to reload", func(context.Context) error { return said(n.Unit, "configuration reloaded") })
	s.noFailures(t, n, s.began)
}

// A right file changes the names that are served, without a lookup of the others failing meanwhile.
func TestReload_NamesComeAndGoWhileTheOthersAreAnswered(t *testing.T) {
	s := startSite(t, 1, 2)
	n, b := s.nodes[0], s.backends[0]
	const added = "added.test.gslb.test"
	if r := exchange(t, "udp", n, added, dns.TypeA); r.Rcode != dns.RcodeNameError {
		t.Fatalf("before: %s", dns.RcodeToString[r.Rcode])
	}
	n.File.Domains[1].Name = added
	n.File.Regions[0].Servers = []harness.Server{{
		Service: added, Address: b.At.Addr(), Port: b.At.Port(), Weight: 100, HealthCheck: s.Timing.Check(),
	}}
	rewrite(t, n)
	hangUp(t, n)
	until(t, reloadBound, "the new name", func(context.Context) error {
		if r := exchange(t, "udp", n, added, dns.TypeA); len(r.Answer) != 1 {
			return fmt.Errorf("%s with %d records", dns.RcodeToString[r.Rcode], len(r.Answer))
		}
		return nil
	})
	if r := exchange(t, "udp", n, otherName, dns.TypeA); r.Rcode != dns.RcodeNameError {
		t.Errorf("the name that went is answered with %s", dns.RcodeToString[r.Rcode])
	}
	s.noFailures(t, n, s.began)
}

// Many signals at once are no more than the last of them.
func TestReload_ManySignalsLoseNoLookup(t *testing.T) {
	s := startSite(t, 1, 2)
	n := s.nodes[0]
	end := storms(t, n.DNS, malformed, randomName)
	const signals = 500
	for i := range signals {
		if i == signals-1 {
			n.File.Domains[0].TTL = 17
			rewrite(t, n)
		}
		if err := n.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		rest(t.Context(), 2*time.Millisecond) // signals that come at once are one
	}
	until(t, reloadBound, "the node to have what the file had at the last signal", func(context.Context) error {
		r := exchange(t, "udp", n, appName, dns.TypeA)
		if len(r.Answer) == 0 || r.Answer[0].Header().Ttl != 17 {
			return fmt.Errorf("the answer is %v", r.Answer)
		}
		return nil
	})
	done := metric(t, n, `gslb_overwatch_config_reloads_total{outcome="done"}`)
	if failed := metric(t, n, `gslb_overwatch_config_reloads_total{outcome="failed"}`); done < 1 || done > signals || failed != 0 {
		t.Errorf("%d signals led to %v reloads, and %v failed", signals, done, failed)
	}
	for _, b := range s.backends {
		s.answered(t, n, b.At.Addr(), time.Now(), time.Second)
	}
	t.Logf("%d signals, %v reloads, %d packets of others meanwhile", signals, done, end())
	s.noFailures(t, n, s.began)
}

// Row 30: with the reload that takes a token or a network away, what agents claimed by it is gone, and nothing else is, neither of others nor of
// the same agent; with one that gives it back the agents prove it again by themselves. A restart does not bring back what the file forbids. Heartbeats are
// rare here, so that it is the reload that does it.
func TestReload_ATokenOrANetworkThatIsTakenAwayTakesItsBackends(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1, 3)
	n, both := s.nodes[0], s.agents[0]
	s.agents = s.agents[:2]
	third := s.backends[2]
	file := &both.File.Agent
	file.Backends = append(file.Backends, harness.AgentBackend{
		Service: otherName, Address: third.At.Addr(), Port: third.At.Port(), Weight: 100, HealthCheck: s.Timing.Check(),
	})
	file.Identity.ServiceTokens[otherName] = s.Tokens[otherName]
	for _, a := range s.agents {
		a.File.Agent.Heartbeat.Interval = 10 * time.Second
	}
	n.File.Overwatch.Stale.Threshold = 40 * time.Second
	s.startAll(t)
	// serving is who serves what, by the node's own view and in the answers.
	serving := func(ctx context.Context) (string, error) {
		list, err := n.Client.Backends(ctx, api.BackendFilter{})
		if err != nil {
			return "", err
		}
		var all []string
		for _, v := range list.Backends {
			if v.MayServe {
				all = append(all, v.Service+" "+v.Address)
			}
		}
		slices.Sort(all)
		answered := map[string]bool{}
		for range quietAnswers { // round-robin of two at most, of which others take their turns too
			for _, name := range []string{appName, otherName} {
				r := exchange(t, "udp", n, name, dns.TypeA)
				for _, rr := range r.Answer {
					if a, is := rr.(*dns.A); is {
						answered[name+" "+a.A.String()] = true
					}
				}
			}
		}
		if inAnswers := slices.Sorted(maps.Keys(answered)); !slices.Equal(inAnswers, all) {
			return "", fmt.Errorf("the node says that %q serve, answers have %q", all, inAnswers)
		}
		return strings.Join(all, ", "), nil
	}
	name := func(service string, b *harness.Backend) string { return service + " " + b.At.Addr().String() }
	first, second, others := name(appName, s.backends[0]), name(appName, s.backends[1]), name(otherName, third)
	reload := func() {
		t.Helper()
		rewrite(t, n)
		if done, err := n.Client.Reload(t.Context()); err != nil || !done.Reloaded {
			t.Fatal(done, err)
		}
	}
	now := func(what string, want ...string) {
		t.Helper()
		s.holds(t, what, func() error {
			got, err := serving(t.Context())
			if err == nil && got != strings.Join(want, ", ") {
				err = fmt.Errorf("serving are %q, want %q", got, want)
			}
			return err
		})
	}
	soon := func(what string, want ...string) {
		t.Helper()
		until(t, reconnectBound, what, func(ctx context.Context) error {
			got, err := serving(ctx)
			if err == nil && got != strings.Join(want, ", ") {
				err = fmt.Errorf("serving are %q, want %q", got, want)
			}
			return err
		})
	}
	soon("all to serve", first, second, others)

	tokens := n.File.Overwatch.AgentTokens
	n.File.Overwatch.AgentTokens = map[string]string{appName: tokens[appName]}
	reload()
	now("without the token", first, second)
	n.File.Overwatch.AgentTokens = tokens
	reload()
	soon("the token to be proved again", first, second, others)

	n.File.Overwatch.AgentPolicies = map[string]harness.AgentPolicy{appName: {AllowedCIDRs: []netip.Prefix{netip.PrefixFrom(s.backends[1].At.Addr(), 32)}}}
	reload()
	now("without the network", second, others)
	n.File.Overwatch.AgentPolicies = nil
	reload()
	soon("the backend of the network to be back", first, second, others)
	s.noFailures(t, n, s.began)

	saved()
	if _, err := n.Kill(); err != nil {
		t.Fatal(err)
	}
	n.File.Overwatch.AgentTokens = map[string]string{appName: tokens[appName], otherName: harness.NewToken()}
	started := time.Now()
	start(t, n)
	s.answersAgain(t, n, started)
	if r := exchange(t, "udp", n, otherName, dns.TypeA); len(r.Answer) != 0 {
		t.Errorf("after a restart with another token its backend is answered: %v", r.Answer)
	}
	s.ready(t, n)
	soon("those of the other service to be back", first, second)
}

// Row 29: a signal that comes while a program starts is no end of it: it reads its file again when it has started. Nobody can promise that before
// the program runs at all, so it comes with the first word that it says.
func TestReload_ASignalDuringTheStartWaits(t *testing.T) {
	t.Parallel()
	s := startSite(t, 1, 1)
	n, a := s.nodes[0], s.agents[0]
	restarted := func(p interface{ Start() error }, u *harness.Unit) {
		t.Helper()
		if _, err := u.Kill(); err != nil {
			t.Fatal(err)
		}
		before, started := reloads(t, u), time.Now()
		start(t, p)
		speaks(t, u, started)
		if err := u.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		until(t, startBound, u.Name+" to reload", func(context.Context) error {
			if !u.Running() {
				t.Fatalf("%s has ended", u.Name)
			}
			if now := reloads(t, u); now <= before {
				return errors.New("it did not")
			}
			return nil
		})
	}
	for range 3 {
		restarted(n, n.Unit)
		restarted(a, a.Unit)
	}
}

// speaks waits until a program that was started at a time has said anything: only then does it run, on a machine that is busy.
func speaks(t *testing.T, u *harness.Unit, since time.Time) {
	t.Helper()
	until(t, startBound, u.Name+" to speak", func(context.Context) error {
		if lines := u.Output(); len(lines) == 0 || lines[len(lines)-1].At.Before(since) {
			return errors.New("it has not said anything")
		}
		return nil
	})
}

// rewrite writes a node's file as File has it now, at once: nobody reads half of it.
func rewrite(t *testing.T, n *harness.Node) {
	t.Helper()
	text, err := yaml.Marshal(n.File)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(n.Path+".new", text, 0o600), os.Rename(n.Path+".new", n.Path)); err != nil {
		t.Fatal(err)
	}
}

// hangUp sends SIGHUP and waits until the node has dealt with it.
func hangUp(t *testing.T, n *harness.Node) {
	t.Helper()
	before := reloads(t, n.Unit)
	if err := n.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	until(t, reloadBound, "the reload to be told", func(context.Context) error {
		if now := reloads(t, n.Unit); now <= before {
			return fmt.Errorf("%d reloads so far", now)
		}
		return nil
	})
}

// reloads is how often a program has told of a reload, done or not, over all its starts.
func reloads(t *testing.T, u *harness.Unit) int {
	t.Helper()
	log, err := os.ReadFile(u.Log)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(log), "reloaded")
}
