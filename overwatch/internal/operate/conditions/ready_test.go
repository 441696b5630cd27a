package conditions // inside: it uses statusAge

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unique"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// node is a registry in virtual time with the Judge of its node.
type node struct {
	*Judge
	t                *testing.T
	registry         *registry.Registry
	serving, checked bool
	keysLost, full   bool
	apart            bool
	domains          []string
	minimum          string
	onAllDown        policy.OnAllDown
	names            bool // answers are host names
	signing          bool
	regions          []string // regions of the names
}

func inNode(t *testing.T, test func(*node)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := &node{t: t, serving: true, checked: true, domains: []string{"a.example", "b.example"}}
		var err error
		n.registry, err = registry.New(registry.Options{
			Timing: registry.Timing{StaleThreshold: time.Hour, RemoveAfter: time.Hour, ValidationEnabled: true,
				ValidationInterval: time.Hour},
			Changed: func(string) {}, Logger: zerolog.Nop(),
		})
		n.must(err)
		n.Judge, err = New(Options{
			DNSServing: func() bool { return n.serving }, ChecksCycled: func() bool { return n.checked },
			Domains: n.steered, SigningFails: func() bool { return n.signing }, View: n.registry.View(),
			KeysLost:     func() bool { return n.keysLost },
			KeysApart:    func() bool { return n.apart },
			StoreFailing: func() bool { return n.full },
		})
		n.must(err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- n.registry.Run(ctx) }()
		defer func() {
			cancel()
			n.must(<-ended)
		}()
		test(n)
	})
}

func (n *node) steered() (list []Domain) {
	minimum, _ := policy.ParseMinimum(n.minimum)
	for _, name := range n.domains {
		list = append(list, Domain{Name: name, MinHealthy: minimum, OnAllDown: n.onAllDown,
			Names: n.names, Regions: n.regions})
	}
	return list
}

func (n *node) must(err error) {
	n.t.Helper()
	if err != nil {
		n.t.Fatal(err)
	}
}

// have sets the backends; each is "<service> <last octet> <h, u, or n for no result> <optional target>".
func (n *node) have(backends ...string) {
	n.t.Helper()
	var declarations []registry.Declaration
	var verdicts []registry.CheckResult
	for _, text := range backends {
		words := strings.Fields(text)
		id := registry.ID{Service: words[0], Address: netip.MustParseAddr("192.0.2." + words[1]), Port: 80}
		declared := registry.Declaration{ID: id, Weight: 1, Region: "eu", Check: unique.Make(check.Spec{Type: check.TCP})}
		if len(words) > 3 {
			declared.Host = registry.Host{Name: words[3], Addresses: 1}
		}
		declarations = append(declarations, declared)
		if words[2] == "n" {
			continue
		}
		v := registry.CheckResult{ID: id, State: check.StateHealthy, Outcome: check.Success, At: time.Now()}
		if words[2] == "u" {
			v.State, v.Outcome = check.StateUnhealthy, check.Failure
		}
		verdicts = append(verdicts, v)
	}
	n.must(n.registry.SetStaticDeclarations(n.t.Context(), declarations))
	for _, v := range verdicts {
		n.must(n.registry.ApplyCheckResult(n.t.Context(), v))
	}
	time.Sleep(statusAge) // virtual time; makes the previous result expire
}

func TestStatus_FollowsItsTable(t *testing.T) {
	for _, tc := range []struct {
		name     string
		backends string
		spoil    func(*node)
		want     api.ServiceStatus
	}{
		{"all well", "a.example 1 h, b.example 2 h", nil, api.ServiceHealthy},
		{"DNS does not answer", "a.example 1 h, b.example 2 h", func(n *node) { n.serving = false }, api.ServiceUnhealthy},
		{"every domain is down", "a.example 1 u, b.example 2 u", nil, api.ServiceUnhealthy},
		{"no backend at all", "", nil, api.ServiceUnhealthy},
		{"no domain", "", func(n *node) { n.domains = nil }, api.ServiceHealthy},
		{"one domain is down", "a.example 1 h, b.example 2 u", nil, api.ServiceDegraded},
		{"one domain is empty", "a.example 1 h", nil, api.ServiceDegraded},
		{"one backend is unhealthy", "a.example 1 h, a.example 2 u, b.example 3 h", nil, api.ServiceDegraded},
		{"not ready", "a.example 1 h, b.example 2 h", func(n *node) { n.checked = false }, api.ServiceDegraded},
		{"a full disk", "a.example 1 h, b.example 2 h", func(n *node) { n.full = true }, api.ServiceDegraded},
		{"lost keys", "a.example 1 h, b.example 2 h", func(n *node) { n.keysLost = true }, api.ServiceDegraded},
		{"keys that are not exchanged", "a.example 1 h, b.example 2 h", func(n *node) { n.apart = true },
			api.ServiceDegraded},
		{"a backend of no domain is unhealthy", "a.example 1 h, b.example 2 h, c.example 3 u", nil, api.ServiceHealthy},
		{"one was taken out by an operator", "a.example 1 h, a.example 2 h, b.example 3 h",
			func(n *node) { n.override("a.example", 2, false) }, api.ServiceHealthy},
		{"an operator took all of a domain out", "a.example 1 h, b.example 3 h",
			func(n *node) { n.override("a.example", 1, false) }, api.ServiceDegraded},
		{"an operator vouches for one that fails", "a.example 1 u, b.example 3 h",
			func(n *node) { n.override("a.example", 1, true) }, api.ServiceHealthy},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inNode(t, func(n *node) {
				var backends []string
				for text := range strings.SplitSeq(tc.backends, ", ") {
					if text != "" {
						backends = append(backends, text)
					}
				}
				n.have(backends...)
				if tc.spoil != nil {
					tc.spoil(n)
				}
				if got, message := n.Judgement(); got != tc.want || (message == "") != (got == api.ServiceHealthy) {
					t.Errorf("got %s (%s), want %s", got, message, tc.want)
				}
				if !n.Readiness().Ready && n.serving && n.checked {
					t.Error("what is no matter of readiness ends it")
				}
			})
		})
	}
}

// The condition of a name depends on the backends in its answers and in its fallback answer.
func TestName_IsJudgedByWhatAnswersIt(t *testing.T) {
	for name, tc := range map[string]struct {
		names     bool
		onAllDown policy.OnAllDown
		before    string // initial backends
		backends  string
		spoil     func(*node)
		want      api.ConditionKind
		words     string
	}{
		"an address, and answers are names": {names: true, backends: "a.example 1 h", want: api.NameUnanswered,
			words: "0 of at least 1 backends may serve: its answers are names of targets, and no address of one is known"},
		"a target": {names: true, backends: "a.example 1 h www.example.net"},
		"a target that is down beside an address": {names: true, backends: "a.example 1 h, a.example 2 u www.example.net",
			want: api.NameUnanswered, words: "may serve: a.example:192.0.2.2:80 is unhealthy"},
		"the same, and answers are addresses": {backends: "a.example 1 h, a.example 2 u www.example.net"},
		"the last resort of a name is no address": {names: true, onAllDown: policy.All,
			backends: "a.example 1 h", want: api.NameUnanswered, words: "nobody answers"},

		"healthy last, and nobody was": {onAllDown: policy.LastHealthy, backends: "a.example 1 u, a.example 2 n",
			want: api.NameUnanswered, words: "nobody answers"},
		"healthy last, and one was": {onAllDown: policy.LastHealthy, before: "a.example 1 h", backends: "a.example 1 u",
			want: api.NameOnLastResort, words: "answered by its last resort"},
		"healthy last, and an operator forbids it": {onAllDown: policy.LastHealthy, before: "a.example 1 h",
			backends: "a.example 1 u", spoil: func(n *node) { n.override("a.example", 1, false) },
			want: api.NameUnanswered, words: "nobody answers"},
		"all, and nobody ever was healthy": {onAllDown: policy.All, backends: "a.example 1 u",
			want: api.NameOnLastResort, words: "answered by its last resort"},
		"an error": {onAllDown: policy.ServFail, before: "a.example 1 h", backends: "a.example 1 u",
			want: api.NameUnanswered, words: "nobody answers"},
	} {
		t.Run(name, func(t *testing.T) {
			inNode(t, func(n *node) {
				n.names, n.onAllDown, n.domains = tc.names, tc.onAllDown, []string{"a.example"}
				if tc.before != "" {
					n.have(tc.before)
				}
				n.have(strings.Split(tc.backends, ", ")...)
				if tc.spoil != nil {
					tc.spoil(n)
				}
				kind, sentence := Name(n.steered()[0], n.registry.View().Service("a.example"))
				if kind != tc.want || !strings.Contains(sentence, tc.words) || tc.want != "" && n.Holding()[tc.want] != 1 {
					t.Errorf("%q: %s, want %q: %s", kind, sentence, tc.want, tc.words)
				}
			})
		})
	}
}

func (n *node) override(service string, octet byte, healthy bool) {
	n.t.Helper()
	n.must(n.registry.SetAdminState(n.t.Context(), registry.AdminState{
		Kind:    api.OrderOverride,
		Service: service, Address: netip.AddrFrom4([4]byte{192, 0, 2, octet}), Healthy: healthy, Reason: "r",
		CreatedBy: "somebody",
	}))
}

// drain starts a drain of a backend to a share.
func (n *node) drain(service string, octet byte, over time.Duration, share float64) {
	n.t.Helper()
	n.must(n.registry.SetAdminState(n.t.Context(), registry.AdminState{
		Kind: api.OrderDrain, Service: service, Address: netip.AddrFrom4([4]byte{192, 0, 2, octet}), Port: 80, Duration: over,
		Share: share, CreatedBy: "somebody", CreatedAt: time.Now(), Reason: "r",
	}))
}

func TestStatus_IsJudgedAgainWhenItIsTooOld(t *testing.T) {
	inNode(t, func(n *node) {
		n.have("a.example 1 h", "b.example 2 h")
		before := n.Status()
		n.serving = false
		if now := n.Status(); now != before {
			t.Errorf("at once: %s", now)
		}
		time.Sleep(statusAge)
		if now := n.Status(); now != api.ServiceUnhealthy {
			t.Errorf("after %v: %s", statusAge, now)
		}
	})
}

func TestReadiness_NamesWhatIsMissing(t *testing.T) {
	inNode(t, func(n *node) {
		for _, tc := range []struct {
			serving, checked bool
			words            string
		}{{true, true, ""}, {false, true, "the DNS server does not answer yet"},
			{true, false, "no cycle of health checks has completed yet"}, {false, false, "yet; no cycle"}} {
			n.serving, n.checked = tc.serving, tc.checked
			got := n.Readiness()
			if got.DNSReady != tc.serving || got.HealthReady != tc.checked || got.Ready != (tc.serving && tc.checked) ||
				got.Ready != (got.Message == "") || !strings.Contains(got.Message, tc.words) {
				t.Errorf("%+v: got %+v", tc, got)
			}
		}
	})
}

func TestNew_NeedsEveryFact(t *testing.T) {
	if _, err := New(Options{}); err == nil {
		t.Error("accepted")
	}
}

func TestAgentStatus_CountsMissedHeartbeats(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tc := range []struct {
		silence   time.Duration
		threshold int
		want      api.GossipStatus
	}{
		{0, 3, api.GossipAlive}, {14 * time.Second, 3, api.GossipAlive}, {15 * time.Second, 3, api.GossipSuspect},
		{29 * time.Second, 3, api.GossipSuspect}, {30 * time.Second, 3, api.GossipDead},
		{14 * time.Second, 1, api.GossipAlive}, {15 * time.Second, 1, api.GossipDead}, {15 * time.Second, 0, api.GossipDead},
	} {
		a := registry.AgentState{LastSeen: now.Add(-tc.silence), Interval: 10 * time.Second, MissedThreshold: tc.threshold}
		if got := AgentStatus(a, now); got != tc.want {
			t.Errorf("silent for %v of a threshold of %d: %s, want %s", tc.silence, tc.threshold, got, tc.want)
		}
		a.LeftAt = a.LastSeen
		if got := AgentStatus(a, now); got != api.GossipDead {
			t.Errorf("said goodbye %v ago: %s", tc.silence, got)
		}
	}
}
