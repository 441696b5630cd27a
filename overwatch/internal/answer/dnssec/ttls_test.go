package dnssec_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/dnssec/roll"
)

// ttls contains the TTLs of a process and of the parent.
type ttls struct{ keys, answers, ds time.Duration }

var (
	high = ttls{time.Hour, 2 * time.Hour, 3 * time.Hour}
	low  = ttls{10 * time.Second, 10 * time.Second, 10 * time.Second}
)

// start starts a node whose answers have the TTLs.
func (r *roller) start(ttl ttls) {
	r.t.Helper()
	var err error
	r.zones, err = dnssec.Open(dnssec.Options{Dir: r.dir, NodeID: r.name, Now: func() time.Time { return *r.clock },
		KeyTTL: ttl.keys, Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()})
	if err != nil {
		r.t.Fatal(err)
	}
	r.zones.SetExpected([]string{rolled})
	r.signer()
	r.zones.ServeTTL(ttl.answers)
	r.answers = ttl.answers
}

// stages returns the duration of each stage of a change. The parent follows immediately. stages calls current before
// the round of each minute, with the minutes since the start of the stage. current returns the current TTLs.
func (r *roller) stages(current func(minute int) ttls) map[roll.Stage]time.Duration {
	r.t.Helper()
	lasted := map[roll.Stage]time.Duration{}
	began, at := *r.clock, r.zones.Rolls()[len(r.zones.Rolls())-1].Stage
	for minute := 0; at != roll.Done; minute++ {
		ttl := current(minute)
		parent := dnssec.Parent{TTL: ttl.ds}
		if s := r.signer(); s != nil {
			parent.DS = dsOf(s.DS())
		}
		_, err := r.zones.StepRolls(dnssec.Surroundings{TTL: ttl.answers, Margin: 5 * time.Minute,
			Parent: func(string) dnssec.Parent { return parent }})
		if err != nil {
			r.t.Fatal(err)
		}
		r.signer()
		if wrong := r.zones.Mismatches(); len(wrong) > 0 {
			r.t.Fatalf("%+v", wrong)
		}
		if now := r.zones.Rolls()[len(r.zones.Rolls())-1].Stage; now != at {
			lasted[at] = r.clock.Sub(began)
			began, at, minute = *r.clock, now, -1
		}
		*r.clock = r.clock.Add(time.Minute)
	}
	return lasted
}

// changes are the changes of a zone, by name.
var changes = map[string]func(t *testing.T, z *dnssec.Zones){
	"plain":     func(t *testing.T, z *dnssec.Zones) { rollTo(t, z, dnssec.RollOptions{}) },
	"emergency": func(t *testing.T, z *dnssec.Zones) { rollTo(t, z, dnssec.RollOptions{Emergency: true}) },
	"algorithm": func(t *testing.T, z *dnssec.Zones) { rollTo(t, z, dnssec.RollOptions{Algorithm: dnssec.ED25519}) },
	"unsign":    func(t *testing.T, z *dnssec.Zones) { wayTo(t, z, roll.ToUnsigned) },
	"sign": func(t *testing.T, z *dnssec.Zones) {
		wayTo(t, z, roll.ToUnsigned)
		wayTo(t, z, roll.ToSigned)
	},
}

func rollTo(t *testing.T, z *dnssec.Zones, o dnssec.RollOptions) {
	t.Helper()
	o.TTL.DS = high.ds
	if _, err := z.BeginRoll(rolled, o); err != nil {
		t.Fatal(err)
	}
}

func wayTo(t *testing.T, z *dnssec.Zones, way roll.Goal) {
	t.Helper()
	if _, err := z.BeginTransition(rolled, way, roll.TTLs{DS: high.ds}); err != nil {
		t.Fatal(err)
	}
}

// aged returns a node that has served a key and the high TTLs for a day.
func aged(t *testing.T) *roller {
	t.Helper()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	n := &roller{t: t, dir: filepath.Join(t.TempDir(), "dnssec"), name: "n1", clock: &now}
	n.start(high)
	now = now.Add(24 * time.Hour)
	return n
}

// If a restart lowers TTLs before a rollover or at any minute of it, no stage becomes shorter: caches hold answers of
// the previous process.
func TestRoll_RestartWithLowerTTLsShortensNoStage(t *testing.T) {
	for name, begin := range changes {
		t.Run(name, func(t *testing.T) {
			n := aged(t)
			begin(t, n.zones)
			want := n.stages(func(int) ttls { return high })
			for _, at := range []int{-1, 0, 1, 59} {
				n := aged(t)
				if at < 0 {
					n.start(low)
				}
				begin(t, n.zones)
				ttl := high
				got := n.stages(func(minute int) ttls {
					if minute == at {
						ttl = low
						n.start(ttl)
					}
					return ttl
				})
				for stage, lasted := range want {
					if got[stage] < lasted {
						t.Errorf("restart at minute %d: stage %s lasts %s, with high TTLs %s", at, stage, got[stage], lasted)
					}
				}
			}
		})
	}
}

// Lower TTLs shorten a rollover if caches no longer hold answers with the previous TTLs.
func TestRoll_OldTTLsEnd(t *testing.T) {
	n := aged(t)
	n.start(low)
	*n.clock = n.clock.Add(high.answers + time.Minute)
	n.start(low)
	if _, err := n.zones.BeginRoll(rolled, dnssec.RollOptions{TTL: roll.TTLs{DS: low.ds}}); err != nil {
		t.Fatal(err)
	}
	for stage, lasted := range n.stages(func(int) ttls { return low }) {
		if lasted > 7*time.Minute {
			t.Errorf("stage %s lasts %s", stage, lasted)
		}
	}
}

// A node also uses the TTLs of other nodes, because caches hold their answers.
func TestRoll_TheLongestTTLOfAllNodesCounts(t *testing.T) {
	nodes, clock := rollers(t, 2)
	nodes[0].start(low)
	nodes[1].start(high)
	*clock = clock.Add(24 * time.Hour)
	parent := dnssec.Parent{TTL: time.Hour}
	if _, err := nodes[0].zones.BeginRoll(rolled, dnssec.RollOptions{}); err != nil {
		t.Fatal(err)
	}
	began := *clock
	rounds(nodes, clock, parent, 8*time.Minute)
	nodes[1].start(low)
	for nodes[0].zones.Rolls()[0].Stage == roll.Published {
		rounds(nodes, clock, parent, 4*time.Minute)
	}
	if took := clock.Sub(began); took < answerTTL {
		t.Errorf("the first node leaves %s after %s, the other one has served TTLs of %s", roll.Published, took, answerTTL)
	}
}

// A node starts with a damaged file of TTLs and replaces the file.
func TestOpen_DamagedTTLs(t *testing.T) {
	n := aged(t)
	file := filepath.Join(n.dir, "served-ttls.json")
	for _, damage := range []string{"", "{", `{"dnskey":[{"ttl":-1}]}`} {
		if err := os.WriteFile(file, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		n.start(high)
		n.start(low)
		state, err := n.zones.PreviewRoll(rolled, dnssec.RollOptions{TTL: roll.TTLs{DS: time.Hour}})
		if err != nil || state.Schedule[0].NotBefore.Before(n.clock.Add(high.answers)) {
			t.Errorf("after the file was %q: %+v, %v", damage, state.Schedule, err)
		}
	}
}
