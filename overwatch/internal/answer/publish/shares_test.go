package publish // inside: it shares publisher_test.go

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
)

// tally counts, for each address, the answers of a socket with the address first since the last change of shares. All
// answers are for clients with the same backends.
type tally struct {
	shares string // shares of all addresses, as text
	led    map[netip.Addr]int
	asked  int
}

// TestShares_AreExactAtEveryMoment changes weights, early warnings, drains and health, with queries of random clients
// in between. Since the last change of shares, the number of answers with each address first differs from its share by
// at most one, on every socket and for every algorithm with rotations.
func TestShares_AreExactAtEveryMoment(t *testing.T) {
	answers, histories := 0, uint64(60)
	if testing.Short() {
		histories = uint64(2 * len(policy.Algorithms()))
	}
	for seed := range histories {
		random := rand.New(rand.NewPCG(seed, 5))
		algorithm := policy.Algorithms()[seed%uint64(len(policy.Algorithms()))]
		b, s := placedSettings(t, config.Domain{
			RoutingAlgorithm: algorithm.Name, MaxAnswers: 1 + random.IntN(3), FailoverThreshold: 1,
			OnAllDown: []string{"servfail", "all"}[random.IntN(2)],
			Proximity: config.Proximity{ToleranceKm: []float64{0, 100}[random.IntN(2)]},
		})
		s.Regions[random.IntN(3)].RoutingAlgorithm = []string{"", "round-robin"}[random.IntN(2)]
		p := newPublisher(t, b, s)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- p.Run(ctx) }()
		w := sharesWorld{t: t, random: random, p: p, tallies: make(map[string]*tally)}
		for i := range w.sockets {
			w.sockets[i] = zone.NewRotations(seed, uint64(i))
		}
		for range 25 {
			w.asked = make(map[string]bool)
			for _, client := range clientsEverywhere {
				for socket := range w.sockets {
					w.ask(socket, client)
				}
			}
			for range random.IntN(200) {
				w.ask(random.IntN(len(w.sockets)), clientsEverywhere[random.IntN(len(clientsEverywhere))])
			}
			for group := range w.tallies {
				if !w.asked[group] {
					delete(w.tallies, group) // its clients now belong to other groups
				}
			}
			b.move(random)
			p.Mark("app.gslb.test")
			if err := p.Flush(ctx); err != nil {
				t.Fatal(err)
			}
		}
		answers += w.answers
		stop()
		if err := <-ended; err != nil || t.Failed() {
			t.Fatalf("seed %d, %s (%v)", seed, algorithm, err)
		}
	}
	if answers < 10_000 {
		t.Errorf("only %d answers were counted", answers)
	}
}

// clientsEverywhere has clients at every location of placedSettings.
var clientsEverywhere = []netip.Addr{
	netip.MustParseAddr("198.51.100.7"),
	netip.MustParseAddr("203.0.113.7"),
	netip.MustParseAddr("192.0.2.1"),
}

// move changes weights, shares and health of some backends.
func (b *backends) move(random *rand.Rand) {
	b.mu.Lock()
	defer b.mu.Unlock()
	moved := append([]*registry.Backend(nil), b.data["app.gslb.test"]...)
	for range 1 + random.IntN(2) {
		i := random.IntN(len(moved))
		next := *moved[i]
		switch random.IntN(4) {
		case 0:
			next.Weight = []int{0, 1, 2, 5, 10}[random.IntN(5)]
		case 1:
			next.Share = float64(random.IntN(101)) / 100
		default:
			next.MayServe = random.IntN(3) > 0
		}
		moved[i] = &next
	}
	b.data["app.gslb.test"] = moved
}

type sharesWorld struct {
	t       *testing.T
	random  *rand.Rand
	p       *Publisher
	sockets [3]*zone.Rotations
	tallies map[string]*tally // by socket and group
	asked   map[string]bool   // keys of tallies with queries
	answers int
}

// ask counts an answer and compares it with the shares that the policy assigns to the client.
func (w *sharesWorld) ask(socket int, client netip.Addr) {
	w.t.Helper()
	r := w.p.View().Resolve("app.gslb.test.", dns.TypeA, false, client, w.sockets[socket])
	if r.Kind != zone.Positive {
		return
	}
	d := r.Selection.Input.Decide(policy.IPv4, r.Selection.ClientLocation())
	if d.Hashed {
		return
	}
	key, shares, sum := fmt.Sprint(socket, d.Group), fmt.Sprint(d.TTL), 0
	for _, due := range d.Members {
		sum += due.Parts
	}
	for _, due := range d.Members {
		shares += fmt.Sprintf(" %s %.9f", due.Address, float64(due.Parts)/float64(sum))
	}
	w.asked[key] = true
	now := w.tallies[key]
	if now == nil || now.shares != shares {
		now = &tally{shares, make(map[netip.Addr]int), 0}
		w.tallies[key] = now
	}
	lead, _ := netip.AddrFromSlice(r.Answer[0].(*dns.A).A.To4())
	now.led[lead]++
	now.asked++
	w.answers++
	for _, due := range d.Members {
		if off := now.led[due.Address]*sum - now.asked*due.Parts; off > sum || off < -sum {
			w.t.Fatalf(
				"socket %d, %s: %s led %d of %d answers, due are %d/%d of them",
				socket,
				d.Group,
				due.Address,
				now.led[due.Address],
				now.asked,
				due.Parts,
				sum,
			)
		}
	}
}
