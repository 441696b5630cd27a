package conditions // inside: it uses statusAge

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/failback"
	"gslb.internal/overwatch/internal/cluster/replication"
	"gslb.internal/overwatch/internal/health/gossip"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/leaf/httpserve"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/wire"
)

// provoked returns, for each kind of condition, a change that causes it on a node with two answered names.
func provoked() map[api.ConditionKind]func(*node) {
	reason := "the node has no secret"
	return map[api.ConditionKind]func(*node){
		api.DNSSilent:        func(n *node) { n.serving = false },
		api.SigningKeysLost:  func(n *node) { n.keysLost = true },
		api.SigningKeysApart: func(n *node) { n.apart = true },
		api.SigningFails:     func(n *node) { n.signing = true },
		api.StoreFails:       func(n *node) { n.full = true },
		api.SignaturesEnd: func(n *node) {
			n.o.SignaturesEnd = func() (int, time.Time) { return 3, time.Now().Add(100 * time.Hour) }
		},
		api.SigningMismatch: func(n *node) {
			n.o.KeyMismatches = func() []dnssec.KeyMismatch {
				return []dnssec.KeyMismatch{{Zone: "a.example.",
					Problem: "caches may hold DNSKEY records with only key 7, and answers " +
						"have no signature by it", Until: time.Now().Add(time.Hour)}}
			}
		},
		api.RegionEmpty: func(n *node) { n.regions = []string{"eu", "us"}; n.domains = n.domains[:1] },
		api.NodeUnheard: func(n *node) {
			now := time.Now()
			n.o.Unheard = func() []gossip.SilentNode {
				return []gossip.SilentNode{{Node: "ow-2", Since: now.Add(-time.Minute)}, {Node: "ow-3",
					Since: now.Add(-time.Second)}}
			}
		},
		api.NodeIDShared: func(n *node) {
			n.o.SharedIDs = func() []replication.SharedID {
				return []replication.SharedID{{Node: "ow-1", Own: true, URLs: []string{"http://192.0.2.7:8080"}}}
			}
		},
		api.KeyRollWaits: func(n *node) {
			now := time.Now()
			n.o.KeyRolls = func() []dnssec.KeyRoll {
				return []dnssec.KeyRoll{{Zone: "a.example.", Waits: "the parent has no DS record",
					Since: now.Add(-time.Hour)},
					{Zone: "b.example.", Waits: "the parent has no DS record", Since: now.Add(-time.Minute)}}
			}
		},
		api.TLSEnds: func(n *node) {
			now := time.Now()
			n.o.Certificates = func() []httpserve.Dated {
				return []httpserve.Dated{{File: "/etc/gslb/api.pem", Subject: "CN=ow-1", NotAfter: now.Add(29 * 24 * time.Hour)},
					{File: "/etc/gslb/api.pem", Subject: "CN=authority", NotAfter: now.Add(31 * 24 * time.Hour)}}
			}
		},
		api.NoNameAnswered: func(n *node) { n.override("a.example", 1, false); n.override("b.example", 2, false) },
		api.NameUnanswered: func(n *node) {
			n.drain("a.example", 1, time.Millisecond, 0)
			time.Sleep(time.Second) // virtual: the drain ends
		},
		api.NameOnLastResort: func(n *node) { n.minimum, n.onAllDown = "2", policy.LastHealthy; n.domains = n.domains[:1] },
		api.RegionLost:       func(n *node) { n.override("a.example", 1, true); n.have("a.example 1 h", "b.example 2 u") },
		api.BackendUnwell:    func(n *node) { n.have("a.example 1 h", "b.example 2 h", "b.example 3 u") },
		api.ChecksIncomplete: func(n *node) { n.checked = false },
		api.OverrideInForce:  func(n *node) { n.override("a.example", 1, true) },
		api.WeightInForce: func(n *node) {
			n.must(n.registry.SetAdminState(n.t.Context(), registry.AdminState{Kind: api.OrderWeight, Service: "a.example",
				Address: netip.MustParseAddr("192.0.2.1"), Port: 80, Weight: 7, CreatedBy: "somebody", Reason: "r",
				ExpiresAt: time.Now().Add(time.Hour)}))
		},
		api.DrainInForce: func(n *node) { n.drain("a.example", 1, time.Hour, 0.25) },
		api.CertificateEnds: func(n *node) {
			n.o.Agents = func() []trust.Record {
				return []trust.Record{{AgentID: "eu-1", ExpiresInHours: 24}, {AgentID: "eu-2", ExpiresInHours: 8000},
					{AgentID: "eu-3", Revoked: true}}
			}
		},
		api.NodeRejected: func(n *node) {
			n.o.Rejecting = func() (int, netip.Addr) { return 2, netip.MustParseAddr("192.0.2.77") }
		},
		api.AgentDuplicate: func(n *node) {
			n.o.Troubles = func() []trust.Trouble {
				return []trust.Trouble{{AgentID: "eu-1", Code: wire.CodeDuplicate, From: netip.MustParseAddr("192.0.2.77")}}
			}
		},
		api.AgentRefused: func(n *node) {
			n.o.Troubles = func() []trust.Trouble {
				return []trust.Trouble{{AgentID: "eu-1", Code: wire.CodeExpired, From: netip.MustParseAddr("192.0.2.77")}}
			}
		},
		api.TokenLocked: func(n *node) {
			n.o.Locks = func() []trust.Lock { return []trust.Lock{{Closed: true}} }
		},
		api.NotReplicated: func(n *node) {
			n.o.NotReplicated = func() []string { return []string{"decisions do not reach ow-2"} }
		},
		api.NoAgreement: func(n *node) {
			n.o.NoAgreement = func() string { return "0 of 1 other nodes answer" }
		},
		api.ConfigInvalid: func(n *node) {
			n.o.ConfigFault = func() (string, string) { return "/etc/gslb/overwatch.yaml", "dns.zones is missing" }
		},
		api.FailbackPending: func(n *node) {
			n.o.Failbacks = func() []failback.Pending {
				return []failback.Pending{{Domain: "a.example", Region: "main", Setting: model.Failback{Manual: true},
					CanServeSince: time.Now()}, {Domain: "b.example", Region: "main", Setting: model.Failback{Manual: true}}}
			}
		},
		api.DatabaseUnusable: func(n *node) {
			n.o.DatabaseFault = func() (string, string) { return "/var/lib/GeoIP/a.mmdb", "it is cut short" }
		},
		api.QueryLogFails: func(n *node) {
			n.o.QueryLogFault = func() (string, string) { return "/var/log/gslb/queries.json", "no space left on device" }
		},
		api.NotificationsFail: func(n *node) {
			n.o.NotNotified = func() map[string]string { return map[string]string{"chat": "chat is told nothing"} }
		},
		api.KeysNotExchanged: func(n *node) {
			n.o.KeySync = func() api.DNSSECSyncState { return api.DNSSECSyncState{Enabled: true, OffReason: &reason} }
		},
	}
}

// TestConditions_OneTableSaysStatusMessageListAndAlerts checks each kind of condition: the condition is in the list and
// in the metric, determines the status and message of /api/health, and has an alert of its name. Package httpapi tests
// silent agents, unknown regions and holds. Package registry tests self-isolation.
func TestConditions_OneTableSaysStatusMessageListAndAlerts(t *testing.T) {
	alerts, err := os.ReadFile("../../../../packaging/observability/gslb-alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := map[api.ConditionKind]bool{api.AgentSilent: true, api.AgentLost: true, api.Flapping: true,
		api.DegradedShare: true, api.VerdictsSetAside: true, api.RegionUnknown: true, api.AgentsHeld: true,
		api.BackendRefused: true}
	for _, kind := range api.ConditionTypes() {
		_, rule, found := strings.Cut(string(alerts), "alert: "+kind.Alert+"\n")
		if kind.Alert != "" && !found {
			t.Errorf("%s: there is no alert %s", kind.Kind, kind.Alert)
		}
		expr, _, _ := strings.Cut(rule, "labels:")
		if of := fmt.Sprintf("{kind=%q}", kind.Kind); strings.Contains(expr, "_conditions") && !strings.Contains(expr, of) {
			t.Errorf("alert %s does not fire for %s: %s", kind.Alert, kind.Kind, expr)
		}
		provoke := provoked()[kind.Kind]
		if provoke == nil {
			if !elsewhere[kind.Kind] {
				t.Errorf("%s: nothing provokes it here", kind.Kind)
			}
			continue
		}
		t.Run(string(kind.Kind), func(t *testing.T) {
			inNode(t, func(n *node) {
				n.have("a.example 1 h", "b.example 2 h")
				if list := n.Conditions(); len(list) > 0 || n.Status() != api.ServiceHealthy {
					t.Fatalf("before: %+v, %s", list, n.Status())
				}
				provoke(n)
				time.Sleep(statusAge) // virtual
				n.wantCondition(kind)
			})
		})
	}
}

// wantCondition checks that a kind is listed, and that the Judgement matches the list.
func (n *node) wantCondition(kind api.ConditionType) {
	n.t.Helper()
	listed, worst := false, api.SeverityAttention
	for _, c := range n.Conditions() {
		if c.Severity != c.Kind.TypeOf().Severity || c.Sentence == "" || c.Command == "" {
			n.t.Errorf("%+v", c)
		}
		if c.Severity == api.SeverityUnhealthy || c.Severity == api.SeverityDegraded && worst == api.SeverityAttention {
			worst = c.Severity
		}
		listed = listed || c.Kind == kind.Kind
	}
	want := map[api.Severity]api.ServiceStatus{api.SeverityAttention: api.ServiceHealthy,
		api.SeverityDegraded: api.ServiceDegraded, api.SeverityUnhealthy: api.ServiceUnhealthy}[worst]
	if counted := n.Holding()[kind.Kind]; counted == 0 {
		n.t.Errorf("%s is listed and the metric does not count it", kind.Kind)
	}
	status, message := n.Judgement()
	if !listed || status != want || !strings.Contains(message, kind.Public) || (message == "") != (kind.Public == "") {
		n.t.Errorf("status %s (%s), want %s; listed %v: %+v", status, message, want, listed, n.Conditions())
	}
}

// The sentence of a mismatch includes its end, if known, and a remedy.
func TestConditions_DescribeMismatches(t *testing.T) {
	for want, until := range map[string]time.Time{
		"may answer SERVFAIL until 2030-01-02T03:04:05Z: no signature; restore": time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC),
		"resolvers answer SERVFAIL: no signature; compare the clock":            {},
	} {
		inNode(t, func(n *node) {
			n.o.KeyMismatches = func() []dnssec.KeyMismatch {
				return []dnssec.KeyMismatch{{Zone: "a.example.", Problem: "no signature", Until: until}}
			}
			list := n.Conditions()
			at := slices.IndexFunc(list, func(c api.Condition) bool { return c.Kind == api.SigningMismatch })
			if at < 0 || !strings.Contains(list[at].Sentence, want) {
				t.Errorf("%+v, want %q", list, want)
			}
		})
	}
}

// The sentence of an admin state has one expiry, and reports that no source declares the backend.
func TestConditions_DescribeOrders(t *testing.T) {
	inNode(t, func(n *node) {
		n.have("a.example 1 h", "b.example 2 h")
		n.drain("a.example", 1, time.Hour, 0)
		elsewhere := registry.AdminState{Kind: api.OrderWeight, Service: "a.example",
			Address: netip.MustParseAddr("192.0.2.9"),
			Port:    80, Weight: 7, CreatedBy: "ops", ExpiresAt: time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC)}
		n.must(n.registry.SetAdminState(n.t.Context(), elsewhere)) // of another node, which knows the backend
		elsewhere.Kind, elsewhere.Duration = api.OrderDrain, time.Hour
		n.must(n.registry.SetAdminState(n.t.Context(), elsewhere))
		var said []string
		for _, c := range n.Conditions() {
			if c.Kind == api.DrainInForce || c.Kind == api.WeightInForce {
				said = append(said, c.Sentence)
			}
		}
		slices.Sort(said)
		want := []string{
			"a.example:192.0.2.1:80 drains until 2000-01-01T01:00:00Z; set by somebody, without expiry: r",
			"a.example:192.0.2.9:80 has a drain, but no agent, file or API declares this backend; " +
				"set by ops, expires 2000-01-01T01:00:00Z",
			"a.example:192.0.2.9:80 has the weight 7, but no agent, file or API declares this backend; " +
				"set by ops, expires 2000-01-01T01:00:00Z",
		}
		if !slices.Equal(said, want) {
			n.t.Errorf("%s\nwant\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
		}
	})
}

// Commands have backends in the form that every command of gslbctl accepts.
func TestConditions_CommandsNameABackendAsOneArgument(t *testing.T) {
	inNode(t, func(n *node) {
		for _, o := range []registry.AdminState{
			{Kind: api.OrderOverride, Address: netip.MustParseAddr("192.0.2.1")},
			{Kind: api.OrderOverride, Address: netip.MustParseAddr("2001:db8::1:10")},
			{Kind: api.OrderOverride, Address: netip.MustParseAddr("2001:db8::1"), Port: 80},
			{Kind: api.OrderWeight, Address: netip.MustParseAddr("2001:db8::2"), Port: 80, Weight: 7},
		} {
			o.Service, o.CreatedBy, o.Reason = "a.example", "ops", "r"
			n.must(n.registry.SetAdminState(n.t.Context(), o))
		}
		var commands []string
		for _, c := range n.Conditions() {
			if c.Kind == api.OverrideInForce || c.Kind == api.WeightInForce {
				commands = append(commands, c.Command)
			}
		}
		slices.Sort(commands)
		want := []string{"gslbctl overrides clear a.example:192.0.2.1", "gslbctl overrides clear a.example:2001:db8::1:80",
			"gslbctl overrides clear a.example:[2001:db8::1:10]", "gslbctl weight a.example:2001:db8::2:80 --clear"}
		if !slices.Equal(commands, want) {
			n.t.Errorf("%q, want %q", commands, want)
		}
	})
}

func TestConditions_NameTheReasonWhyANameIsNotAnswered(t *testing.T) {
	for name, words := range map[api.ConditionKind]string{
		api.NameUnanswered: "nobody answers a.example: 0 of at least 1 backends may serve: " +
			"a.example:192.0.2.1:80 is drained",
		api.NameOnLastResort: "a.example is answered by its last resort: 1 of at least 2 backends may serve",
		api.OverrideInForce:  "a.example 192.0.2.1 is overridden as healthy; set by somebody, without expiry: r",
		api.WeightInForce:    "a.example:192.0.2.1:80 has the weight 7 instead of ",
		api.DrainInForce:     "a.example:192.0.2.1:80 drains to 25 % of its weight until ",
		api.CertificateEnds:  "the certificate of eu-1 ends",
		api.SignaturesEnd:    "3 signatures were not renewed in time; the first expires 2",
		api.RegionEmpty:      "a.example names region us and has no backend there, configured or reported",
		api.NodeUnheard:      "node ow-2 was last seen 1999-12-31T23:59:00Z: it is down, or cut off from this node",
		api.TLSEnds:          "the certificate of CN=ow-1 in /etc/gslb/api.pem ends 2000-01-30",
		api.AgentDuplicate:   "two agents report as eu-1, the refused one from 192.0.2.77: data_dir was copied; stop one of",
		api.AgentRefused: "agent eu-1 at 192.0.2.77 is refused: its certificate has expired; stop the agent, run " +
			"gslb-agent --reset-identity there, delete the pin (gslbctl agents unpin eu-1), then start the agent",
		api.NotReplicated:     "decisions do not reach ow-2",
		api.NotificationsFail: "chat is told nothing",
		api.KeysNotExchanged:  "signing keys are not exchanged with the other nodes: the node has no secret",
	} {
		inNode(t, func(n *node) {
			n.have("a.example 1 h", "b.example 2 h")
			provoked()[name](n)
			said := ""
			for _, c := range n.Conditions() {
				if c.Kind == name {
					said += c.Sentence + "\n"
				}
			}
			if !strings.HasPrefix(said, words) || strings.Count(said, "\n") != 1 {
				t.Errorf("%s: %q, want %q", name, said, words)
			}
		})
	}
}

// Conditions describe an expired certificate differently from an expiring one, and a node that never answered
// differently from a silent one.
func TestConditions_OfWhatIsOver(t *testing.T) {
	inNode(t, func(n *node) {
		n.have("a.example 1 h", "b.example 2 h")
		now := time.Now()
		n.o.Unheard = func() []gossip.SilentNode {
			return []gossip.SilentNode{{Node: "ow-9.example:7946", Since: now.Add(-time.Hour), NeverSeen: true}}
		}
		n.o.Certificates = func() []httpserve.Dated { return []httpserve.Dated{{Subject: "CN=x", NotAfter: now}} }
		var said []string
		for _, c := range n.Conditions() {
			said = append(said, c.Sentence)
		}
		all := strings.Join(said, "\n")
		if !strings.Contains(all, "no node has answered at ow-9.example:7946 (overwatch.gossip.seeds)") ||
			!strings.Contains(all, "CN=x in  has ended") {
			t.Error(all)
		}
	})
}

// Many domains that wait for a region have one condition. Regions that cannot serve or return automatically have none.
func TestConditions_FailbacksOfARegionAreFolded(t *testing.T) {
	inNode(t, func(n *node) {
		pending := func(domain, region string) failback.Pending {
			return failback.Pending{Domain: domain, Region: region, Setting: model.Failback{Manual: true},
				CanServeSince: time.Now()}
		}
		down, automatic := pending("x.example", "eu"), pending("y.example", "eu")
		down.CanServeSince, automatic.Setting = time.Time{}, model.Failback{After: 1}
		list := []failback.Pending{down, automatic, pending("a.example", "us")}
		n.o.Failbacks = func() []failback.Pending { return list }
		want := func(subjects ...string) {
			t.Helper()
			var got []string
			for _, c := range n.Conditions() {
				if c.Kind == api.FailbackPending {
					got = append(got, c.Subject)
				}
			}
			if !slices.Equal(got, subjects) {
				t.Errorf("the subjects are %v, want %v", got, subjects)
			}
		}
		want("a.example us")
		for i := range 5 {
			list = append(list, pending(fmt.Sprintf("b%d.example", i), "eu"))
		}
		want("region eu", "a.example us")
	})
}
