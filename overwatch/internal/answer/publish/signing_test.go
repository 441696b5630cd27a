package publish // inside: it uses clockCheck, plan and signing

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/dnssec/roll"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/state/config"
)

// signedWorld is a Publisher that signs. The test can set its clock independently of the virtual time.
type signedWorld struct {
	*Publisher
	backends *backends
	metrics  *prometheus.Registry

	mu     sync.Mutex
	offset time.Duration // offset of the wall clock
}

func (w *signedWorld) wall() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.offset)
}

func (w *signedWorld) setClock(move time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.offset += move
}

func newSignedWorld(t *testing.T, s Settings) *signedWorld {
	t.Helper()
	w := &signedWorld{backends: new(backends), metrics: prometheus.NewRegistry()}
	zones, err := dnssec.Open(
		dnssec.Options{Dir: t.TempDir(), NodeID: "node-1", Now: w.wall, Registerer: w.metrics, Logger: zerolog.Nop()},
	)
	if err != nil {
		t.Fatal(err)
	}
	w.backends.set("app.gslb.test", "192.0.2.1", "192.0.2.2", "2001:db8::1")
	w.backends.set("shop.example.com", "192.0.2.3")
	w.Publisher, err = New(
		Options{
			Settings:   s,
			Backends:   w.backends,
			Signing:    zones,
			Now:        w.wall,
			Registerer: w.metrics,
			Logger:     zerolog.Nop(),
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// run runs the publisher until the returned function is called.
func (w *signedWorld) run(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 2)
	go func() { done <- w.Run(ctx) }()
	go func() { done <- w.Sign(ctx) }()
	return func() {
		cancel()
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
}

// A process that starts with lower TTLs knows the TTLs in the answers of the previous process.
func TestServeTTL_IsStoredBeforeAnswersHaveIt(t *testing.T) {
	dir := t.TempDir()
	start := func() *dnssec.Zones {
		zones, err := dnssec.Open(dnssec.Options{Dir: dir, NodeID: "node-1", Registerer: prometheus.NewRegistry(),
			Logger: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		return zones
	}
	s := testSettings()
	s.Domains[0].TTL = 7200
	if _, err := New(Options{Settings: s, Backends: new(backends), Signing: start(), Registerer: prometheus.NewRegistry(),
		Logger: zerolog.Nop()}); err != nil {
		t.Fatal(err)
	}
	zones := start()
	if _, err := zones.Signer("gslb.test."); err != nil {
		t.Fatal(err)
	}
	coming, err := zones.PreviewRoll("gslb.test.", dnssec.RollOptions{TTL: roll.TTLs{DS: time.Hour}})
	if err != nil || time.Until(coming.Schedule[0].NotBefore) < 7100*time.Second {
		t.Errorf("the schedule is %+v, %v; caches hold answers of the previous process for 2 h", coming.Schedule, err)
	}
}

// After a reload lowers a TTL, a rollover waits until no cache can have answers with the previous TTL, and not longer.
func TestServeTTL_ALowerTTLReplacesTheOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		high := testSettings()
		high.Domains[0].TTL = 30_000
		w := newSignedWorld(t, high)
		defer w.run(t)()
		if _, err := w.signing.zones.Signer("gslb.test."); err != nil {
			t.Fatal(err)
		}
		wait := func() time.Duration {
			t.Helper()
			coming, err := w.signing.zones.PreviewRoll("gslb.test.", dnssec.RollOptions{TTL: roll.TTLs{DS: time.Hour,
				Answers: w.LongestTTL()}})
			if err != nil {
				t.Fatal(err)
			}
			return coming.Schedule[0].NotBefore.Sub(w.wall())
		}
		if err := w.Reconfigure(t.Context(), testSettings(), nil); err != nil {
			t.Fatal(err)
		}
		if got := wait(); got < 29_990*time.Second {
			t.Errorf("after the reload a change of keys waits for %s: caches hold answers with the previous TTL", got)
		}
		w.setClock(30_001 * time.Second)
		if got := wait(); got > 2*time.Hour {
			t.Errorf("a change of keys waits for %s: no cache holds the previous TTL", got)
		}
		other := high // one domain changes, and another domain has a higher TTL
		other.Domains = slices.Clone(testSettings().Domains)
		other.Domains[1].TTL = 20_000
		third := other
		third.Domains = slices.Clone(other.Domains)
		third.Domains[0].TTL = 10
		for _, s := range []Settings{other, third} {
			if err := w.Reconfigure(t.Context(), s, nil); err != nil {
				t.Fatal(err)
			}
		}
		w.setClock(24 * time.Hour)
		if got := wait(); got < 19_990*time.Second {
			t.Errorf("a change of keys waits for %s: a domain has a higher TTL", got)
		}
	})
}

// keyOf returns the DNSKEY records of a zone in the view.
func keyOf(v *zone.View, apex string) []*dns.DNSKEY {
	var keys []*dns.DNSKEY
	r := v.Resolve(apex, dns.TypeDNSKEY, false, netip.Addr{}, zone.NewRotations(1, 1))
	for _, rr := range r.Answer {
		keys = append(keys, rr.(*dns.DNSKEY))
	}
	return keys
}

// verify checks that each RRset of an answer has a valid signature by a key of the same view.
func (w *signedWorld) verify(v *zone.View, name string, rtype uint16) error {
	r := v.Resolve(name, rtype, true, netip.Addr{}, zone.NewRotations(rand.Uint64(), 1))
	if r.Kind == zone.Failed || r.Kind == zone.Refused {
		return nil
	}
	for _, section := range [][]dns.RR{r.Answer, r.Authority} {
		for _, rr := range section {
			if rr.Header().Rrtype == dns.TypeRRSIG {
				continue
			}
			if err := w.verifySet(v, section, rr.Header().Name, rr.Header().Rrtype); err != nil {
				return fmt.Errorf("%s %s: %w", name, dns.Type(rtype), err)
			}
		}
	}
	return nil
}

func (w *signedWorld) verifySet(v *zone.View, section []dns.RR, owner string, rtype uint16) error {
	var set []dns.RR
	var last error
	for _, rr := range section {
		if rr.Header().Rrtype == rtype && strings.EqualFold(rr.Header().Name, owner) {
			set = append(set, rr)
		}
	}
	for _, rr := range section {
		sig, ok := rr.(*dns.RRSIG)
		if !ok || sig.TypeCovered != rtype || !strings.EqualFold(sig.Hdr.Name, owner) {
			continue
		}
		if !sig.ValidityPeriod(w.wall()) {
			return fmt.Errorf(
				"%s: valid from %d to %d, it is %d",
				dns.Type(rtype),
				sig.Inception,
				sig.Expiration,
				w.wall().Unix(),
			)
		}
		for _, key := range keyOf(v, sig.SignerName) {
			if last = sig.Verify(key, set); last == nil {
				return nil
			}
		}
	}
	return fmt.Errorf("no signature of %s %s holds: %w", owner, dns.Type(rtype), last)
}

var (
	walkNames = []string{
		"app.gslb.test.",
		"gslb.test.",
		"www.gslb.test.",
		"nx.gslb.test.",
		"x.app.gslb.test.",
		"shop.example.com.",
		"nx.shop.example.com.",
		"a.new.gslb.test.",
		"new.gslb.test.",
	}
	walkTypes = []uint16{
		dns.TypeA,
		dns.TypeAAAA,
		dns.TypeTXT,
		dns.TypeSOA,
		dns.TypeNS,
		dns.TypeDNSKEY,
		dns.TypeCDS,
		dns.TypeMX,
		dns.TypeDS,
	}
)

func TestSigning_EveryAnswerHoldsWhileHealthNamesAndZonesChange(t *testing.T) {
	for _, denial := range []string{config.DenialNSEC, config.DenialNSEC3} {
		t.Run(denial, func(t *testing.T) {
			s := testSettings()
			s.Denial = denial
			s.Domains[0].MaxAnswers = 2
			w := newSignedWorld(t, s)
			defer w.run(t)()
			done := make(chan struct{})
			var askers sync.WaitGroup
			for seed := range uint64(3) {
				random := rand.New(rand.NewPCG(seed, 1))
				askers.Go(func() {
					for {
						select {
						case <-done:
							return
						default:
						}
						name, rtype := walkNames[random.IntN(len(walkNames))], walkTypes[random.IntN(len(walkTypes))]
						if err := w.verify(w.View(), name, rtype); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			random := rand.New(rand.NewPCG(7, 1))
			for range 150 {
				w.change(t, random, s)
			}
			close(done)
			askers.Wait()
		})
	}
}

// change makes a random change.
func (w *signedWorld) change(t *testing.T, random *rand.Rand, s Settings) {
	t.Helper()
	if random.IntN(4) > 0 {
		var lines []string
		for _, address := range []string{"192.0.2.1", "192.0.2.2", "192.0.2.4", "2001:db8::1", "2001:db8::2"} {
			if random.IntN(3) > 0 {
				lines = append(lines, address+[]string{"", " down"}[random.IntN(2)])
			}
		}
		w.backends.set("app.gslb.test", lines...)
		w.Mark("app.gslb.test")
		if err := w.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		return
	}
	s.Domains = slices.Clone(s.Domains)
	if random.IntN(2) == 0 {
		s.Domains = append(
			s.Domains,
			config.Domain{Name: "a.new.gslb.test", RoutingAlgorithm: "weighted", TTL: 1 + random.IntN(100)},
		)
	}
	if random.IntN(2) == 0 {
		s.DNS.Zones = append(slices.Clone(s.DNS.Zones), config.Zone{Name: "new.gslb.test"})
	}
	if err := w.Reconfigure(t.Context(), s, nil); err != nil {
		t.Error(err)
	}
}

func TestSigning_TheBackgroundSignsEverythingBeforeItIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSignedWorld(t, testSettings())
		defer w.run(t)()
		w.allPrepared(t)
	})
}

// allPrepared checks that queries create no signatures.
func (w *signedWorld) allPrepared(t *testing.T) {
	t.Helper()
	synctest.Wait()
	before := w.made(t)
	w.verifyAll(t)
	if after := w.made(t); before == 0 || after != before {
		t.Errorf("%v signatures were made beforehand, %v when asked for", before, after-before)
	}
}

// A new name replaces the view while the names of the previous view are being signed, for example after the start.
func TestSigning_TheBackgroundGoesOnWhileNamesCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSignedWorld(t, testSettings())
		view, looks := w.signing.view, 0
		w.signing.view = func() *zone.View {
			if looks++; looks == 5 {
				var contents []*zone.Contents
				for _, z := range w.plan.zones {
					contents = append(contents, &z.Contents)
				}
				next, err := zone.New(contents, view())
				if err != nil {
					t.Error(err)
				}
				w.view.Store(next)
			}
			return view()
		}
		defer w.run(t)()
		w.allPrepared(t)
	})
}

// Background validation checks the answers in the view. Signatures by keys that the view does not publish are a
// mismatch.
func TestSigning_TheBackgroundValidatesAnswers(t *testing.T) {
	for _, wrong := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w, other := newSignedWorld(t, testSettings()), newSignedWorld(t, testSettings())
			if wrong {
				var contents []*zone.Contents
				for i, z := range w.plan.zones {
					c := z.Contents
					c.Signer = other.plan.zones[i].Signer
					contents = append(contents, &c)
				}
				view, err := zone.New(contents, nil)
				if err != nil {
					t.Fatal(err)
				}
				w.signing.view = func() *zone.View { return view }
			}
			defer w.run(t)()
			time.Sleep(validateCheck) // virtual time
			synctest.Wait()
			signed, want := w.signing.zones.Signed(), 0
			if wrong {
				want = len(signed)
			}
			if got := w.signing.zones.Mismatches(); len(signed) == 0 || len(got) != want {
				t.Errorf("zones %v, wrong signatures: %t: %+v", signed, wrong, got)
			}
		})
	}
}

// made returns the number of created signatures.
func (w *signedWorld) made(t *testing.T) float64 {
	t.Helper()
	families, err := w.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "gslb_dnssec_signatures_total" {
			return f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	t.Fatal("no such metric")
	return 0
}

func TestSigning_SignaturesAreRenewedInTime(t *testing.T) {
	days, least, most := 30, 3.0, 6.0
	if testing.Short() { // with the race detector; a run without it has all days
		days, least, most = 16, 2, 4
	}
	synctest.Test(t, func(t *testing.T) {
		w := newSignedWorld(t, testSettings())
		defer w.run(t)()
		synctest.Wait()
		first := w.made(t)
		for day := range days {
			time.Sleep(24 * time.Hour)
			for _, name := range walkNames {
				if err := w.verify(w.View(), name, dns.TypeA); err != nil {
					t.Fatalf("day %d: %v", day, err)
				}
			}
			if day == 4 && w.made(t) > first {
				t.Error("signatures were renewed before the seventh day of their time")
			}
		}
		if made := w.made(t); made < least*first || made > most*first {
			t.Errorf("%v signatures in %d days, %v of them at the start", made, days, first)
		}
	})
}

// Fault 11.
func TestSigning_AnswersHoldAfterTheClockWasSet(t *testing.T) {
	const day = 24 * time.Hour
	for _, move := range []time.Duration{time.Hour, -time.Hour, 400 * day, -3650 * day} {
		t.Run(move.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newSignedWorld(t, testSettings())
				defer w.run(t)()
				synctest.Wait()
				w.setClock(move)
				time.Sleep(clockCheck)
				synctest.Wait()
				w.verifyAll(t)
			})
		})
	}
}

func (w *signedWorld) verifyAll(t *testing.T) {
	t.Helper()
	for _, name := range walkNames {
		for _, rtype := range walkTypes {
			if err := w.verify(w.View(), name, rtype); err != nil {
				t.Error(err)
			}
		}
	}
}

// Signatures are valid according to a clock that differs by an hour and more in either direction: the clock of a
// validator, or the correct clock if the node's clock jumped before signing.
func TestSigning_AnswersHoldByClocksThatAreAnHourOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSignedWorld(t, testSettings())
		defer w.run(t)()
		synctest.Wait()
		for _, off := range []time.Duration{time.Hour, -time.Hour, 11 * time.Hour, -11 * time.Hour} {
			w.setClock(off) // only for the checks: the node has no time to notice the change
			w.verifyAll(t)
			w.setClock(-off)
		}
	})
}

func TestSigning_ZonesBelowZonesAreDelegatedSecurely(t *testing.T) {
	s := testSettings()
	s.DNS.Zones = append(s.DNS.Zones, config.Zone{Name: "child.gslb.test"})
	w := newSignedWorld(t, s)
	v := w.View()
	r := v.Resolve("child.gslb.test.", dns.TypeDS, true, netip.Addr{}, zone.NewRotations(1, 1))
	if len(r.Answer) != 2 {
		t.Fatalf("DS: %v", r.Answer)
	}
	ds, key := r.Answer[0].(*dns.DS), keyOf(v, "child.gslb.test.")[0]
	if r.Answer[1].(*dns.RRSIG).SignerName != "gslb.test." || key.ToDS(ds.DigestType).Digest != ds.Digest {
		t.Errorf("%v", r.Answer)
	}
	if err := w.verify(v, "child.gslb.test.", dns.TypeDS); err != nil {
		t.Error(err)
	}
}
