package zone // inside: it shares view_test.go

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/policy"
)

// hintType returns the type of HTTPS records (RFC 9460) with one address each: "1 . ipv4hint=ADDRESS".
func hintType() *Type {
	return &Type{
		Number: dns.TypeHTTPS, Family: policy.IPv4, Length: 11,
		Data: func(to []byte, due policy.Member) []byte {
			octets := due.Address.As4()
			return append(append(to, 0, 1, 0, 0, 4, 0, 4), octets[:]...)
		},
	}
}

// hinted returns the contents of a zone with two names: app has HTTPS records in addition to its addresses, and plain
// has only addresses.
func hinted(t *testing.T) Contents {
	t.Helper()
	c := contents(t, "gslb.test.", "@ NS ns.example.", "steer app", "steer plain", "plain HTTPS 1 . alpn=h2")
	c.Types = map[string][]*Type{"app.gslb.test.": append(slices.Clone(AddressTypes), hintType())}
	return c
}

// askBoth returns the sections of the answer of Append, and checks that its octets equal those of the oracle.
func askBoth(t *testing.T, v *View, name string, rtype uint16) *dns.Msg {
	t.Helper()
	msg, q := question(t, name, rtype)
	q.DO = true
	resolved := v.oracle(name, rtype, true, netip.Addr{}, NewRotations(1, 1))
	long, err := resolved.AppendTo(slices.Clone(msg))
	short, answer := v.Append(msg, q, NewRotations(1, 1))
	if err != nil || answer.Kind != resolved.Kind || string(long) != string(short) {
		t.Fatalf("%s: %v %x, the oracle %v %x %v", name, answer.Kind, short, resolved.Kind, long, err)
	}
	short[7], short[9] = byte(answer.Answers), byte(answer.Authority)
	m := new(dns.Msg)
	if err := m.Unpack(short); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestType_ANameIsSteeredWithRecordsOfAnotherType(t *testing.T) {
	v := newView(t, nil, hinted(t))
	w := NewWriter()
	steer(t, w, v, "app.gslb.test.", "10.0.0.1 10.0.0.2", 2)
	steer(t, w, v, "plain.gslb.test.", "10.0.0.1", 1)
	seen := map[string]bool{}
	for _, rr := range askBoth(t, v, "app.gslb.test.", dns.TypeHTTPS).Answer {
		seen[strings.ReplaceAll(rr.String(), "\t", " ")] = true
	}
	for _, want := range []string{
		`app.gslb.test. 60 IN HTTPS 1 . ipv4hint="10.0.0.1"`,
		`app.gslb.test. 60 IN HTTPS 1 . ipv4hint="10.0.0.2"`,
	} {
		if !seen[want] || len(seen) != 2 {
			t.Errorf("answers %v, want %s among them", seen, want)
		}
	}
	if m := askBoth(t, v, "app.gslb.test.", dns.TypeA); len(m.Answer) != 2 {
		t.Errorf("addresses %v, want 2", m.Answer)
	}
	if m := askBoth(t, v, "plain.gslb.test.", dns.TypeHTTPS); len(m.Answer) != 1 ||
		!strings.Contains(m.Answer[0].String(), "alpn") {
		t.Errorf("a name that is not steered with the type answers %v, want the record of its zone", m.Answer)
	}
}

// The denials of a signed zone contain the type only for names with the type, and only while such a record exists.
func TestType_IsDeniedWhileThereIsNoRecord(t *testing.T) {
	for how, denial := range denials {
		c := hinted(t)
		c.Signer, c.Denial = newTestSigner(t, "gslb.test."), denial
		v := newView(t, nil, c)
		w := NewWriter()
		steer(t, w, v, "app.gslb.test.", "2001:db8::1", 1)
		for rtype, says := range map[uint16]bool{dns.TypeTXT: true, dns.TypeHTTPS: false} {
			m := askBoth(t, v, "app.gslb.test.", rtype)
			if types := typesDenied(m); slices.Contains(types, dns.TypeHTTPS) != says ||
				!slices.Contains(types, dns.TypeAAAA) || !slices.IsSorted(types) {
				t.Errorf("%s: the proof for type %d says the types %v", how, rtype, types)
			}
		}
		if steer(t, w, v, "app.gslb.test.", "10.0.0.1", 1); len(askBoth(t, v, "app.gslb.test.", dns.TypeHTTPS).Answer) != 2 {
			t.Errorf("%s: want a record and its signature", how)
		}
	}
}

// typesDenied returns the types in the first denial record.
func typesDenied(m *dns.Msg) []uint16 {
	for _, rr := range m.Ns {
		switch rr := rr.(type) {
		case *dns.NSEC:
			return rr.TypeBitMap
		case *dns.NSEC3:
			return rr.TypeBitMap
		}
	}
	return nil
}

// A name whose types change has no answers until its next decision, and frees the rotation indexes of the previous
// types.
func TestNew_ARenewedNameMayHaveOtherTypes(t *testing.T) {
	c := contents(t, "gslb.test.", "@ NS ns.example.", "steer app", "steer plain")
	v := newView(t, nil, c)
	w := NewWriter()
	steer(t, w, v, "app.gslb.test.", "10.0.0.1 10.0.0.2", 1)
	for i := range 20 {
		types := hinted(t).Types
		if i%2 == 1 {
			types = nil
		}
		c.Types, c.Unshared = types, []string{"app.gslb.test."}
		next := newView(t, v, c)
		if r := next.Resolve("app.gslb.test.", dns.TypeA, false, netip.Addr{}, NewRotations(1, 1)); r.Kind != Failed {
			t.Fatalf("before it is decided again the name answers %v", r)
		}
		steer(t, w, next, "app.gslb.test.", "10.0.0.1 10.0.0.2", 1)
		next.ReleasePrevious()
		v = next
	}
	if n := len(v.rotations.isSpare); n > 8 {
		t.Errorf("%d turns are taken by two names", n)
	}
}
