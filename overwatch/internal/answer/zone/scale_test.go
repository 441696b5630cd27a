package zone // inside: it uses minPrefetchCells and headerSize

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// manner is the kind of the names' answers.
type manner int

const (
	weighted manner = iota
	placedly        // by the client's region, to which one of the addresses belongs
	signed
)

func (m manner) String() string { return [...]string{"weighted", "placed", "signed"}[m] }

// manyOf returns a view with n load-balanced names of 4 addresses each, and the names. All signatures are prepared.
func manyOf(tb testing.TB, n int, how manner) (*View, []string) {
	tb.Helper()
	c := contents(tb, "gslb.test.")
	if how == signed {
		c.Signer = quickSigner{}
	}
	for i := range n {
		c.Balanced = append(c.Balanced, fmt.Sprintf("d%06d.gslb.test.", i))
	}
	v := newView(tb, nil, c)
	v.SetRegionTable(testPlaces(tb))
	w := NewWriter()
	for i, name := range c.Balanced {
		prefix := fmt.Sprintf("10.%d.%d.", i>>14, i>>6&0xFF)
		var words []string
		for j := range 4 {
			words = append(words, fmt.Sprintf("%s%d/%d ", prefix, (i<<2+j)&0xFF, j+1))
		}
		if how == placedly {
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
	return v, c.Balanced
}

// quickSigner returns signatures that only have the length of a P-256 signature.
type quickSigner struct{}

func (quickSigner) Epoch() uint32 { return 0 }

func (quickSigner) Sign(set RRset) ([][]byte, time.Time, error) {
	return [][]byte{append(make([]byte, 18+11+64-2), set.RData[0][:2]...)}, time.Now().Add(time.Hour), nil
}

// randomQuestions returns many questions for the names, in random order.
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

// The benchmark compares lookups with few and with many names in random order. The difference is the cost of memory
// access.
func BenchmarkAppend_ManyNames(b *testing.B) {
	for _, how := range []manner{weighted, placedly, signed} {
		for _, n := range []int{10, 1000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", how, n), func(b *testing.B) {
				v, names := manyOf(b, n, how)
				questions := randomQuestions(b, names)
				msg := make([]byte, headerSize+len(questions[0].Name)+4, 1<<16)
				turns := NewRotations(1, 1)
				i := 0
				for b.Loop() {
					q := questions[i]
					v.Append(msg, &q, turns)
					i = (i + 1) % len(questions)
				}
			})
		}
	}
}

// Prefetch only affects the speed: every question has the same answer with and without Prefetch.
func TestFetch_ChangesNoAnswer(t *testing.T) {
	for _, how := range []manner{weighted, placedly, signed} {
		t.Run(how.String(), func(t *testing.T) {
			v, names := manyOf(t, minPrefetchCells, how)
			with, without := NewRotations(1, 1), NewRotations(1, 1)
			random := rand.New(rand.NewPCG(2, 2))
			for range 50 {
				var batch []*Question
				var messages [][]byte
				for range 1 + random.IntN(MaxPrefetch) {
					name := []string{names[random.IntN(len(names))], "nothing." + names[0], "elsewhere.example."}[random.IntN(3)]
					msg, q := question(
						t,
						name,
						[]uint16{dns.TypeA, dns.TypeAAAA, dns.TypeTXT, dns.TypeANY}[random.IntN(4)],
					)
					q.DO, q.Client = random.IntN(2) == 0, []netip.Addr{clientA, clientB, clientNo, {}}[random.IntN(4)]
					batch, messages = append(batch, q), append(messages, msg)
				}
				v.Prefetch(batch, with)
				for i, q := range batch {
					plain := *q
					want, wanted := v.Append(withRoom(messages[i]), &plain, without)
					got, is := v.Append(withRoom(messages[i]), q, with)
					if !bytes.Equal(got, want) || is != wanted {
						t.Fatalf("%q, type %d: %x %v, without Fetch %x %v", q.Name, q.Type, got, is, want, wanted)
					}
				}
			}
		})
	}
}

// withRoom copies a question into a buffer with space for the answer.
func withRoom(msg []byte) []byte { return append(make([]byte, 0, 512), msg...) }
