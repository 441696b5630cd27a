package zone // inside: it uses canonicalName

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/miekg/dns"
)

// The search in a chain finds the same key as a linear search: for existing keys, for keys between, before and after
// them, and for keys with equal or different prefixes.
func TestChain_CoversWhatLookingAtEveryKeyFinds(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	labels := []string{
		"a",
		"aaaaaaaa",
		"aaaaaaaaa",
		"aaaaaaaab",
		"aaaaaaa",
		"b",
		"service-00001",
		"service-00002",
		"\\000",
		"\\001",
		"\\255\\255\\255\\255\\255\\255\\255\\255",
		"*",
		"-",
	}
	invent := func() (name string) {
		for range 1 + random.IntN(3) {
			name += labels[random.IntN(len(labels))] + "."
		}
		switch random.IntN(20) {
		case 0:
			return "gslb.test."
		case 1, 2, 3, 4, 5, 6:
			name = fmt.Sprintf("r%d.", random.IntN(500)) + name
		}
		return name + "gslb.test."
	}
	for _, denial := range denials {
		for _, size := range []int{0, 1, 2, 7, 60, 400} {
			c := contents(t, "gslb.test.")
			c.Signer, c.Denial = newTestSigner(t, c.Apex), denial
			for range size {
				c.Balanced = append(c.Balanced, invent())
			}
			slices.Sort(c.Balanced)
			c.Balanced = slices.Compact(c.Balanced)
			v := newView(t, nil, c)
			chain := v.zones["\x04gslb\x04test\x00"].chain
			for range 2000 {
				name, err := canonicalName(invent())
				if err != nil {
					t.Fatal(err)
				}
				key, want := chain.keyOf(name), chain.links[len(chain.links)-1]
				for i, at := range chain.keys {
					if at < key {
						want = chain.links[i]
					}
				}
				if got := chain.linkCoveringName([]byte(name)); got != want {
					t.Fatalf("%d names: %s is covered by %q, want %q", size, name, got.prefix, want.prefix)
				}
			}
		}
	}
}

// Proofs contain names without compression if the preceding records are so long that no compression pointer can reach
// the names.
func TestSigned_ProofsFarIntoAMessage(t *testing.T) {
	for way, denial := range denials {
		var lines []string
		for i := range 120 {
			lines = append(lines, fmt.Sprintf("*.wide TXT \"%0200d\"", i))
		}
		c := contents(t, "gslb.test.", lines...)
		signer := newTestSigner(t, c.Apex)
		c.Signer, c.Denial = signer, denial
		c.Records = append(c.Records, signer.key)
		v := newView(t, nil, c)
		r := askSigned(t, v, "q.r.wide.gslb.test.", dns.TypeTXT, NewRotations(1, 1), NewRotations(1, 1))
		if err := validate("q.r.wide.gslb.test.", dns.TypeTXT, r, map[string]*dns.DNSKEY{c.Apex: signer.key}); err != nil ||
			len(r.Answer) != 121 {
			t.Errorf("%s: %d records, %v", way, len(r.Answer), err)
		}
	}
}
