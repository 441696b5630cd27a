package overwatch // inside: it uses answer and node

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// The seed of each history is the seed of the previous history plus one.
var (
	manyHistories = flag.Int("histories", 0, "number of random histories; 0: 4, or 1 with -short or -seed")
	manyEvents    = flag.Int("events", 100, "number of events in a history")
)

// A node plays random histories of agent reports, checks, admin states, drains, silent agents, API objects and reloads.
// After each event, the answers for every name, family and client equal the answers of a new publisher with the same
// data and the results of the reference, including TTL and shares.
func TestAnswers_AreTheModelsAndThoseOfAFreshStart(t *testing.T) {
	histories, first := 4, cmp.Or(*firstSeed, 1)
	if testing.Short() || *firstSeed != 0 { // -short is for the race detector; a run without -short plays all histories
		histories = 1
	}
	histories = cmp.Or(*manyHistories, histories)
	events, seen := *manyEvents, map[string]int{}
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
						t.Fatalf("-seed=%d repeats it; history:\n%s", seed, h)
					}
				}
			})
		})
	}
	if histories < 4 {
		return
	}
	for _, kind := range []string{"positive", "no data", "NXDOMAIN", "REFUSED", "SERVFAIL", "last resort", "suspended",
		"drained", "warned", "slower"} {
		if seen[kind] == 0 {
			t.Errorf("no history led to %q: the events are too tame (%v)", kind, seen)
		}
	}
}

// compare queries all names for all clients. With anew, it also queries a new publisher.
func (h *chronicle) compare(event string, anew bool, seen map[string]int) {
	h.t.Helper()
	if h.model.suspended {
		seen["suspended"]++
	}
	views := map[string]*zone.View{"the node": h.node.publisher.View()}
	if anew {
		views["a fresh start"] = h.fresh()
	}
	for _, domain := range historyNames {
		name := asked(domain)
		domain := h.model.domainOf(name)
		candidates := h.model.candidates(domain)
		for _, c := range candidates {
			if c.fit && !c.serves() {
				seen["drained"]++
			}
			if h.model.warned(c.id) {
				seen["warned"]++
			}
		}
		for _, v6 := range []bool{false, true} {
			for number := range historyClients {
				client := h.model.client(number, domain)
				want := h.model.answer(domain, candidates, v6, client)
				seen[want.kind]++
				if want.lastResort && len(want.addresses) > 0 {
					seen["last resort"]++
				}
				if len(want.slow) > 0 {
					seen["slower"]++
				}
				answered := map[string][]string{}
				for who, view := range views {
					var wrong string
					if answered[who], wrong = ask(view, name, v6, number, want); wrong != "" && !h.t.Failed() {
						h.t.Errorf("after %s: client %d asks for %s (IPv6: %v): %s: %s\n%s", event, number, name, v6, who, wrong,
							h.situation(domain, number))
					}
				}
				if anew && !slices.Equal(answered["the node"], answered["a fresh start"]) {
					h.t.Errorf("after %s: client %d asks for %s (IPv6: %v): the node answers\n%q, a fresh start\n%q", event, number,
						name, v6,
						answered["the node"], answered["a fresh start"])
				}
				if wrong := explained(views["the node"], name, v6, number, client, want); wrong != "" && !h.t.Failed() {
					h.t.Errorf("after %s: why client %d is answered what for %s (IPv6: %v): %s\n%s", event, number, name, v6, wrong,
						h.situation(domain, number))
				}
				if h.signed {
					if wrong := h.proved(views["the node"], name, v6, number, want); wrong != "" && !h.t.Failed() {
						h.t.Errorf("after %s: client %d asks for %s (IPv6: %v), signed: %s\n%s", event, number, name, v6, wrong,
							h.situation(domain, number))
					}
				}
			}
		}
	}
	if h.signed && anew {
		h.compareChains(event, views["the node"])
	}
}

// situation describes a name for an error message: the state in the reference and in the node.
func (h *chronicle) situation(name string, client int) string {
	d, served := h.model.served[name]
	at := h.model.client(client, name)
	text := fmt.Sprintf("the reference: served %v, %+v, client in %q at %v\n", served, d, at.region, at.at)
	for _, c := range h.model.candidates(name) {
		text += fmt.Sprintf("  %+v", c)
		if known := h.model.measured[c.id]; known != nil {
			text += fmt.Sprintf(" measured %+v", *known)
		}
		text += "\n"
	}
	for _, r := range h.model.regions {
		text += fmt.Sprintf("  %+v at %v\n", r, r.at)
	}
	text += "the node:\n"
	latencies := h.node.publisher.Latencies()
	for _, b := range h.node.registry.View().Service(name) {
		text += fmt.Sprintf("  %s:%d may serve %v, %s, share %v, weight %d, region %s, last healthy %v, %+v\n", b.Address,
			b.Port, b.MayServe, b.Reason, b.Share, b.Weight, b.Region,
			b.LastHealthyAt, latencies[b.ID])
	}
	return text
}

// fresh returns the view of a new publisher with the current data.
func (h *chronicle) fresh() *zone.View {
	h.t.Helper()
	addresses, err := publish.NodeAddresses(h.node.dns.Addrs())
	h.must(err)
	settings, err := h.node.state.Settings(h.node.state.Config(), addresses)
	h.must(err)
	p, err := publish.New(publish.Options{Settings: settings, Backends: h.node.registry.View(), Signing: h.node.zones,
		Latencies: h.node.publisher.Latencies(), Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()})
	h.must(err)
	return p.View()
}

// mostQuestions is the maximum number of equal queries. The shares are correct after any number of answers.
const mostQuestions = 12

// ask sends a query once for each position of the rotation, at most mostQuestions times. It returns the answers and a
// description of the first error.
func ask(view *zone.View, name string, v6 bool, client int, want expected) (answers []string, wrong string) {
	sum := 0
	for _, parts := range want.addresses {
		sum += parts
	}
	qtype := dns.TypeA
	if v6 {
		qtype = dns.TypeAAAA
	}
	turns, leads := zone.NewRotations(1, 1), map[netip.Addr]int{}
	for n := 1; n <= min(max(sum, 1), mostQuestions); n++ {
		r := view.Resolve(dns.Fqdn(name), qtype, false, clientAddress(client), turns)
		kind := map[zone.Kind]string{zone.Positive: "positive", zone.NoData: "no data", zone.NXDomain: "NXDOMAIN",
			zone.Refused: "REFUSED", zone.Failed: "SERVFAIL"}[r.Kind]
		addresses, ttl := addressesOf(&dns.Msg{Answer: r.Answer})
		if kind != want.kind {
			return answers, fmt.Sprintf("%s %v, want %s %v", kind, addresses, want.kind, want.addresses)
		}
		if kind != "positive" {
			return []string{kind}, ""
		}
		if wrong := badScope(r.Scope, want); wrong != "" {
			return answers, wrong
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
			// differs by at most one answer from its share
			if off := leads[address]*sum - n*parts; !want.hashed && (off > sum || off < -sum) {
				return answers, fmt.Sprintf("after %d answers %s led %d, its share is %d of %d of %v", n, address, leads[address],
					parts, sum, want.addresses)
			}
		}
	}
	return answers, ""
}

// badAddresses describes an error in the addresses of an answer, or returns "" if they are correct.
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

// badScope describes an error in the scope of an answer (docs/routing.md), or returns "" if it is correct. The scope
// must be 0 if the policy does not use the client.
func badScope(scope uint8, want expected) string {
	if !want.placed && !want.hashed && scope != 0 {
		return fmt.Sprintf("scope %d, and the client makes no difference", scope)
	}
	if want.hashed && scope < 24 {
		return fmt.Sprintf("scope %d, and clients are told apart by 24 bits", scope)
	}
	return ""
}

// explained compares the node's explanation of an answer with the expected answer.
func explained(view *zone.View, name string, v6 bool, number int, client refClient, want expected) string {
	family := policy.IPv4
	if v6 {
		family = policy.IPv6
	}
	e, err := explain.Explain(view, explain.Query{Name: name, Family: family, Client: clientAddress(number)})
	if err != nil {
		return err.Error()
	}
	outcomes := map[string][]policy.Outcome{
		"positive": {policy.Success, policy.FailedOver}, "no data": {policy.NoData}, "SERVFAIL": {policy.NoHealthyBackend},
		"NXDOMAIN": {explain.DomainNotFound}, "REFUSED": {explain.DomainNotFound},
	}[want.kind]
	if want.lastResort && want.kind == "positive" {
		outcomes = []policy.Outcome{policy.Fallback}
	}
	if !slices.Contains(outcomes, e.Outcome) {
		return fmt.Sprintf("outcome %s, want one of %v", e.Outcome, outcomes)
	}
	if want.placed && e.Region != client.region {
		return fmt.Sprintf("client in %q, want %q", e.Region, client.region)
	}
	if len(e.Decision.Members) != len(want.addresses) {
		return fmt.Sprintf("%v answer, want %v", e.Decision.Members, want.addresses)
	}
	sum := 0
	for _, parts := range want.addresses {
		sum += parts
	}
	for address, parts := range want.addresses {
		due := float64(parts) / float64(sum)
		if share := shareOf(e.Decision.Members, address); math.Abs(share-due) > 1e-9 {
			return fmt.Sprintf("%s has %.3f, want %.3f: %v", address, share, due, e.Decision.Members)
		}
	}
	return ""
}
