package overwatch // inside: it shares model_history_test.go

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
)

// historyZones lists the possible zones.
var historyZones = []string{"gslb.test.", "shop.example.com."}

// names returns the names of a zone with the types of each: its apex, the node's own name, and the load-balanced names.
// The load-balanced names have the types of both families for any health. It returns nil if the zone does not exist.
func (m *reference) names(apex string) map[string][]uint16 {
	domains := m.served
	if _, made := domains[strings.TrimSuffix(apex, ".")]; !made && apex != historyZones[0] {
		return nil
	}
	types := map[string][]uint16{apex: {dns.TypeSOA, dns.TypeNS, dns.TypeDNSKEY, dns.TypeCDS, dns.TypeCDNSKEY},
		"ns1." + apex: {dns.TypeA}}
	for name := range domains {
		if name = dns.Fqdn(name); dns.IsSubDomain(apex, name) {
			types[name] = append(types[name], dns.TypeA, dns.TypeAAAA)
		}
	}
	for name := range types {
		types[name] = append(types[name], dns.TypeRRSIG, dns.TypeNSEC)
		slices.Sort(types[name])
	}
	return types
}

// proved describes an error in an answer with signatures, or returns "" if the answer is correct.
func (h *chronicle) proved(view *zone.View, name string, v6 bool, client int, want expected) string {
	qtype := dns.TypeA
	if v6 {
		qtype = dns.TypeAAAA
	}
	if want.kind == "REFUSED" || want.kind == "SERVFAIL" {
		return ""
	}
	r := view.Resolve(dns.Fqdn(name), qtype, true, clientAddress(client), zone.NewRotations(1, 1))
	kind := map[zone.Kind]string{zone.Positive: "positive", zone.NoData: "no data", zone.NXDomain: "NXDOMAIN"}[r.Kind]
	if kind != want.kind {
		return fmt.Sprintf("%s, want %s", kind, want.kind)
	}
	apex := historyZones[0]
	if !dns.IsSubDomain(apex, dns.Fqdn(name)) {
		apex = historyZones[1]
	}
	if wrong := h.allSigned(view, apex, slices.Concat(r.Answer, r.Authority)); wrong != "" {
		return wrong
	}
	return denied(dns.Fqdn(name), apex, qtype, kind, h.model.names(apex), r.Authority)
}

// allSigned finds an RRset without a valid signature by a key of the zone.
func (h *chronicle) allSigned(view *zone.View, apex string, records []dns.RR) string {
	type set struct {
		name  string
		rtype uint16
	}
	sets, signatures := map[set][]dns.RR{}, map[set][]*dns.RRSIG{}
	for _, rr := range records {
		name := strings.ToLower(rr.Header().Name)
		if sig, is := rr.(*dns.RRSIG); is {
			of := set{name, sig.TypeCovered}
			signatures[of] = append(signatures[of], sig)
		} else {
			of := set{name, rr.Header().Rrtype}
			sets[of] = append(sets[of], rr)
		}
	}
	keys := view.Resolve(apex, dns.TypeDNSKEY, false, clientAddress(0), zone.NewRotations(1, 1)).Answer
	for of, records := range sets {
		if !slices.ContainsFunc(signatures[of], func(sig *dns.RRSIG) bool { return h.covers(sig, records, keys) }) {
			return fmt.Sprintf("no valid signature of %s %s among %v", of.name, dns.TypeToString[of.rtype], signatures[of])
		}
		if records[0].Header().Ttl > signatures[of][0].OrigTtl {
			return fmt.Sprintf("the TTL of %v is above that of its signature", records[0])
		}
	}
	return ""
}

// covers verifies a signature once.
func (h *chronicle) covers(sig *dns.RRSIG, records, keys []dns.RR) bool {
	if !sig.ValidityPeriod(time.Now()) {
		return false
	}
	var texts []string
	for _, rr := range records {
		rr = dns.Copy(rr)
		rr.Header().Ttl = 0
		texts = append(texts, rr.String())
	}
	slices.Sort(texts)
	known := sig.Signature + strings.Join(texts, "\n")
	if !h.valid[known] {
		h.valid[known] = slices.ContainsFunc(keys, func(rr dns.RR) bool {
			key, is := rr.(*dns.DNSKEY)
			return is && key.KeyTag() == sig.KeyTag && sig.Verify(key, records) == nil
		})
	}
	return h.valid[known]
}

// denied describes a missing proof in a negative or wildcard answer (RFC 4035 section 3.1.3, RFC 5155 section 7.2).
func denied(name, apex string, qtype uint16, kind string, names map[string][]uint16, authority []dns.RR) string {
	_, exists := names[name]
	wildcard := "*." + name[strings.IndexByte(name, '.')+1:]
	matches := func(name string) (types []uint16, matches bool) {
		for _, rr := range authority {
			switch n := rr.(type) {
			case *dns.NSEC:
				if strings.EqualFold(n.Hdr.Name, name) {
					return n.TypeBitMap, true
				}
			case *dns.NSEC3:
				if n.Match(name) {
					return n.TypeBitMap, true
				}
			}
		}
		return nil, false
	}
	covered := func(name string) bool {
		return slices.ContainsFunc(authority, func(rr dns.RR) bool {
			switch n := rr.(type) {
			case *dns.NSEC:
				return covers(n.Hdr.Name, n.NextDomain, name)
			case *dns.NSEC3:
				return n.Cover(name)
			}
			return false
		})
	}
	// The absence of the name below the closest encloser must be proved.
	closer := name
	for parent := name[strings.IndexByte(name, '.')+1:]; parent != apex &&
		!above(names, parent); parent = parent[strings.IndexByte(parent, '.')+1:] {
		closer = parent
	}
	if hashed := slices.ContainsFunc(authority,
		func(rr dns.RR) bool { return rr.Header().Rrtype == dns.TypeNSEC3 }); !hashed {
		closer = name
	}
	owner := name
	if !exists {
		if owner = wildcard; kind != "NXDOMAIN" && !covered(closer) {
			return fmt.Sprintf("nothing proves that there is no %s: %v", closer, authority)
		}
	}
	switch kind {
	case "no data":
		types, found := matches(owner)
		other := dns.TypeA + dns.TypeAAAA - qtype
		if !found || slices.Contains(types, qtype) || !slices.Contains(types, other) {
			return fmt.Sprintf("types of %s: %v, want all but %s: %v", owner, types, dns.TypeToString[qtype], authority)
		}
	case "NXDOMAIN":
		star := "*." + closer[strings.IndexByte(closer, '.')+1:]
		if !covered(closer) {
			return fmt.Sprintf("nothing proves that there is no %s: %v", closer, authority)
		}
		if !covered(star) && !coversBelow(authority, name) {
			return fmt.Sprintf("nothing proves that there is no %s: %v", star, authority)
		}
	}
	return ""
}

// coversBelow reports whether a record denies the wildcard of any upper name.
func coversBelow(authority []dns.RR, name string) bool {
	for parent := name; strings.Contains(strings.TrimSuffix(parent, "."), "."); {
		parent = parent[strings.IndexByte(parent, '.')+1:]
		for _, rr := range authority {
			if n, is := rr.(*dns.NSEC); is && covers(n.Hdr.Name, n.NextDomain, "*."+parent) {
				return true
			}
		}
	}
	return false
}

// above reports whether a name exists, possibly as an empty non-terminal.
func above(names map[string][]uint16, name string) bool {
	for known := range names {
		if dns.IsSubDomain(name, known) {
			return true
		}
	}
	return false
}

// covers reports whether a name is between two names in canonical order (RFC 4034 section 6.1). The second name may be
// the apex.
func covers(from, to, name string) bool {
	return before(from, name) && (before(name, to) || before(to, from) || to == from)
}

func before(a, b string) bool {
	labels := func(name string) []string {
		list := dns.SplitDomainName(strings.ToLower(name))
		slices.Reverse(list)
		return list
	}
	return slices.Compare(labels(a), labels(b)) < 0
}

// chainSeen is the previous state of a zone.
type chainSeen struct {
	names  string
	serial uint32
}

// compareChains checks that the chain of each zone contains exactly its names. A zone with changed names has a higher
// serial. No zone has a lower serial.
func (h *chronicle) compareChains(event string, view *zone.View) {
	h.t.Helper()
	for _, apex := range historyZones {
		want := h.model.names(apex)
		if want == nil {
			continue
		}
		turns, text := zone.NewRotations(1, 1), fmt.Sprint(want)
		soa := view.Resolve(apex, dns.TypeSOA, true, clientAddress(0), turns).Answer
		if wrong := h.allSigned(view, apex, soa); wrong != "" || len(soa) == 0 {
			h.t.Errorf("after %s: SOA of %s: %v %s", event, apex, soa, wrong)
			return
		}
		now := chainSeen{text, soa[0].(*dns.SOA).Serial}
		if last, known := h.chains[apex]; known && (now.serial < last.serial || now.names != last.names &&
			now.serial == last.serial) {
			h.t.Errorf("after %s: %s went from %+v to %+v", event, apex, last, now)
		}
		h.chains[apex] = now
		if h.model.file.hashed {
			continue
		}
		got := map[string][]uint16{}
		for name := apex; len(got) <= len(want); {
			r := view.Resolve(name, dns.TypeNSEC, true, clientAddress(0), turns)
			if len(r.Answer) == 0 {
				h.t.Errorf("after %s: %s has no NSEC record; so far %v", event, name, got)
				return
			}
			if wrong := h.allSigned(view, apex, r.Answer); wrong != "" {
				h.t.Errorf("after %s: %s", event, wrong)
			}
			nsec := r.Answer[0].(*dns.NSEC)
			got[name] = nsec.TypeBitMap
			if name = nsec.NextDomain; name == apex {
				break
			}
		}
		if fmt.Sprint(got) != text {
			h.t.Errorf("after %s: the chain of %s has\n%v, want\n%v", event, apex, got, want)
		}
	}
}
