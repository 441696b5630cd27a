package zone // inside: it uses fixedPart

import (
	"slices"
	"testing"

	"github.com/miekg/dns"
)

func TestAppend_AllocatesNothing(t *testing.T) {
	v := sample(t)
	turns := NewRotations(1, 1)
	room := make([]byte, 0, 4096)
	for _, name := range []string{"app.gslb.test.", "big.gslb.test.", "nx.gslb.test.", "x.wild.gslb.test.",
		"www.example.org.", "down.gslb.test.", "cdn.gslb.test.", "x.cdns.gslb.test.", "www.gslb.test.", "dead.gslb.test.",
		"tocdn.gslb.test.", "nearcdn.gslb.test.", "loop1.gslb.test.", "y.w.gslb.test."} {
		msg, q := question(t, name, dns.TypeA)
		msg = append(room, msg...)
		if n := testing.AllocsPerRun(100, func() { v.Append(msg, q, turns) }); n != 0 {
			t.Errorf("%s: %.0f allocations", name, n)
		}
	}
}

func TestAppend_AllocatesNothingForSignedAnswers(t *testing.T) {
	for name, denial := range denials {
		v, _ := signedSample(t, denial)
		turns := NewRotations(1, 1)
		room := make([]byte, 0, 1<<16)
		for _, asked := range []string{"app.gslb.test.", "dual.gslb.test.", "big.gslb.test.", "nx.gslb.test.",
			"x.wild.gslb.test.", "gslb.test.", "v6.gslb.test.", "ent.gslb.test.", "cdn.gslb.test.",
			"x.cdns.gslb.test.", "www.gslb.test.", "dead.gslb.test.", "no6.gslb.test.", "y.w.gslb.test.",
			"nearcdn.gslb.test."} {
			msg, q := question(t, asked, dns.TypeA)
			q.DO = true
			msg = append(room, msg...)
			for range 20 {
				v.Append(msg, q, turns) // makes the signatures
			}
			if n := testing.AllocsPerRun(100, func() { v.Append(msg, q, turns) }); n != 0 {
				t.Errorf("%s, %s: %.0f allocations", name, asked, n)
			}
		}
	}
}

func TestAppend_ASignedAnswerIsWholeOrNotThere(t *testing.T) {
	v, _ := signedSample(t, NSEC3)
	for _, name := range []string{"app.gslb.test.", "nx.gslb.test.", "x.wild.gslb.test.", "x.static.gslb.test.",
		"gslb.test.", "cdn.gslb.test.", "dead.gslb.test.", "x.w.gslb.test.", "tocdn.gslb.test."} {
		msg, q := question(t, name, dns.TypeMX)
		q.DO = true
		whole, want := v.Append(msg, q, NewRotations(1, 1))
		for room := range len(whole) - len(msg) {
			got, answer := v.Append(
				append(make([]byte, 0, len(msg)+room), msg...)[:len(msg):len(msg)+room],
				q,
				NewRotations(1, 1),
			)
			if !answer.Truncated || answer.Kind != want.Kind || len(got) != len(msg) ||
				answer.Answers+answer.Authority != 0 {
				t.Fatalf("%s with room for %d of %d octets: %+v", name, room, len(whole)-len(msg), answer)
			}
		}
	}
}

func TestAppend_StopsAtTheCapacityOfTheMessage(t *testing.T) {
	const recordA = 2 + fixedPart + 4
	v := sample(t)
	msg, q := question(t, "big.gslb.test.", dns.TypeA)
	for _, room := range []int{0, 1, 100*recordA - 1, 100 * recordA} {
		got, answer := v.Append(
			append(make([]byte, 0, len(msg)+room), msg...)[:len(msg):len(msg)+room],
			q,
			NewRotations(1, 1),
		)
		want := Answer{Truncated: true}
		if room == 100*recordA {
			want = Answer{Answers: 100}
		}
		if answer != want || len(got)-len(msg) != int(want.Answers)*recordA {
			t.Errorf("room for %d octets: %+v and %d octets, want %+v", room, answer, len(got)-len(msg), want)
		}
	}
	msg, q = question(t, "nx.gslb.test.", dns.TypeA)
	if got, answer := v.Append(msg[:len(msg):len(msg)], q, NewRotations(1, 1)); !answer.Truncated ||
		answer.Kind != NXDomain ||
		len(got) != len(msg) {
		t.Errorf("no room for the SOA: %+v", answer)
	}
}

// FuzzAppend compares the answers of Append with the answers of the oracle, for every name and type.
func FuzzAppend(f *testing.F) {
	for _, name := range []string{"\x03app\x04gslb\x04test\x00", "\x03aPP\x04gSLb\x04test\x00",
		"\x01*\x04wild\x04gslb\x04test\x00", "\x02nx\x05child\x04gslb\x04test\x00",
		"\x03cdn\x04gslb\x04test\x00", "\x04near\x04gslb\x04test\x00", "\x00", "\x04test\x00",
		"\x02\x00.\x04gslb\x04test\x00", "\x03www\x04gslb\x04test\x00",
		"\x01x\x01w\x04gslb\x04test\x00", "\x07nearcdn\x04gslb\x04test\x00", "\x04dead\x04gslb\x04test\x00",
		"\x06toapex\x04gslb\x04test\x00",
		"\x01x\x04lost\x04gslb\x04test\x00"} {
		for _, rtype := range []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeANY, dns.TypeSOA, dns.TypeDS, dns.TypeRRSIG,
			dns.TypeNSEC} {
			f.Add([]byte(name), rtype, uint64(1))
		}
	}
	v := sample(f)
	nsec, _ := signedSample(f, NSEC)
	nsec3, _ := signedSample(f, NSEC3)
	f.Fuzz(func(t *testing.T, wire []byte, rtype uint16, seed uint64) {
		name, end, err := dns.UnpackDomainName(wire, 0)
		if err != nil || end != len(wire) || slices.ContainsFunc(wire, func(c byte) bool { return c >= 0xC0 }) {
			t.Skip()
		}
		ask(t, v, name, rtype, NewRotations(seed, 1), NewRotations(seed, 1))
		askSigned(t, nsec, name, rtype, NewRotations(seed, 1), NewRotations(seed, 1))
		askSigned(t, nsec3, name, rtype, NewRotations(seed, 1), NewRotations(seed, 1))
	})
}

func BenchmarkAppend(b *testing.B) {
	v := sample(b)
	for _, name := range []string{"app.gslb.test.", "nx.gslb.test."} {
		b.Run(name, func(b *testing.B) {
			msg, q := question(b, name, dns.TypeA)
			msg = append(make([]byte, 0, 1500), msg...)
			turns := NewRotations(1, 1)
			b.ReportAllocs()
			for b.Loop() {
				v.Append(msg, q, turns)
			}
		})
	}
	for way, denial := range denials {
		v, _ := signedSample(b, denial)
		for _, name := range []string{"app.gslb.test.", "nx.gslb.test."} {
			b.Run("signed/"+way+"/"+name, func(b *testing.B) {
				msg, q := question(b, name, dns.TypeA)
				q.DO = true
				msg = append(make([]byte, 0, 1500), msg...)
				turns := NewRotations(1, 1)
				b.ReportAllocs()
				for b.Loop() {
					v.Append(msg, q, turns)
				}
			})
		}
	}
}
