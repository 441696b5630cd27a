package zone

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// hashSigner makes the same signature of the same content each time, so that answers can be compared octet by octet.
type hashSigner struct{}

func (hashSigner) Epoch() uint32 { return 0 }

func (hashSigner) Sign(set RRset) ([][]byte, time.Time, error) {
	h := sha256.New()
	fmt.Fprint(h, set)
	rr := &dns.RRSIG{TypeCovered: set.Type, Algorithm: 13, SignerName: ".", Signature: "AAAA"}
	data, err := dataOf(rr)
	return [][]byte{append(data, h.Sum(nil)...)}, time.Now().Add(time.Hour), err
}

// walk is zones whose steered names come and go at random.
type walk struct {
	random  *rand.Rand
	serial  uint32
	denial  Denial
	zones   map[string]Contents // by apex; Steered is sorted
	answers map[string]string   // of the steered names
}

func newWalk(t *testing.T, seed uint64, denial Denial) *walk {
	w := &walk{random: rand.New(rand.NewPCG(seed, 1)), serial: 1, denial: denial, zones: map[string]Contents{}, answers: map[string]string{}}
	for _, c := range sampleZones(t) {
		c.Steered = nil
		w.sign(&c)
		w.zones[c.Apex] = c
	}
	return w
}

func (w *walk) sign(c *Contents) {
	if c.Apex != "other.example." {
		c.Signer, c.Denial = hashSigner{}, w.denial
	}
	c.SOA = dns.Copy(c.SOA).(*dns.SOA)
	c.SOA.Serial = w.serial
}

// name is one that may or may not be there, under any of the zones that are never removed.
func (w *walk) name() string {
	labels := []string{"a", "b", "*", "app", "!", "zz", "ent", "wild", "a-label-that-is-quite-long-indeed-so-that-it-has-no-room", "\\000", "www", "static", "mail"}
	apexes := []string{"gslb.test.", "gslb.test.", "child.gslb.test.", "deep.under.gslb.test.", "under.gslb.test.", "other.example.", "own1.example.", "own2.test."}
	name := apexes[w.random.IntN(len(apexes))]
	for range w.random.IntN(4) {
		name = labels[w.random.IntN(len(labels))] + "." + name
	}
	return name
}

// zoneOf is the apex of the zone that a name is in, empty for none.
func (w *walk) zoneOf(name string) (best string) {
	for apex := range w.zones {
		if dns.IsSubDomain(apex, name) && len(apex) > len(best) {
			best = apex
		}
	}
	return best
}

// unfit says that a name cannot be steered, since it is an alias.
func (w *walk) unfit(c Contents, name string) bool {
	return slices.ContainsFunc(c.Records, func(rr dns.RR) bool {
		return rr.Header().Rrtype == dns.TypeCNAME && dns.CanonicalName(rr.Header().Name) == name
	})
}

// step changes the contents and says how.
func (w *walk) step() Delta {
	w.serial++
	var d Delta
	edits := map[string]*Edit{}
	used := map[string]bool{}
	for range 1 + w.random.IntN(6) {
		name := w.name()
		if rest, wild := strings.CutPrefix(name, "*."); strings.Contains(rest, "*") || wild && rest == "" || used[name] {
			continue
		}
		used[name] = true
		apex := w.zoneOf(name)
		c := w.zones[apex]
		own := strings.HasPrefix(name, "own")
		switch {
		case own && apex == "" && !used["own"]: // a zone that comes with its name
			used["own"] = true
			own := Contents{Apex: name, SOA: &dns.SOA{Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: 300}, Ns: "ns.", Mbox: "m.", Minttl: 30}, Steered: []string{name}}
			w.sign(&own)
			w.zones[name] = own
			d.New = append(d.New, own)
		case own && apex == name && len(c.Steered) == 1 && !used["own"]:
			used["own"] = true
			delete(w.zones, name)
			delete(w.answers, name)
			d.Gone = append(d.Gone, name)
		case apex == "" || own || used["own"] && strings.HasPrefix(apex, "own") || w.unfit(c, name):
		default:
			edit := edits[apex]
			if edit == nil {
				edit = &Edit{Apex: apex}
				edits[apex] = edit
				w.sign(&c)
				edit.SOA = c.SOA
			}
			if at, there := slices.BinarySearch(c.Steered, name); there {
				c.Steered = slices.Delete(slices.Clone(c.Steered), at, at+1)
				delete(w.answers, name)
				edit.Plain = append(edit.Plain, name)
			} else {
				c.Steered = slices.Insert(slices.Clone(c.Steered), at, name)
				edit.Steered = append(edit.Steered, name)
			}
			w.zones[apex] = c
		}
	}
	for _, edit := range edits {
		d.Edited = append(d.Edited, *edit)
	}
	for _, edit := range d.Edited {
		for _, name := range edit.Steered {
			w.answers[name] = []string{"10.0.0.1", "10.0.0.2 2001:db8::1", "2001:db8::2", "down"}[w.random.IntN(4)]
		}
	}
	for _, c := range d.New {
		w.answers[c.Apex] = "10.0.0.3"
	}
	return d
}

// scratch is a view of the contents as they are, made without another before it.
func (w *walk) scratch(t *testing.T) *View {
	var all []Contents
	for _, apex := range slices.Sorted(maps.Keys(w.zones)) {
		all = append(all, w.zones[apex])
	}
	v := newView(t, nil, all...)
	w.steer(t, NewWriter(), v, slices.Sorted(maps.Keys(w.answers)))
	return v
}

func (w *walk) steer(t *testing.T, writer *Writer, v *View, names []string) {
	for _, name := range names {
		steer(t, writer, v, name, w.answers[name], 1)
	}
}

// A view that follows another by what changed answers every question with the same octets as one that is made anew, and has the
// same signatures to prepare.
func TestWith_IsTheSameAsMakingItAnew(t *testing.T) {
	for name, denial := range denials {
		t.Run(name, func(t *testing.T) {
			seed := rand.Uint64()
			w := newWalk(t, seed, denial)
			writer := NewWriter()
			v := w.scratch(t)
			for i := range 30 {
				d := w.step()
				next, _, err := v.With(d)
				if err != nil {
					t.Fatalf("seed %d, step %d, %+v: %v", seed, i, d, err)
				}
				var fresh []string
				for _, edit := range d.Edited {
					fresh = append(fresh, edit.Steered...)
				}
				for _, c := range d.New {
					fresh = append(fresh, c.Apex)
				}
				w.steer(t, writer, next, fresh)
				v = next
				if want := w.scratch(t); !w.same(t, v, want) {
					t.Fatalf("seed %d, step %d: after %+v", seed, i, d)
				}
			}
		})
	}
}

// same compares the answers of two views.
func (w *walk) same(t *testing.T, got, want *View) bool {
	t.Helper()
	names := []string{".", "example.", "test.", "ns1.gslb.test.", "www.gslb.test.", "toodown.gslb.test.", "q.static.gslb.test.", "x.deep.under.gslb.test.", "nx.gslb.test."}
	for range 10 {
		names = append(names, w.name())
	}
	for name := range w.answers {
		if names = append(names, name, "x."+name, strings.Replace(name, "*", "y", 1)); len(names) > 40 {
			break // the order is another each time
		}
	}
	room := make([]byte, 0, 2<<16)
	for _, name := range names {
		for _, rtype := range []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeSOA, dns.TypeDS, dns.TypeANY} {
			for _, do := range []bool{false, true} {
				if !bytes.Equal(octets(t, got, name, rtype, do, room), octets(t, want, name, rtype, do, room[1<<16:1<<16])) {
					t.Errorf("%s %s (DO %t):\n%+v\nmade anew:\n%+v", name, dns.TypeToString[rtype], do, got.Resolve(name, rtype, do, netip.Addr{}, NewTurns(1, 1)), want.Resolve(name, rtype, do, netip.Addr{}, NewTurns(1, 1)))
					return false
				}
			}
		}
	}
	return w.sameSignatures(t, got, want) && w.sameTurns(t, got)
}

func octets(t *testing.T, v *View, name string, rtype uint16, do bool, room []byte) []byte {
	msg, q := question(t, name, rtype)
	q.DO = do
	out, answer := v.Append(append(room[:0:1<<16], msg...), q, NewTurns(1, 1))
	if answer.Kind != Elsewhere {
		return append(out, byte(answer.Kind))
	}
	r := v.Resolve(name, rtype, do, netip.Addr{}, NewTurns(1, 1))
	out, err := r.AppendTo(msg)
	if err != nil {
		t.Fatal(err)
	}
	return append(out, byte(r.Kind))
}

// sameSignatures: none is missing that will have to be renewed, and none is kept that no answer has.
func (w *walk) sameSignatures(t *testing.T, got, want *View) bool {
	t.Helper()
	all := func(v *View) []string {
		var list []string
		for sig := range v.Signatures() {
			list = append(list, fmt.Sprintf("%q %q", sig.owner, sig.content))
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	kept, needed := all(got), all(want)
	for _, sig := range needed {
		if _, there := slices.BinarySearch(kept, sig); !there {
			t.Errorf("%s would not be renewed", sig)
			return false
		}
	}
	if len(kept) > len(needed) {
		t.Errorf("%d signatures are kept, %d are needed: %q", len(kept), len(needed), slices.DeleteFunc(kept, func(sig string) bool { return slices.Contains(needed, sig) }))
		return false
	}
	return true
}

// sameTurns: no two names have one turn.
func (w *walk) sameTurns(t *testing.T, v *View) bool {
	t.Helper()
	seen := map[uint32]bool{}
	for i := range v.slots {
		if s := &v.slots[i]; s.steered {
			if seen[s.turn] || seen[s.turn+1] {
				t.Errorf("two names have the turn %d", s.turn)
				return false
			}
			seen[s.turn], seen[s.turn+1] = true, true
		}
	}
	return true
}

// What With refuses leaves the view as it was.
func TestWith_RefusesWhatDoesNotFit(t *testing.T) {
	w := newWalk(t, 1, NSEC)
	v := w.scratch(t)
	soa := w.zones["gslb.test."].SOA
	other := dns.Copy(soa).(*dns.SOA)
	other.Minttl++
	for name, d := range map[string]Delta{
		"no such zone":     {Edited: []Edit{{Apex: "nx.test.", SOA: soa}}},
		"outside":          {Edited: []Edit{{Apex: "gslb.test.", SOA: soa, Steered: []string{"x.example."}}}},
		"of another zone":  {Edited: []Edit{{Apex: "gslb.test.", SOA: soa, Steered: []string{"x.child.gslb.test."}}}},
		"not steered":      {Edited: []Edit{{Apex: "gslb.test.", SOA: soa, Plain: []string{"ns1.gslb.test."}}}},
		"not there":        {Edited: []Edit{{Apex: "gslb.test.", SOA: soa, Plain: []string{"nx.gslb.test."}}}},
		"twice":            {Edited: []Edit{{Apex: "gslb.test.", SOA: soa, Steered: []string{"x.gslb.test.", "X.gslb.test"}}}},
		"another TTL":      {Edited: []Edit{{Apex: "gslb.test.", SOA: other}}},
		"a zone below":     {Gone: []string{"gslb.test."}},
		"a zone above":     {Gone: []string{"child.gslb.test."}},
		"a zone not there": {Gone: []string{"nx.test."}},
		"there already":    {New: []Contents{w.zones["gslb.test."]}},
	} {
		if _, _, err := v.With(d); err == nil {
			t.Errorf("%s is taken", name)
		}
		if !w.same(t, v, w.scratch(t)) {
			t.Fatalf("%s has changed the view", name)
		}
	}
}

// How dear one more name is beside many.
func BenchmarkWith(b *testing.B) {
	for _, names := range []int{10_000, 100_000} {
		for _, signed := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d names, signed %t", names, signed), func(b *testing.B) {
				c := contents(b, "gslb.test.")
				for i := range names {
					c.Steered = append(c.Steered, fmt.Sprintf("name%d.gslb.test.", i))
				}
				if signed {
					c.Signer = hashSigner{}
				}
				v := newView(b, nil, c)
				i := 0
				for b.Loop() {
					i++
					var err error
					if v, _, err = v.With(Delta{Edited: []Edit{{Apex: "gslb.test.", SOA: c.SOA, Steered: []string{fmt.Sprintf("more%d.gslb.test.", i)}}}}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
