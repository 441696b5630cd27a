package faults_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/fleet"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
	"gslb.internal/shared/identity"
)

// A node accepts an agent with a clock that is a day ahead or behind when it creates its certificate and sends
// messages. The node logs the difference once. The same is true for an agent whose clock is set while it runs.
//
// Fault 12: The clock of an agent is wrong by a day, or is set while the agent runs. Nodes accept its reports; the
// log has the difference.
func TestClock_AnAgentThatIsADayOffIsTakenAndToldOnce(t *testing.T) {
	s := testbed.StartSite(t, 1, 2)
	n := s.Nodes[0]
	cipher := fleet.Cipher(t, s.GossipKey)
	told := func(name, ahead string) (count int) {
		for _, l := range n.Output() {
			if strings.Contains(l.Text, "clocks of the agent and this node differ") && strings.Contains(l.Text, name) &&
				strings.Contains(l.Text, "ahead="+ahead) {
				count++
			}
		}
		return count
	}
	toldOnce := func(name, ahead string) {
		t.Helper()
		testbed.Until(t, testbed.StartBound, "the clock of "+name+" to be mentioned", func(context.Context) error {
			if told(name, ahead) == 0 {
				return errors.New("it is not")
			}
			return nil
		})
		if count := told(name, ""); count != 1 {
			t.Errorf("the clock of %s was mentioned %d times", name, count)
		}
	}
	for i, off := range []time.Duration{24 * time.Hour, -24 * time.Hour} {
		dir := t.TempDir()
		name := []string{"fleet-00001", "fleet-00002"}[i]
		if _, _, err := identity.LoadOrCreate(filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key"), name,
			time.Now().Add(off)); err != nil {
			t.Fatal(err)
		}
		agent, err := fleet.New(dir, i+1, cipher, n.Gossip, testbed.OtherName, s.Tokens[testbed.OtherName],
			func() time.Time { return time.Now().Add(off) })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { agent.Close() })
		agent.Registers(t)
		for range 3 {
			agent.Keeps(t)
		}
		toldOnce(name, []string{"2", "-2"}[i]) // 24h0m0s, or seconds less
	}
	list, err := n.Client.Backends(t.Context(), api.BackendFilter{Service: testbed.OtherName})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Backends) != 2*fleet.BackendsEach {
		t.Errorf("the node took %d backends of two agents, want %d", len(list.Backends), 2*fleet.BackendsEach)
	}
	refused := untimely(t, n)
	for i, a := range s.Agents {
		ownClock(t, a.Unit).set(t, []time.Duration{24 * time.Hour, -24 * time.Hour}[i])
	}
	for i, a := range s.Agents {
		toldOnce(a.Name, []string{"2", "-2"}[i])
		s.HeardAlways(t, n, s.Backends[i], s.Timing.StaleThreshold/2)
		toldOnce(a.Name, "")
	}
	if now := untimely(t, n); now != refused {
		t.Errorf("%v messages were refused, %v before the clocks were set", now, refused)
	}
	s.NoFailures(t, n, s.Began)
}

// clockLook is the interval at which a node checks whether its wall clock was set.
const clockLook = 5 * time.Second

// The wall clocks of four nodes are set, each by another time, and back again. The nodes reject no message, including
// the first message of a new agent. They detect failures and recoveries of backends without delay, report no agent as
// silent, keep an admin state with an end, and log the clock change. Answers never fail, and all signatures soon are
// valid by the node's own clock.
//
// Fault 11: The clock of a node jumps by +1 h, -1 h, +400 days or -10 years. No message is rejected, no agent is
// stale, and signatures stay valid.
func TestClock_ANodeWhoseClockIsSetGoesOn(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	ahead := []time.Duration{time.Hour, -time.Hour, 400 * day, -3650 * day}
	s := testbed.NewSite(t, len(ahead), 3)
	late := s.Agents[2]
	s.Agents = s.Agents[:2]
	s.StartAll(t)
	b, ordered := s.Backends[0], s.Backends[1]
	yes := true
	clocks, keys, refused := make([]*wallClock, len(ahead)), make([][]*dns.DNSKEY, len(ahead)), make([]float64, len(ahead))
	for i, n := range s.Nodes {
		if _, err := n.Client.SetOverride(t.Context(), testbed.AppName, ordered.At.String(),
			api.OverrideRequest{Healthy: &yes, Reason: "row 11", ExpiresIn: "30m"}); err != nil {
			t.Fatal(err)
		}
		keys[i], refused[i] = signed.KeysOf(t, n, testbed.ZoneName), untimely(t, n)
		clocks[i] = ownClock(t, n.Unit)
	}
	for _, there := range []bool{true, false} {
		s.Story.Event("clocks are set, there: %t", there)
		offs := make([]time.Duration, len(ahead))
		for i := range s.Nodes {
			if there {
				offs[i] = ahead[i]
			}
			clocks[i].set(t, offs[i])
		}
		if there {
			testbed.Start(t, late)
		}
		for i, n := range s.Nodes {
			testbed.Until(t, clockLook+time.Second, n.Name+" to answer what holds by its clock", func(context.Context) error {
				for _, name := range []string{testbed.AppName, "nx." + testbed.ZoneName} {
					q := new(dns.Msg).SetQuestion(dns.Fqdn(name), dns.TypeA)
					q.SetEdns0(1232, true)
					r, err := signed.Asked(q, n)
					if err == nil {
						_, err = signed.Verify(r, keys[i], time.Now().Add(offs[i]))
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
			s.HeardAlways(t, n, b, s.Timing.StaleThreshold/3)
			s.Status(t, n, s.Backends[2], testbed.StartBound, testbed.WantSound)
			if off := testbed.Metric(t, n, "gslb_overwatch_clock_jump_seconds"); math.Abs(off-offs[i].Seconds()) > 1 {
				t.Errorf("%s says that its clock is %v s ahead, it is %s", n.Name, off, offs[i])
			}
			testbed.Tells(t, n.Unit, map[bool]string{true: "the clock stepped", false: "the clock is stable;"}[there])
		}
		killed := testbed.Kill(t, b)
		for _, n := range s.Nodes {
			s.Gone(t, n, b.At.Addr(), killed, s.Timing.Detection())
		}
		testbed.Start(t, b)
		back := time.Now()
		for i, n := range s.Nodes {
			s.Answered(t, n, b.At.Addr(), back, s.Timing.Recovery()+time.Second)
			s.Status(t, n, ordered, testbed.StartBound, func(v api.Backend) error {
				if v.Override == nil {
					return errors.New("the order is no more in force")
				}
				return nil
			})
			if now := untimely(t, n); now != refused[i] {
				t.Errorf("%s has refused %v messages for their time, %v before its clock was set", n.Name, now, refused[i])
			}
			s.NoFailures(t, n, s.Began)
		}
	}
}

// untimely returns the number of messages that a node has rejected because of a time in the message. It ignores
// duplicates on a busy machine.
func untimely(t *testing.T, n *harness.Node) float64 {
	t.Helper()
	return counted(t, n, `gslb_gossip_refused_total{code="expired"}`) + counted(t, n,
		`gslb_gossip_refused_total{code="not_yet_valid"}`)
}

// counted returns the sum of a metric over all its labels.
func counted(t *testing.T, n *harness.Node, name string) (sum float64) {
	t.Helper()
	resp, err := http.Get(fmt.Sprintf("http://%s/metrics", n.Prom))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		rest, found := strings.CutPrefix(lines.Text(), name)
		_, value, one := strings.Cut(rest, " ")
		if !found || !one || !strings.HasPrefix(rest, "{") && !strings.HasPrefix(rest, " ") {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += v
	}
	return sum
}
