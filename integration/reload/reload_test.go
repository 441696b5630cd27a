package reload_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/attack"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// An invalid file is reported and changes nothing: the answers stay the same, and a later valid file takes effect.
//
// Fault 29: A reload has an invalid file, signals arrive during a flood, or a signal arrives during the start. No
// lookup fails.
func TestReload_WrongFileLeavesTheOneBeforeInForce(t *testing.T) {
	s := testbed.StartSite(t, 1, 2)
	n := s.Nodes[0]
	for _, text := range []string{"mode: overwatch\ndomains: [{name: }}\n", "mode: overwatch\nno_such_key: 1\n", ""} {
		testbed.Write(t, n.Path, 0o600, text)
		testbed.HangUp(t, n)
	}
	testbed.Until(t, testbed.ReloadBound, "the node to tell that it did not reload", func(context.Context) error {
		return testbed.Said(n.Unit, "not reloaded", "no_such_key")
	})
	testbed.ComesTo(t, n, `gslb_overwatch_config_reloads_total{outcome="failed"}`, 3)
	for _, b := range s.Backends {
		s.Answered(t, n, b.At.Addr(), time.Now(), time.Second)
	}
	testbed.Rewrite(t, n)
	testbed.HangUp(t, n)
	testbed.Until(t, testbed.ReloadBound, "the node to reload",
		func(context.Context) error { return testbed.Said(n.Unit, "configuration reloaded") })
	s.NoFailures(t, n, s.Began)
}

// A valid file changes the served names. No lookup of other names fails during the reload.
//
// Fault 30: A reload removes a domain, a token or a network. The objects leave the answers immediately, and other
// names are not affected.
func TestReload_NamesComeAndGoWhileTheOthersAreAnswered(t *testing.T) {
	s := testbed.StartSite(t, 1, 2)
	n, b := s.Nodes[0], s.Backends[0]
	const added = "added.test.gslb.test"
	if r := testbed.Exchange(t, "udp", n, added, dns.TypeA); r.Rcode != dns.RcodeNameError {
		t.Fatalf("before: %s", dns.RcodeToString[r.Rcode])
	}
	n.File.Domains[1].Name = added
	n.File.Regions[0].Servers = []harness.Server{{
		Service: added, Address: b.At.Addr(), Port: b.At.Port(), Weight: 100, HealthCheck: s.Timing.Check(),
	}}
	testbed.Rewrite(t, n)
	testbed.HangUp(t, n)
	testbed.Until(t, testbed.ReloadBound, "the new name", func(context.Context) error {
		if r := testbed.Exchange(t, "udp", n, added, dns.TypeA); len(r.Answer) != 1 {
			return fmt.Errorf("%s with %d records", dns.RcodeToString[r.Rcode], len(r.Answer))
		}
		return nil
	})
	if r := testbed.Exchange(t, "udp", n, testbed.OtherName, dns.TypeA); r.Rcode != dns.RcodeNameError {
		t.Errorf("the name that went is answered with %s", dns.RcodeToString[r.Rcode])
	}
	s.NoFailures(t, n, s.Began)
}

// Many signals at the same time have the effect of the last signal.
//
// Fault 29.
func TestReload_ManySignalsLoseNoLookup(t *testing.T) {
	s := testbed.StartSite(t, 1, 2)
	n := s.Nodes[0]
	end := attack.Storms(t, n.DNS, attack.Malformed, attack.RandomName)
	const signals = 500
	sent := 0
	for range testbed.Every(t.Context(), 2*time.Millisecond) { // signals that come at once are one
		if sent++; sent == signals {
			n.File.Domains[0].TTL = 17
			testbed.Rewrite(t, n)
		}
		testbed.Signal(t, n, syscall.SIGHUP)
		if sent == signals {
			break
		}
	}
	testbed.Until(t, testbed.ReloadBound, "the node to have what the file had at the last signal",
		func(context.Context) error {
			r := testbed.Exchange(t, "udp", n, testbed.AppName, dns.TypeA)
			if len(r.Answer) == 0 || r.Answer[0].Header().Ttl != 17 {
				return fmt.Errorf("the answer is %v", r.Answer)
			}
			return nil
		})
	done := testbed.Metric(t, n, `gslb_overwatch_config_reloads_total{outcome="done"}`)
	if failed := testbed.Metric(t, n, `gslb_overwatch_config_reloads_total{outcome="failed"}`); done < 1 ||
		done > signals || failed != 0 {
		t.Errorf("%d signals led to %v reloads, and %v failed", signals, done, failed)
	}
	for _, b := range s.Backends {
		s.Answered(t, n, b.At.Addr(), time.Now(), time.Second)
	}
	t.Logf("%d signals, %v reloads, %d packets of others meanwhile", signals, done, end())
	s.NoFailures(t, n, s.Began)
}

// A reload that removes a token or network removes the reports that agents proved with it, and nothing else: neither
// reports of other agents nor other reports of the same agent. If a reload adds the token or network again, agents
// prove it again automatically. A restart does not restore reports that the file does not permit. Heartbeats are
// infrequent in this test, so only the reload can be the cause.
//
// Fault 30.
func TestReload_ATokenOrANetworkThatIsTakenAwayTakesItsBackends(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 1, 3)
	n, both := s.Nodes[0], s.Agents[0]
	s.Agents = s.Agents[:2]
	third := s.Backends[2]
	file := &both.File.Agent
	file.Backends = append(file.Backends, harness.AgentBackend{
		Service: testbed.OtherName, Address: third.At.Addr(), Port: third.At.Port(), Weight: 100,
		HealthCheck: s.Timing.Check(),
	})
	file.Identity.ServiceTokens[testbed.OtherName] = s.Tokens[testbed.OtherName]
	for _, a := range s.Agents {
		a.File.Agent.Heartbeat.Interval = 10 * time.Second
	}
	n.File.Overwatch.Stale.Threshold = 40 * time.Second
	s.StartAll(t)
	// serving lists the services and addresses that serve according to the node. It fails if the DNS answers differ.
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
		for range testbed.QuietAnswers { // round-robin of two at most, of which others take their turns too
			for _, name := range []string{testbed.AppName, testbed.OtherName} {
				r := testbed.Exchange(t, "udp", n, name, dns.TypeA)
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
	first, second, others := name(testbed.AppName, s.Backends[0]), name(testbed.AppName, s.Backends[1]),
		name(testbed.OtherName, third)
	reload := func() {
		t.Helper()
		testbed.Rewrite(t, n)
		if done, err := n.Client.Reload(t.Context()); err != nil || !done.Reloaded {
			t.Fatal(done, err)
		}
	}
	now := func(what string, want ...string) {
		t.Helper()
		s.Holds(t, what, func() error {
			got, err := serving(t.Context())
			if err == nil && got != strings.Join(want, ", ") {
				err = fmt.Errorf("serving are %q, want %q", got, want)
			}
			return err
		})
	}
	soon := func(what string, want ...string) {
		t.Helper()
		testbed.Until(t, testbed.ReconnectBound, what, func(ctx context.Context) error {
			got, err := serving(ctx)
			if err == nil && got != strings.Join(want, ", ") {
				err = fmt.Errorf("serving are %q, want %q", got, want)
			}
			return err
		})
	}
	soon("all to serve", first, second, others)

	tokens := n.File.Overwatch.AgentTokens
	n.File.Overwatch.AgentTokens = map[string]string{testbed.AppName: tokens[testbed.AppName]}
	reload()
	now("without the token", first, second)
	n.File.Overwatch.AgentTokens = tokens
	reload()
	soon("the token to be proved again", first, second, others)

	n.File.Overwatch.AgentPolicies = map[string]harness.AgentPolicy{
		testbed.AppName: {AllowedCIDRs: []netip.Prefix{netip.PrefixFrom(s.Backends[1].At.Addr(), 32)}}}
	reload()
	now("without the network", second, others)
	n.File.Overwatch.AgentPolicies = nil
	reload()
	soon("the backend of the network to be back", first, second, others)
	s.NoFailures(t, n, s.Began)

	testbed.Saved()
	testbed.Kill(t, n)
	n.File.Overwatch.AgentTokens = map[string]string{testbed.AppName: tokens[testbed.AppName],
		testbed.OtherName: harness.NewToken()}
	started := time.Now()
	testbed.Start(t, n)
	s.AnswersAgain(t, n, started)
	if r := testbed.Exchange(t, "udp", n, testbed.OtherName, dns.TypeA); len(r.Answer) != 0 {
		t.Errorf("after a restart with another token its backend is answered: %v", r.Answer)
	}
	s.Ready(t, n)
	soon("those of the other service to be back", first, second)
}

// A signal that arrives during the start does not end the program: the program reads its file again after the start.
// The signal can only be handled after the program runs, so the test sends it with the first line of output.
//
// Fault 29.
func TestReload_ASignalDuringTheStartWaits(t *testing.T) {
	t.Parallel()
	s := testbed.StartSite(t, 1, 1)
	n, a := s.Nodes[0], s.Agents[0]
	restarted := func(p interface{ Start() error }, u *harness.Unit) {
		t.Helper()
		testbed.Kill(t, u)
		before, started := testbed.Reloads(t, u), time.Now()
		testbed.Start(t, p)
		testbed.Speaks(t, u, started)
		testbed.Signal(t, u, syscall.SIGHUP)
		testbed.Until(t, testbed.StartBound, u.Name+" to reload", func(context.Context) error {
			if !u.Running() {
				t.Fatalf("%s has ended", u.Name)
			}
			if now := testbed.Reloads(t, u); now <= before {
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
