package publish // inside: it shares signing_test.go

import (
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/dnssec/roll"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/state/config"
)

// A zone below another zone of the node becomes unsigned and then signed. The DS record in the parent zone is removed
// before the signatures, and added after them. Later changes of settings do not affect this.
func TestSigning_AZoneGoesUnsignedAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const below = "sub.gslb.test."
		s := Settings{NodeID: "node-1", DNS: config.DNS{Zones: []config.Zone{{Name: "gslb.test"}, {Name: "sub.gslb.test"}}}}
		w := newSignedWorld(t, s)
		defer w.run(t)()
		zones := w.Publisher.signing.zones
		records := func(name string, kind uint16) (found []dns.RR, signed bool) {
			r := w.View().Resolve(name, kind, true, netip.Addr{}, zone.NewRotations(1, 1))
			for _, rr := range append(r.Answer, r.Authority...) {
				if rr.Header().Rrtype == kind {
					found = append(found, rr)
				}
				signed = signed || rr.Header().Rrtype == dns.TypeRRSIG
			}
			return found, signed
		}
		parent := func() dnssec.Parent {
			p := dnssec.Parent{TTL: time.Hour}
			found, _ := records(below, dns.TypeDS)
			for _, rr := range found {
				p.DS = append(p.DS, rr.(*dns.DS))
			}
			return p
		}
		step := func(pass time.Duration) {
			t.Helper()
			for range pass / (4 * time.Minute) {
				time.Sleep(4 * time.Minute)
				steps, err := zones.StepRolls(dnssec.Surroundings{TTL: time.Hour, Margin: time.Minute,
					Parent: func(string) dnssec.Parent { return parent() }})
				if err == nil && len(steps) > 0 {
					err = w.Resign(t.Context())
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		state := func(when, want string) {
			t.Helper()
			ds, _ := records(below, dns.TypeDS)
			cds, _ := records(below, dns.TypeCDS)
			soa, signed := records(below, dns.TypeSOA)
			if got := fmt.Sprintf("%d DS, %d CDS, %v", len(ds), len(cds), signed); got != want || len(soa) != 1 {
				t.Errorf("%s: %s, %d SOA; want %s", when, got, len(soa), want)
			}
			if _, signed := records("gslb.test.", dns.TypeSOA); !signed {
				t.Errorf("%s: the zone above is not signed", when)
			}
		}
		begin := func(way roll.Goal) {
			t.Helper()
			if _, err := zones.BeginTransition(below, way, roll.TTLs{}); err != nil {
				t.Fatal(err)
			}
			if err := w.Resign(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		state("at first", "1 DS, 1 CDS, true")
		begin(roll.ToUnsigned)
		state("offered", "0 DS, 1 CDS, true")
		step(150 * time.Minute)
		state("unsigned", "0 DS, 0 CDS, false")
		s.DNS.Zones = append(s.DNS.Zones, config.Zone{Name: "other.test"})
		if err := w.Reconfigure(t.Context(), s, nil); err != nil {
			t.Fatal(err)
		}
		step(3 * time.Hour)
		state("after a reload", "0 DS, 0 CDS, false")
		begin(roll.ToSigned)
		state("signed", "0 DS, 0 CDS, true")
		if err := w.verify(w.View(), below, dns.TypeSOA); err != nil {
			t.Error(err)
		}
		step(90 * time.Minute)
		state("offered again", "1 DS, 1 CDS, true")
		if rolling := zones.Rolling(); len(rolling) > 0 {
			t.Errorf("under way: %v", rolling)
		}
	})
}
