package zone

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/miekg/dns"
)

// manyNames is a view with n steered names of 4 weighted addresses each.
func manyNames(tb testing.TB, n int) (*View, []string) {
	v, names := manyOf(tb, n, weighted)
	v.Gather()
	return v, names
}

// manner is how the many names are answered.
type manner int

const (
	weighted manner = iota
	placedly        // by the client's region, which has one of the addresses
	signed
	dual // by the client's region, some names in both families
)

func (m manner) String() string { return [...]string{"weighted", "placed", "signed", "dual"}[m] }

// manyOf is manyNames before they are gathered, in another manner. Signatures are made.
func manyOf(tb testing.TB, n int, how manner) (*View, []string) {
	tb.Helper()
	c := contents(tb, "gslb.test.")
	if how == signed {
		c.Signer = quickSigner{}
	}
	for i := range n {
		c.Steered = append(c.Steered, fmt.Sprintf("d%06d.gslb.test.", i))
	}
	v := newView(tb, nil, c)
	v.Place(testPlaces(tb))
	w := NewWriter()
	for i, name := range c.Steered {
		prefix := fmt.Sprintf("10.%d.%d.", i>>14, i>>6&0xFF)
		var words []string
		for j := range 4 {
			words = append(words, fmt.Sprintf("%s%d/%d ", prefix, (i<<2+j)&0xFF, j+1))
		}
		if how == dual && i%2 == 0 {
			six := fmt.Sprintf("2001:db8::%x:", i)
			placeIn(tb, w, v, name, "none "+words[0]+six+"1/1", "a "+words[1]+six+"2/1", "b "+words[2]+six+"3/1")
			continue
		}
		if how == placedly || how == dual {
			placeIn(tb, w, v, name, "none "+words[0], "a "+words[1], "b "+words[2])
			continue
		}
		steer(tb, w, v, name, strings.Join(words, " "), 1)
	}
	for sig := range v.Signatures() {
		if _, err := sig.Prepare(time.Time{}); err != nil {
			tb.Fatal(err)
		}
	}
	return v, c.Steered
}

// quickSigner signs with nothing but the length of a signature by P-256.
type quickSigner struct{}

func (quickSigner) Epoch() uint32 { return 0 }

func (quickSigner) Sign(set RRset) ([][]byte, time.Time, error) {
	return [][]byte{append(make([]byte, 18+11+64-2), set.RData[0][:2]...)}, time.Now().Add(time.Hour), nil
}

// randomQuestions is many questions for the names, in random order.
func randomQuestions(tb testing.TB, names []string) []Question {
	tb.Helper()
	random := rand.New(rand.NewPCG(1, 1))
	questions := make([]Question, 1<<16)
	octets := make([]byte, 0, len(questions)*32)
	for i := range questions {
		_, q := question(tb, names[random.IntN(len(names))], dns.TypeA)
		questions[i] = *q
		questions[i].DO, questions[i].Client = true, clientA
		octets = append(octets, q.Name...)
		questions[i].Name = octets[len(octets)-len(q.Name):]
	}
	return questions
}

// What a lookup costs with few names and with many, asked in random order: the difference is what the memory takes.
func BenchmarkAppend_ManyNames(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			v, names := manyNames(b, n)
			questions := randomQuestions(b, names)
			msg, _ := question(b, names[0], dns.TypeA)
			turns := NewTurns(1, 1)
			i := 0
			for b.Loop() {
				q := questions[i]
				v.Append(msg, &q, turns)
				i = (i + 1) % len(questions)
			}
		})
	}
}

// Looking ahead and gathering are for speed alone: with them, every question gets what it gets without.
func TestAhead_ChangesNoAnswer(t *testing.T) {
	for _, how := range []manner{weighted, placedly, signed, dual} {
		t.Run(how.String(), func(t *testing.T) { aheadChangesNothing(t, how) })
	}
}

// A socket that nobody asks any more must not keep the view alive that it was asked for last.
func TestAhead_KeepsNoView(t *testing.T) {
	for _, how := range []manner{weighted, placedly, signed, dual} {
		var ahead Ahead
		view := func() weak.Pointer[Slot] {
			v, names := manyOf(t, worthwhile, how)
			v.Gather()
			questions, turns := make([]Question, MaxAhead), NewTurns(1, 1)
			for i := range questions {
				_, q := question(t, names[i], dns.TypeA)
				questions[i] = *q
				questions[i].DO, questions[i].Client = true, clientA
			}
			for range 2 { // by then it is known whose turn it is
				for i := range questions {
					ahead.Add(&questions[i])
				}
				ahead.Look(v, turns)
				for i := range questions {
					v.Append(make([]byte, headerSize+len(questions[i].Name)+4, 1<<16), &questions[i], turns)
				}
			}
			return weak.Make(&v.slots[0])
		}()
		for range 10 {
			if runtime.GC(); view.Value() == nil {
				break
			}
		}
		if view.Value() != nil {
			t.Errorf("%s: the view is still there", how)
		}
		runtime.KeepAlive(&ahead)
	}
}

func aheadChangesNothing(t *testing.T, how manner) {
	v, names := manyOf(t, worthwhile, how)
	v.Gather()
	scattered, _ := manyOf(t, worthwhile, how)
	random := rand.New(rand.NewPCG(2, 2))
	with, without := NewTurns(1, 1), NewTurns(1, 1)
	var ahead Ahead
	for range 200 {
		var batch []Question
		var messages [][]byte
		for range 1 + random.IntN(MaxAhead) {
			name := names[random.IntN(len(names))]
			switch random.IntN(4) {
			case 0:
				name = "nothing." + name
			case 1:
				name = "elsewhere.example."
			}
			msg, q := question(t, name, []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeTXT, dns.TypeANY}[random.IntN(4)])
			q.DO, q.Client = random.IntN(2) == 0, []netip.Addr{clientA, clientB, clientNo, {}}[random.IntN(4)]
			batch, messages = append(batch, *q), append(messages, msg)
		}
		plain := slices.Clone(batch)
		for i := range batch {
			ahead.Add(&batch[i])
		}
		ahead.Look(v, with)
		for i := range batch {
			got, is := v.Append(withRoom(messages[i]), &batch[i], with)
			want, should := scattered.Append(withRoom(messages[i]), &plain[i], without)
			if !bytes.Equal(got, want) || is != should {
				t.Fatalf("%q, type %d: %x %v, without looking ahead %x %v", batch[i].Name, batch[i].Type, got, is, want, should)
			}
		}
	}
}

// withRoom is a copy of a question with room for the answer.
func withRoom(msg []byte) []byte { return append(make([]byte, 0, 512), msg...) }

// Between Look and Append another view may come into force, in which the same name has another slot and the client is elsewhere.
func TestAhead_WhatItFoundIsTrueOfOneViewOnly(t *testing.T) {
	v, names := manyOf(t, worthwhile, placedly)
	reversed := slices.Clone(names[:len(names)-1])
	slices.Reverse(reversed)
	next := newView(t, nil, func() Contents { c := contents(t, "gslb.test."); c.Steered = reversed; return c }())
	w := NewWriter()
	for _, name := range reversed {
		placeIn(t, w, next, name, "none 192.0.2.1/1", "a 192.0.2.2/1", "b 192.0.2.3/1")
	}
	next.Place(nil) // nobody is anywhere
	asked := []string{names[0], names[1], names[len(names)/2], names[len(names)-1], "nothing." + names[3]}
	for _, view := range []*View{v, next} {
		var ahead Ahead
		batch, messages, turns := make([]Question, len(asked)), make([][]byte, len(asked)), NewTurns(1, 1)
		for i, name := range asked {
			msg, q := question(t, name, dns.TypeA)
			batch[i], messages[i] = *q, msg
			batch[i].Client = clientA
			ahead.Add(&batch[i])
		}
		ahead.Look(v, turns)
		for i := range batch {
			_, plain := question(t, asked[i], dns.TypeA)
			plain.Client = clientA
			want, should := view.Append(withRoom(messages[i]), plain, turns)
			got, is := view.Append(withRoom(messages[i]), &batch[i], turns)
			if !bytes.Equal(got, want) || is != should {
				t.Errorf("%s: %x %v, without looking ahead %x %v", asked[i], got, is, want, should)
			}
		}
	}
}
