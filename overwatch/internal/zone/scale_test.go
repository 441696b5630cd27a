package zone

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/miekg/dns"
)

// manyNames is a view with n steered names of 4 weighted addresses each.
func manyNames(tb testing.TB, n int) (*View, []string) {
	tb.Helper()
	c := contents(tb, "gslb.test.")
	for i := range n {
		c.Steered = append(c.Steered, fmt.Sprintf("d%06d.gslb.test.", i))
	}
	v := newView(tb, nil, c)
	w := NewWriter()
	for i, name := range c.Steered {
		prefix := fmt.Sprintf("10.%d.%d.", i>>14, i>>6&0xFF)
		words := ""
		for j := range 4 {
			words += fmt.Sprintf("%s%d/%d ", prefix, (i<<2+j)&0xFF, j+1)
		}
		steer(tb, w, v, name, words, 1)
	}
	v.Gather()
	return v, c.Steered
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

// Looking ahead is for speed alone: with it, every question gets what it gets without.
func TestAhead_ChangesNoAnswer(t *testing.T) {
	v, names := manyNames(t, worthwhile)
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
			q.DO = random.IntN(2) == 0
			batch, messages = append(batch, *q), append(messages, msg)
		}
		plain := slices.Clone(batch)
		for i := range batch {
			ahead.Add(&batch[i])
		}
		ahead.Look(v, with)
		for i := range batch {
			got, is := v.Append(slices.Clone(messages[i]), &batch[i], with)
			want, should := v.Append(slices.Clone(messages[i]), &plain[i], without)
			if !bytes.Equal(got, want) || is != should {
				t.Fatalf("%q, type %d: %x %v, without looking ahead %x %v", batch[i].Name, batch[i].Type, got, is, want, should)
			}
		}
	}
}
