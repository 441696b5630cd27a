package zone // inside: it uses canonicalName and owner

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

// hashSigner creates the same signature for the same content each time, so that answers can be compared octet by octet.
type hashSigner struct{}

func (hashSigner) Epoch() uint32 { return 0 }

func (hashSigner) Sign(set RRset) ([][]byte, time.Time, error) {
	h := sha256.New()
	fmt.Fprint(h, set)
	rr := &dns.RRSIG{TypeCovered: set.Type, Algorithm: 13, SignerName: ".", Signature: "AAAA"}
	data, err := dataOf(rr)
	return [][]byte{append(data, h.Sum(nil)...)}, time.Now().Add(time.Hour), err
}

// walk contains zones whose load-balanced names are added and removed at random.
type walk struct {
	random  *rand.Rand
	serial  uint32
	denial  Denial
	zones   map[string]*Contents // by apex; the contents are immutable
	answers map[string]string    // answers of the load-balanced names
}

func newWalk(t *testing.T, seed uint64, denial Denial) *walk {
	w := &walk{
		random:  rand.New(rand.NewPCG(seed, 1)),
		serial:  1,
		denial:  denial,
		zones:   map[string]*Contents{},
		answers: map[string]string{},
	}
	for _, c := range sampleZones(t) {
		c.Balanced = nil
		w.sign(&c)
		w.zones[c.Apex] = &c
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

// name returns an existing or missing name under any of the zones that are never removed.
func (w *walk) name() string {
	labels := []string{
		"a",
		"b",
		"*",
		"app",
		"!",
		"zz",
		"ent",
		"wild",
		"a-label-that-is-quite-long-indeed-so-that-it-has-no-room",
		"\\000",
		"www",
		"static",
		"mail",
	}
	apexes := []string{
		"gslb.test.",
		"gslb.test.",
		"child.gslb.test.",
		"deep.under.gslb.test.",
		"under.gslb.test.",
		"other.example.",
		"own1.example.",
		"own2.test.",
	}
	name := apexes[w.random.IntN(len(apexes))]
	for range w.random.IntN(4) {
		name = labels[w.random.IntN(len(labels))] + "." + name
	}
	return name
}

// zoneOf returns the apex of the zone that contains a name, or "" if no zone contains it.
func (w *walk) zoneOf(name string) (best string) {
	for apex := range w.zones {
		if dns.IsSubDomain(apex, name) && len(apex) > len(best) {
			best = apex
		}
	}
	return best
}

// unfit reports that a name cannot be load-balanced because it is an alias.
func (w *walk) unfit(c *Contents, name string) bool {
	return slices.ContainsFunc(c.Records, func(rr dns.RR) bool {
		return rr.Header().Rrtype == dns.TypeCNAME && dns.CanonicalName(rr.Header().Name) == name
	})
}

// step changes the contents. It returns the names that are new or need a new decision.
func (w *walk) step() (fresh []string) {
	w.serial++
	edited, used := map[string]*Contents{}, map[string]bool{}
	for range 1 + w.random.IntN(6) {
		name := w.name()
		if rest, wild := strings.CutPrefix(name, "*."); strings.Contains(rest, "*") || wild && rest == "" ||
			used[name] {
			continue
		}
		used[name] = true
		apex := w.zoneOf(name)
		own := strings.HasPrefix(name, "own")
		switch {
		case own && apex == "": // a zone that is added with its name
			soa := &dns.SOA{
				Hdr:    dns.RR_Header{Name: name, Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: 300},
				Ns:     "ns.",
				Mbox:   "m.",
				Minttl: 30,
			}
			c := &Contents{Apex: name, SOA: soa, Balanced: []string{name}}
			w.sign(c)
			w.zones[name], edited[name] = c, c
			fresh = append(fresh, name)
		case own && apex == name && len(w.zones[name].Balanced) == 1 && edited[name] == nil:
			delete(w.zones, name)
			delete(w.answers, name)
		case apex == "" || own || w.unfit(w.zones[apex], name):
		default:
			c := edited[apex]
			if c == nil {
				before := *w.zones[apex]
				before.Unshared = nil
				c = &before
				w.sign(c)
				w.zones[apex], edited[apex] = c, c
			}
			at, there := slices.BinarySearch(c.Balanced, name)
			switch {
			case !there:
				c.Balanced = slices.Insert(slices.Clone(c.Balanced), at, name)
				fresh = append(fresh, name)
			case w.random.IntN(3) == 0:
				c.Unshared = append(c.Unshared, name)
				fresh = append(fresh, name)
			default:
				c.Balanced = slices.Delete(slices.Clone(c.Balanced), at, at+1)
				delete(w.answers, name)
			}
		}
	}
	for _, name := range fresh {
		if w.answers[name] != "" {
			continue // other answers would leave spare signatures
		}
		w.answers[name] = []string{"10.0.0.1", "10.0.0.2 2001:db8::1", "2001:db8::2", "down"}[w.random.IntN(4)]
	}
	return fresh
}

// contents returns the contents of all zones.
func (w *walk) contents() (all []*Contents) {
	for _, apex := range slices.Sorted(maps.Keys(w.zones)) {
		all = append(all, w.zones[apex])
	}
	return all
}

// scratch returns a view of the current contents that was created without a previous view.
func (w *walk) scratch(t *testing.T) *View {
	v, err := New(w.contents(), nil)
	if err != nil {
		t.Fatal(err)
	}
	w.steer(t, NewWriter(), v, slices.Sorted(maps.Keys(w.answers)))
	return v
}

func (w *walk) steer(t *testing.T, writer *Writer, v *View, names []string) {
	for _, name := range names {
		steer(t, writer, v, name, w.answers[name], 1)
	}
}

// A view that was created from a previous view answers every question with the same octets as a view that was created
// without one, and prepares the same signatures. The previous view still returns its own answers.
func TestNew_AfterAnotherIsTheSameAsFromScratch(t *testing.T) {
	for name, denial := range denials {
		t.Run(name, func(t *testing.T) {
			seed := rand.Uint64()
			w := newWalk(t, seed, denial)
			writer := NewWriter()
			v := w.scratch(t)
			v.ReleasePrevious()
			for i := range 40 {
				fresh := w.step()
				next, err := New(w.contents(), v)
				if err != nil {
					t.Fatalf("seed %d, step %d: %v", seed, i, err)
				}
				w.steer(t, writer, next, fresh)
				next.ReleasePrevious()
				v = next
				if want := w.scratch(t); !w.same(t, v, want) {
					t.Fatalf("seed %d, step %d: after %v", seed, i, fresh)
				}
			}
		})
	}
}

// same compares the answers of two views.
func (w *walk) same(t *testing.T, got, want *View) bool {
	t.Helper()
	names := []string{
		".",
		"example.",
		"test.",
		"ns1.gslb.test.",
		"www.gslb.test.",
		"toodown.gslb.test.",
		"q.static.gslb.test.",
		"x.deep.under.gslb.test.",
		"nx.gslb.test.",
	}
	for range 10 {
		names = append(names, w.name())
	}
	for name := range w.answers {
		if names = append(names, name, "x."+name, strings.Replace(name, "*", "y", 1)); len(names) > 40 {
			break // the order differs each time
		}
	}
	room := make([]byte, 0, 2<<16)
	for _, name := range names {
		for _, rtype := range []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeSOA, dns.TypeDS, dns.TypeANY} {
			for _, do := range []bool{false, true} {
				if !bytes.Equal(
					octets(t, got, name, rtype, do, room),
					octets(t, want, name, rtype, do, room[1<<16:1<<16]),
				) {
					t.Errorf(
						"%s %s (DO %t):\n%+v\nmade anew:\n%+v",
						name,
						dns.TypeToString[rtype],
						do,
						got.Resolve(name, rtype, do, netip.Addr{}, NewRotations(1, 1)),
						want.Resolve(name, rtype, do, netip.Addr{}, NewRotations(1, 1)),
					)
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
	out, answer := v.Append(append(room[:0:1<<16], msg...), q, NewRotations(1, 1))
	return append(out, byte(answer.Kind))
}

// sameSignatures checks that the index contains every signature that must be renewed, and no signature that no answer
// contains.
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
		t.Errorf(
			"%d signatures are kept, %d are needed: %q",
			len(kept),
			len(needed),
			slices.DeleteFunc(kept, func(sig string) bool { return slices.Contains(needed, sig) }),
		)
		return false
	}
	return true
}

// sameTurns checks that no two names share a rotation.
func (w *walk) sameTurns(t *testing.T, v *View) bool {
	t.Helper()
	seen := map[uint32]bool{}
	for _, z := range v.zones {
		for _, o := range z.names.appendBalanced(nil) {
			for _, c := range o.answers.Load().balanced {
				if seen[c.rotationIndex] {
					t.Errorf("the turn %d is taken twice", c.rotationIndex)
					return false
				}
				seen[c.rotationIndex] = true
			}
		}
	}
	return true
}

// A view shares unchanged zones, and unchanged names of other zones, with the previous view.
func TestNew_SharesWhatStays(t *testing.T) {
	for name, denial := range denials {
		t.Run(name, func(t *testing.T) {
			w := newWalk(t, 1, denial)
			c := *w.zones["gslb.test."]
			c.Balanced = []string{"a.gslb.test.", "b.gslb.test."}
			w.zones[c.Apex], w.answers = &c, map[string]string{"a.gslb.test.": "10.0.0.1", "b.gslb.test.": "10.0.0.2"}
			v := w.scratch(t)
			after := c
			after.Balanced, after.Unshared = []string{
				"a.gslb.test.",
				"b.gslb.test.",
				"c.gslb.test.",
			}, []string{
				"b.gslb.test.",
			}
			w.sign(&after)
			w.zones[c.Apex] = &after
			next, err := New(w.contents(), v)
			if err != nil {
				t.Fatal(err)
			}
			for apex, z := range v.zones {
				if changed := next.zones[apex] != z; changed != (z.apex.String() == c.Apex) {
					t.Errorf("%s has changed: %t", z.apex, changed)
				}
			}
			for name, shared := range map[string]bool{"a.gslb.test.": true, "b.gslb.test.": false, "mail.gslb.test.": true,
				"ns1.gslb.test.": true} {
				key, _ := canonicalName(name)
				_, before := v.findOwner(key)
				if _, o := next.findOwner(key); (o == before) != shared {
					t.Errorf("%s is shared: %t", name, o == before)
				}
			}
			steer(t, NewWriter(), next, "a.gslb.test.", "10.0.0.9", 1)
			steer(t, NewWriter(), next, "b.gslb.test.", "10.0.0.9", 1)
			for name, want := range map[string]string{"a.gslb.test.": "10.0.0.9", "b.gslb.test.": "10.0.0.2"} {
				r := v.Resolve(name, dns.TypeA, false, netip.Addr{}, NewRotations(1, 1))
				if got := r.Answer[0].(*dns.A).A.String(); got != want {
					t.Errorf("the view before answers %s for %s, want %s", got, name, want)
				}
			}
		})
	}
}

// Contradictory contents are refused, and the previous view stays unchanged.
func TestNew_RefusesWhatDoesNotFit(t *testing.T) {
	for what, change := range map[string]func(c *Contents){
		"outside":         func(c *Contents) { c.Balanced = []string{"x.example."} },
		"of another zone": func(c *Contents) { c.Balanced = []string{"x.child.gslb.test."} },
		"at a cut":        func(c *Contents) { c.Balanced = []string{"child.gslb.test."} },
		"twice":           func(c *Contents) { c.Balanced = []string{"X.gslb.test", "x.gslb.test."} },
	} {
		w := newWalk(t, 1, NSEC)
		v := w.scratch(t)
		c := *w.zones["gslb.test."]
		change(&c)
		before := w.zones[c.Apex]
		w.zones[c.Apex] = &c
		if _, err := New(w.contents(), v); err == nil {
			t.Errorf("%s is taken", what)
		}
		w.zones[c.Apex] = before
		if !w.same(t, v, w.scratch(t)) {
			t.Fatalf("%s has changed the view", what)
		}
	}
}

// The benchmark adds one name to a view with many names.
func BenchmarkNew_OneName(b *testing.B) {
	for _, names := range []int{10_000, 100_000} {
		for _, signed := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d names, signed %t", names, signed), func(b *testing.B) {
				c := contents(b, "gslb.test.")
				for i := range names {
					c.Balanced = append(c.Balanced, fmt.Sprintf("name%06d.gslb.test.", i))
				}
				if signed {
					c.Signer = hashSigner{}
				}
				v, err := New([]*Contents{&c}, nil)
				if err != nil {
					b.Fatal(err)
				}
				i := 0
				for b.Loop() {
					i++
					next := c
					next.Balanced = append(slices.Clone(c.Balanced), fmt.Sprintf("z%d.gslb.test.", i))
					if v, err = New([]*Contents{&next}, v); err != nil {
						b.Fatal(err)
					}
					v.ReleasePrevious()
				}
			})
		}
	}
}
