package signed

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

// Verify checks that an answer has an RRset, and that every RRset has a valid signature by one of the keys at the given
// time. It returns the number of valid signatures.
func Verify(r *dns.Msg, keys []*dns.DNSKEY, at time.Time) (verified int, err error) {
	type set struct {
		name string
		kind uint16
	}
	for _, section := range [][]dns.RR{r.Answer, r.Ns} {
		sets, holds := map[set][]dns.RR{}, map[set]bool{}
		for _, rr := range section {
			if h := rr.Header(); h.Rrtype != dns.TypeRRSIG {
				sets[set{dns.CanonicalName(h.Name), h.Rrtype}] = append(sets[set{dns.CanonicalName(h.Name), h.Rrtype}], rr)
			}
		}
		for _, rr := range section {
			sig, ok := rr.(*dns.RRSIG)
			if !ok {
				continue
			}
			of := set{dns.CanonicalName(sig.Header().Name), sig.TypeCovered}
			for _, key := range keys {
				if key.KeyTag() == sig.KeyTag && sig.ValidityPeriod(at) && sig.Verify(key, sets[of]) == nil {
					holds[of] = true
					verified++
				}
			}
		}
		for of := range sets {
			if !holds[of] {
				err = errors.Join(err, fmt.Errorf("I4: no signature over %s %s holds at %s:\n%s", of.name,
					dns.TypeToString[of.kind], at.Format(time.DateTime), r))
			}
		}
	}
	if len(r.Answer)+len(r.Ns) == 0 {
		return 0, fmt.Errorf("I4: it is empty:\n%s", r)
	}
	return verified, err
}

// SameKeys waits until all nodes publish the same given number of keys for the zone of these tests, and list a DS
// record for each. It returns their tags.
func SameKeys(t *testing.T, count int, nodes ...*harness.Node) (tags []int) {
	t.Helper()
	return SameKeysOf(t, count, count, nodes...)
}

// SameKeysOf is SameKeys for nodes with further zones: all is the number of DS records of all zones.
func SameKeysOf(t *testing.T, count, all int, nodes ...*harness.Node) (tags []int) {
	t.Helper()
	testbed.Until(t, testbed.KeyBound, fmt.Sprintf("%d keys on all nodes", count), func(ctx context.Context) error {
		for i, n := range nodes {
			got, err := testbed.KeyTags(ctx, n)
			if err != nil {
				return err
			}
			ds, err := n.Client.DSRecords(ctx)
			if err != nil {
				return err
			}
			if i == 0 {
				tags = got
			}
			if len(got) != count || !slices.Equal(got, tags) || len(ds.DSRecords) != all {
				return fmt.Errorf("%s has keys %v and %d DS, %s has keys %v", n.Name, got, len(ds.DSRecords), nodes[0].Name, tags)
			}
		}
		return nil
	})
	return tags
}

// KeyFiles lists the key files of a zone in a node's data directory.
func KeyFiles(t *testing.T, n *harness.Node, zone string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(n.File.DataDir, "dnssec", "K"+zone+".+*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}
