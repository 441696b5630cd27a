package overwatch // inside: it uses node

import (
	"testing"
	"testing/synctest"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/control"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/model"
)

// A resolver with a zone's SOA in its cache treats a lower serial as an older zone (RFC 1912 section 2.2). Several
// changes per second make the serial run ahead of the time. A restart within the next second does not lower the serial,
// and neither do more reloads than the stored bound allows.
func TestSerials_DoNotGoBackAtARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newChronicle(t, 1)
		defer func() {
			h.node.close()
			synctest.Wait()
		}()
		last := uint32(0)
		later := func(event string) {
			t.Helper()
			soa := h.node.publisher.View().Resolve("gslb.test.", dns.TypeSOA, false, clientAddress(0),
				zone.NewRotations(1, 1)).Answer
			if len(soa) != 1 || int32(soa[0].(*dns.SOA).Serial-last) <= 0 {
				t.Fatalf("after %s: %v, and the serial was %d", event, soa, last)
			}
			last = soa[0].(*dns.SOA).Serial
		}
		later("the start")
		for round := range 3 {
			for range 5 {
				// one name, then two names together
				for _, names := range [][]string{{"x.gslb.test"}, {"y.gslb.test", "z.gslb.test"}} {
					h.must(h.node.control.Define(nil, func(draft *definitions.Draft) error {
						for _, name := range names {
							if draft.Now().Domains[name] == nil {
								h.put(draft, name, "weighted", true)
							} else {
								draft.Delete(model.KindDomain, name)
							}
						}
						return nil
					}))
					later("a change")
				}
			}
			if round == 1 {
				now, next := h.model.file, h.model.file
				next.ttl = 50 - now.ttl // 20 or 30
				for range control.SerialsAhead + 10 {
					h.reloadTo(now, next)
					now, next = next, now
					later("a reload")
				}
			}
			h.restart()
			later("a restart")
		}
	})
}
