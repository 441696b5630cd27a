package zone // inside: it uses canonicalName and noData

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

func itoa(n int) string { return strconv.Itoa(n) }

// askSigned sends a query with DO. It returns the answer of Append.
func askSigned(t testing.TB, v *View, name string, rtype uint16, turns, oracleTurns *Rotations) Resolution {
	t.Helper()
	msg, q := question(t, name, rtype)
	q.DO = true
	got, answer := v.Append(msg, q, turns)
	r := v.oracle(name, rtype, true, netip.Addr{}, oracleTurns)
	if r.Kind == Failed {
		if answer.Kind != Failed || len(got) != len(msg) {
			t.Errorf("%s %s: Append gives %+v, the oracle fails", name, dns.Type(rtype), answer)
		}
		return Resolution{Kind: Failed}
	}
	want, err := r.AppendTo(slices.Clone(msg))
	if err != nil {
		t.Fatal(err)
	}
	if answer.Kind != r.Kind || int(answer.Answers) != len(r.Answer) || int(answer.Authority) != len(r.Authority) ||
		!bytes.Equal(got, want) {
		t.Errorf("%s %s: Append gives %+v\n%x\nthe oracle %v\n%x", name, dns.Type(rtype), answer, got, r, want)
	}
	got = slices.Clone(got)
	binary.BigEndian.PutUint16(got[6:], uint16(len(r.Answer)))
	binary.BigEndian.PutUint16(got[8:], uint16(len(r.Authority)))
	var back dns.Msg
	if err := back.Unpack(got); err != nil {
		t.Fatalf("%s %s: the answer cannot be read: %v", name, dns.Type(rtype), err)
	}
	return Resolution{Kind: r.Kind, Answer: back.Answer, Authority: back.Ns}
}

// validate validates an answer like a validating resolver, with the keys of the zones (RFC 4035 section 5, RFC 5155
// section 8).
func validate(name string, rtype uint16, r Resolution, keys map[string]*dns.DNSKEY) error {
	if r.Kind == Failed || r.Kind == Refused {
		return fmt.Errorf("no answer")
	}
	for _, section := range [][]dns.RR{r.Answer, r.Authority} {
		if err := validateSection(section, keys); err != nil {
			return err
		}
	}
	final := name
	for range r.Answer { // to the end of the aliases
		for _, rr := range r.Answer {
			if alias, ok := rr.(*dns.CNAME); ok && strings.EqualFold(alias.Hdr.Name, final) && rtype != dns.TypeCNAME &&
				rtype != dns.TypeANY {
				final = alias.Target
			}
		}
	}
	p := proofsOf(r.Authority)
	for _, rr := range r.Answer {
		if sig, ok := rr.(*dns.RRSIG); ok && int(sig.Labels) < dns.CountLabel(sig.Hdr.Name) &&
			!strings.HasPrefix(sig.Hdr.Name, "*.") {
			if !p.covers(closer(sig.Hdr.Name, int(sig.Labels)+1)) {
				return fmt.Errorf(
					"%s was expanded from a wildcard, without a proof that it is not there itself",
					sig.Hdr.Name,
				)
			}
		}
	}
	switch r.Kind {
	case NXDomain:
		return p.nameError(final)
	case NoData:
		return p.noData(final, rtype)
	}
	return nil
}

// closer returns the ancestor of a name with the given number of labels.
func closer(name string, labels int) string {
	at := dns.Split(name)
	return name[at[len(at)-labels]:]
}

func validateSection(section []dns.RR, keys map[string]*dns.DNSKEY) error {
	type owned struct {
		name  string
		rtype uint16
	}
	sets, signatures := make(map[owned][]dns.RR), make(map[owned][]*dns.RRSIG)
	for _, rr := range section {
		if sig, ok := rr.(*dns.RRSIG); ok {
			at := owned{strings.ToLower(sig.Hdr.Name), sig.TypeCovered}
			signatures[at] = append(signatures[at], sig)
			continue
		}
		at := owned{strings.ToLower(rr.Header().Name), rr.Header().Rrtype}
		sets[at] = append(sets[at], rr)
	}
	for at := range signatures {
		if sets[at] == nil {
			return fmt.Errorf("a signature covers no record: %v", at)
		}
	}
	for at, set := range sets {
		if len(signatures[at]) != 1 {
			return fmt.Errorf("%v has %d signatures", at, len(signatures[at]))
		}
		sig := signatures[at][0]
		key := keys[sig.SignerName]
		switch {
		case key == nil:
			return fmt.Errorf("%v is signed by %s", at, sig.SignerName)
		case sig.Hdr.Ttl != set[0].Header().Ttl || sig.OrigTtl < sig.Hdr.Ttl:
			return fmt.Errorf(
				"%v: TTL %d, signature %d, originally %d",
				at,
				set[0].Header().Ttl,
				sig.Hdr.Ttl,
				sig.OrigTtl,
			)
		case !sig.ValidityPeriod(time.Now()):
			return fmt.Errorf("%v: not valid now", at)
		case (at.rtype == dns.TypeNSEC || at.rtype == dns.TypeNSEC3) && len(set) != 1:
			return fmt.Errorf("%v: %d records", at, len(set))
		}
		if err := sig.Verify(key, set); err != nil {
			return fmt.Errorf("%v: %w", at, err)
		}
	}
	return nil
}

// given is the denial in an answer.
type given struct {
	nsec  []*dns.NSEC
	nsec3 []*dns.NSEC3
}

func proofsOf(authority []dns.RR) (g given) {
	for _, rr := range authority {
		switch rr := rr.(type) {
		case *dns.NSEC:
			g.nsec = append(g.nsec, rr)
		case *dns.NSEC3:
			g.nsec3 = append(g.nsec3, rr)
		}
	}
	return g
}

// canonicalCompare orders names label by label from the root, independently of appendKey.
func canonicalCompare(a, b string) int {
	labels := func(name string) []string {
		wire, _ := canonicalName(name)
		var out []string
		for ; len(wire) > 1; wire = wire.parent() {
			out = append(out, string(wire[1:1+wire[0]]))
		}
		slices.Reverse(out)
		return out
	}
	return slices.Compare(labels(a), labels(b))
}

// covers reports whether the denial proves that the name does not exist.
func (g given) covers(name string) bool {
	for _, n := range g.nsec {
		after, before := canonicalCompare(n.Hdr.Name, name) < 0, canonicalCompare(name, n.NextDomain) < 0
		if last := canonicalCompare(n.NextDomain, n.Hdr.Name) <= 0; after && (before || last) {
			return true
		}
	}
	return slices.ContainsFunc(g.nsec3, func(n *dns.NSEC3) bool { return n.Cover(name) })
}

// types returns the types that the denial lists for a name, and whether the denial has an entry for the name.
func (g given) types(name string) ([]uint16, bool) {
	for _, n := range g.nsec {
		if strings.EqualFold(n.Hdr.Name, name) {
			return n.TypeBitMap, true
		}
	}
	for _, n := range g.nsec3 {
		if n.Match(name) {
			return n.TypeBitMap, true
		}
	}
	return nil, false
}

// encloser finds the closest encloser that the denial proves, and its child on the path to the name.
func (g given) encloser(name string) (encloser, next string, ok bool) {
	for labels := dns.CountLabel(name) - 1; labels > 0; labels-- {
		encloser, next = closer(name, labels), closer(name, labels+1)
		if len(g.nsec3) > 0 {
			if _, there := g.types(encloser); there {
				return encloser, next, g.covers(next)
			}
			continue
		}
		for _, n := range g.nsec {
			if dns.IsSubDomain(encloser, n.Hdr.Name) || dns.IsSubDomain(encloser, n.NextDomain) {
				return encloser, next, g.covers(name)
			}
		}
	}
	return "", "", false
}

func (g given) nameError(name string) error {
	encloser, _, ok := g.encloser(name)
	if !ok || !g.covers("*."+encloser) {
		return fmt.Errorf("it is not proved that %s does not exist", name)
	}
	return nil
}

func (g given) noData(name string, rtype uint16) error {
	types, ok := g.types(name)
	if !ok { // an empty non-terminal of NSEC, or a wildcard
		for _, n := range g.nsec {
			if g.covers(name) && dns.IsSubDomain(name, n.NextDomain) {
				return nil
			}
		}
		encloser, _, proved := g.encloser(name)
		if types, ok = g.types("*." + encloser); !ok || !proved {
			return fmt.Errorf("it is not proved that %s has no %s", name, dns.Type(rtype))
		}
	}
	if slices.Contains(types, rtype) || slices.Contains(types, dns.TypeCNAME) {
		return fmt.Errorf("%s has the types %v, says the proof", name, types)
	}
	return nil
}
