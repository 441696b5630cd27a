package zone

import (
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
	return v, c.Steered
}

// What a lookup costs with few names and with many, asked in random order: the difference is what the memory takes.
func BenchmarkAppend_ManyNames(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			v, names := manyNames(b, n)
			random := rand.New(rand.NewPCG(1, 1))
			const asked = 1 << 16
			questions := make([]Question, asked)
			for i := range questions {
				_, q := question(b, names[random.IntN(n)], dns.TypeA)
				questions[i] = *q
				questions[i].Name = slices.Clone(q.Name)
			}
			msg, _ := question(b, names[0], dns.TypeA)
			turns := NewTurns(1, 1)
			i := 0
			for b.Loop() {
				v.Append(msg, &questions[i], turns)
				i = (i + 1) % asked
			}
		})
	}
}
