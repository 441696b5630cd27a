package zone // inside: it looks at owner

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// floodShapes contains the kinds of invented names: the parent name of each kind, and the labels between the invented
// label and the parent name.
var floodShapes = []struct{ way, owner, between string }{
	{
		"served",
		"%s",
		"",
	}, {"absent", "%s", "-"}, {"below", "%s", "."}, {"enclosing", "a.%s", "."}, {"expanded", "*.%s", "."},
}

// floodView returns a signed view with n load-balanced names for a shape, and queries with DO for invented names.
func floodView(tb testing.TB, denial Denial, n int, owner, between string) (*View, []Question) {
	tb.Helper()
	c := contents(tb, "gslb.test.")
	signer := newTestSigner(tb, c.Apex)
	c.Signer, c.Denial = signer, denial
	c.Records = append(c.Records, signer.key)
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("d%05d.gslb.test.", i)
		c.Balanced = append(c.Balanced, fmt.Sprintf(owner, names[i]))
	}
	v := newView(tb, nil, c)
	w := NewWriter()
	for _, name := range c.Balanced {
		steer(tb, w, v, name, "10.0.0.1/1 10.0.0.2/2", 1)
	}
	random := rand.New(rand.NewPCG(1, 1))
	questions := make([]Question, 1<<14)
	for i := range questions {
		name := names[random.IntN(n)]
		if between != "" {
			name = fmt.Sprintf("%08x%s%s", random.Uint32(), between, name)
		}
		_, q := question(tb, name, dns.TypeA)
		q.DO, q.Name = true, []byte(strings.Clone(string(q.Name)))
		questions[i] = *q
	}
	return v, questions
}

// The benchmark compares a flood of invented names with positive answers, all with signatures.
func BenchmarkAppend_Flood(b *testing.B) {
	for way, denial := range denials {
		for _, shape := range floodShapes {
			b.Run(way+"/"+shape.way, func(b *testing.B) {
				v, questions := floodView(b, denial, 1000, shape.owner, shape.between)
				msg, _ := question(b, "x.d00000.gslb.test.", dns.TypeA)
				msg = append(make([]byte, 0, 1500), msg...)
				turns := NewRotations(1, 1)
				octets := 0
				b.ReportAllocs()
				i := 0
				var q Question
				for range 2 {
					for i := range questions {
						q = questions[i]
						v.Append(msg, &q, turns)
					}
				}
				for b.Loop() {
					q = questions[i]
					reply, _ := v.Append(msg, &q, turns)
					octets = len(reply)
					i = (i + 1) % len(questions)
				}
				b.ReportMetric(float64(octets), "octets")
			})
		}
	}
}
