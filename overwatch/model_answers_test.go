package overwatch

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/publish"
	"gslb.internal/overwatch/internal/zone"
)

// environmentModelSeed repeats one history; environmentModelHistories says how many there are, and environmentModelEvents how long each is.
const (
	environmentModelSeed      = "GSLB_MODEL_SEED"
	environmentModelHistories = "GSLB_MODEL_HISTORIES"
	environmentModelEvents    = "GSLB_MODEL_EVENTS"
)

// Random histories of claims, checks, orders, drains, silence, domains, servers and mappings of the API, and reloads go through a
// node, which publishes what changed. After each event every name, family and client gets from it what it gets from a publisher that
// begins anew with the same, and what the reference says, with the TTL and the shares.
func TestAnswers_AreTheModelsAndThoseOfAFreshStart(t *testing.T) {
	histories, first := number(t, environmentModelHistories, 4), uint64(1)
	if os.Getenv(environmentModelSeed) != "" {
		histories, first = 1, uint64(number(t, environmentModelSeed, 1))
	}
	events, seen := number(t, environmentModelEvents, 120), map[string]int{}
	for seed := first; seed < first+uint64(histories); seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newChronicle(t, seed)
				defer func() {
					h.node.close()
					synctest.Wait()
				}()
				h.compare("the start", true, seen)
				for i := range events {
					event := h.next()
					h.settled()
					h.compare(event, i%5 == 0, seen)
					if t.Failed() {
						t.Fatalf("%s=%d repeats it; history:\n%s", environmentModelSeed, seed, h)
					}
				}
			})
		})
	}
	if histories < 4 {
		return
	}
	for _, kind := range []string{"positive", "no data", "NXDOMAIN", "REFUSED", "SERVFAIL", "last resort", "suspended", "drained"} {
		if seen[kind] == 0 {
			t.Errorf("no history led to %q: the events are too tame (%v)", kind, seen)
		}
	}
}

// compare asks for everything. anew also asks a publisher that begins anew.
func (h *chronicle) compare(event string, anew bool, seen map[string]int) {
	h.t.Helper()
	if h.model.suspended {
		seen["suspended"]++
	}
	views := map[string]*zone.View{"the node": h.node.publisher.View()}
	if anew {
		views["a fresh start"] = h.fresh()
	}
	for _, name := range historyNames {
		candidates := h.model.candidates(name)
		serving := only(candidates, func(c refCandidate) bool { return c.serves() })
		for _, c := range candidates {
			if c.fit && !c.serves() {
				seen["drained"]++
			}
		}
		for _, v6 := range []bool{false, true} {
			for client := range historyClients {
				want := h.model.answer(name, candidates, v6, h.model.clientRegion(client))
				seen[want.kind]++
				if len(want.addresses) > 0 && len(serving) == 0 {
					seen["last resort"]++
				}
				answered := map[string][]string{}
				for who, view := range views {
					var wrong string
					if answered[who], wrong = ask(view, name, v6, client, want); wrong != "" && !h.t.Failed() {
						h.t.Errorf("after %s: client %d asks for %s (IPv6: %v): %s: %s\n%s", event, client, name, v6, who, wrong, h.situation(name, client))
					}
				}
				if anew && !slices.Equal(answered["the node"], answered["a fresh start"]) {
					h.t.Errorf("after %s: client %d asks for %s (IPv6: %v): the node answers\n%q, a fresh start\n%q", event, client, name, v6,
						answered["the node"], answered["a fresh start"])
				}
			}
		}
	}
}

// situation is what the reference and the node believe about a name.
func (h *chronicle) situation(name string, client int) string {
	d, served := h.model.joined()[name]
	text := fmt.Sprintf("the reference: served %v, %+v, client in %q\n", served, d, h.model.clientRegion(client))
	for _, c := range h.model.candidates(name) {
		text += fmt.Sprintf("  %+v\n", c)
	}
	text += "the node:\n"
	for _, b := range h.node.registry.View().Service(name) {
		text += fmt.Sprintf("  %s:%d may serve %v, %s, share %v, weight %d, region %s\n", b.Address, b.Port, b.MayServe, b.Reason, b.Share, b.Weight, b.Region)
	}
	return text
}

// fresh is the view of a publisher that begins with what is known now.
func (h *chronicle) fresh() *zone.View {
	h.t.Helper()
	addresses, err := publish.NodeAddresses(h.node.dns.Addrs())
	h.must(err)
	settings, err := h.node.settings(h.node.inForce.Load().config, addresses)
	h.must(err)
	p, err := publish.New(publish.Options{Settings: settings, Backends: h.node.registry.View(), Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()})
	h.must(err)
	return p.View()
}

// mostQuestions bounds how often one thing is asked; the shares hold after any number of answers.
const mostQuestions = 12

// ask asks as often as a cycle of answers is long, up to mostQuestions, and says what is answered, and what of it is wrong.
func ask(view *zone.View, name string, v6 bool, client int, want expected) (answers []string, wrong string) {
	sum := 0
	for _, parts := range want.addresses {
		sum += parts
	}
	qtype := dns.TypeA
	if v6 {
		qtype = dns.TypeAAAA
	}
	turns, leads := zone.NewTurns(1, 1), map[netip.Addr]int{}
	for n := 1; n <= min(max(sum, 1), mostQuestions); n++ {
		r := view.Resolve(dns.Fqdn(name), qtype, false, clientAddress(client), turns)
		kind := map[zone.Kind]string{zone.Positive: "positive", zone.NoData: "no data", zone.NXDomain: "NXDOMAIN", zone.Refused: "REFUSED", zone.Failed: "SERVFAIL"}[r.Kind]
		addresses, ttl := addressesOf(&dns.Msg{Answer: r.Answer})
		if kind != want.kind {
			return answers, fmt.Sprintf("%s %v, want %s %v", kind, addresses, want.kind, want.addresses)
		}
		if kind != "positive" {
			return []string{kind}, ""
		}
		if int(ttl) != want.ttl {
			return answers, fmt.Sprintf("TTL %d, want %d", ttl, want.ttl)
		}
		if wrong := badAddresses(addresses, want); wrong != "" {
			return answers, wrong
		}
		answers = append(answers, addresses[0].String())
		leads[addresses[0]]++
		if want.hashed && len(leads) > 1 {
			return answers, fmt.Sprintf("%v, want always the same", leads)
		}
		for address, parts := range want.addresses {
			if off := leads[address]*sum - n*parts; !want.hashed && (off > sum || off < -sum) { // no more than one answer off its share
				return answers, fmt.Sprintf("after %d answers %s led %d, its share is %d of %d of %v", n, address, leads[address], parts, sum, want.addresses)
			}
		}
	}
	return answers, ""
}

// badAddresses says what is wrong with the addresses of one answer.
func badAddresses(addresses []netip.Addr, want expected) string {
	sorted := slices.Clone(addresses)
	slices.SortFunc(sorted, netip.Addr.Compare)
	if len(slices.Compact(sorted)) != want.size {
		return fmt.Sprintf("%v, want %d of %v", addresses, want.size, want.addresses)
	}
	for _, address := range addresses {
		if want.addresses[address] == 0 {
			return fmt.Sprintf("%v, want only of %v", addresses, want.addresses)
		}
	}
	return ""
}
