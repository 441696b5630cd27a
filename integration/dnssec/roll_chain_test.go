package dnssec_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// chainParent is the parent of the zones with key rollovers.
const chainParent = "gslb.test."

// chainTTL is the TTL, in seconds, of the data that validators cache in this test.
const chainTTL = 1

// knotParent is a signed parent zone that Knot serves. It follows the CDS records of its children as a registry does,
// because Knot does not query them.
type knotParent struct {
	at      netip.AddrPort
	control func(ctx context.Context, args ...string) error
	key     *dns.DNSKEY
	has     map[string]string // DS records by child
}

func startKnotParent(t *testing.T, children []string) *knotParent {
	t.Helper()
	zone := "$ORIGIN " + chainParent + "\n$TTL 60\n@ SOA ns1 hostmaster 1 3600 600 604800 2\n@ NS ns1\nns1 A 127.0.0.1\n"
	for _, child := range children {
		zone += fmt.Sprintf("%[1]s. NS ns1.%[1]s.\nns1.%[1]s. A 127.0.0.1\n", child)
	}
	at, config := startKnotOf(t, chainParent, zone, "nsec")
	p := &knotParent{at: at, has: make(map[string]string)}
	program := testbed.Judge(t, "knotc")
	p.control = func(ctx context.Context, args ...string) error {
		out, err := exec.CommandContext(ctx, program, append([]string{"-c", config}, args...)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("knotc %s: %w: %s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	reply, err := askTCP(t.Context(), at.String(), chainParent, dns.TypeDNSKEY)
	if err != nil || len(reply.Answer) == 0 {
		t.Fatalf("the key of the parent: %v, %v", reply, err)
	}
	p.key = reply.Answer[0].(*dns.DNSKEY)
	return p
}

// put replaces the DS records of a child in one transaction. Without records it deletes them.
func (p *knotParent) put(ctx context.Context, child string, records ...string) error {
	if p.has[child] == strings.Join(records, "; ") {
		return nil
	}
	steps := [][]string{{"zone-begin", chainParent}}
	if p.has[child] != "" {
		steps = append(steps, []string{"zone-unset", chainParent, child + ".", "DS"})
	}
	for _, ds := range records {
		steps = append(steps, append([]string{"zone-set", chainParent, child + ".", fmt.Sprint(chainTTL), "DS"},
			strings.Fields(ds)...))
	}
	for _, step := range append(steps, []string{"zone-commit", chainParent}) {
		if err := p.control(ctx, step...); err != nil {
			return err
		}
	}
	p.has[child] = strings.Join(records, "; ")
	return nil
}

// follow copies the CDS records of a node to the parent zone as DS records.
func (p *knotParent) follow(ctx context.Context, n *harness.Node, child string) error {
	reply, err := askTCP(ctx, n.DNS.String(), child+".", dns.TypeCDS)
	if err != nil {
		return err
	}
	var records []string
	for _, rr := range reply.Answer {
		if cds, ok := rr.(*dns.CDS); ok {
			if cds.Algorithm == 0 { // RFC 8078 section 4
				return p.put(ctx, child)
			}
			records = append(records, fmt.Sprintf("%d %d %d %s", cds.KeyTag, cds.Algorithm, cds.DigestType, cds.Digest))
		}
	}
	if slices.Sort(records); len(records) == 0 {
		return fmt.Errorf("%s has no CDS records of %s", n.Name, child)
	}
	return p.put(ctx, child, records...)
}

// chainJudges are validators that trust the parent's key: unbound and BIND's named, which cache answers, and BIND's
// delv, which uses unbound's cache without validation by unbound.
type chainJudges struct {
	unbound       *signed.Resolver
	named         *signed.Resolver
	delv, anchors string
	proven        map[string]int // by judge and zone
	asked         int
}

func startChainJudges(t *testing.T, p *knotParent, zones []string, nodes []*harness.Node) *chainJudges {
	t.Helper()
	var servers []netip.AddrPort
	for _, n := range nodes {
		servers = append(servers, n.DNS)
	}
	stubs, where := signed.Stub(chainParent, p.at), map[string][]netip.AddrPort{chainParent: {p.at}}
	for _, zone := range zones {
		stubs += signed.Stub(zone, servers...)
		where[zone] = servers
	}
	j := &chainJudges{delv: testbed.Judge(t, "delv"), anchors: filepath.Join(t.TempDir(), "anchors"),
		proven: make(map[string]int)}
	testbed.Write(t, j.anchors, 0o600, fmt.Sprintf("trust-anchors { %s static-key %d %d %d \"%s\"; };\n", chainParent,
		p.key.Flags, p.key.Protocol, p.key.Algorithm, p.key.PublicKey))
	anchor := strings.Join(strings.Fields(p.key.String()), " ")
	j.named = signed.Named(t, p.key, where)
	j.unbound = signed.UnboundOver(t, chainParent, stubs, anchor, "infra-host-ttl: 1\n  val-bogus-ttl: 1")
	return j
}

// look makes every validator query existing and missing names. It returns an error if a validator finds an answer
// bogus. A timeout of a busy machine is not an error.
func (j *chainJudges) look(ctx context.Context, zone string) error {
	j.asked++
	for name, kind := range map[string]uint16{zone: dns.TypeSOA, "ow-1." + zone: dns.TypeA, "nx." + zone: dns.TypeA,
		fmt.Sprintf("n%d.%s", j.asked, zone): dns.TypeA} {
		switch secure, err := j.unbound.Bogus(name, kind); {
		case err != nil:
			return fmt.Errorf("I4: unbound: %w", err)
		case secure:
			j.proven["unbound "+zone]++
		}
		switch secure, err := j.named.Refuses(name, kind); {
		case err != nil:
			return fmt.Errorf("I4: named: %w", err)
		case secure:
			j.proven["named "+zone]++
		}
	}
	name := []string{zone + ". SOA", "nx." + zone + ". A"}[j.asked/4%2]
	host, port, _ := strings.Cut(j.unbound.At, ":")
	out, _ := exec.CommandContext(ctx, j.delv, append([]string{"@" + host, "-p", port, "-a", j.anchors,
		"+root=" + chainParent, "+cdflag"}, strings.Fields(name)...)...).CombinedOutput()
	switch said := string(out); {
	case strings.Contains(said, "fully validated"):
		j.proven["delv "+zone]++
	case ctx.Err() == nil && !strings.Contains(said, "timed out") && !strings.Contains(said, "SERVFAIL"):
		return fmt.Errorf("I4: delv %s: it says %q", name, said)
	}
	return nil
}

// rollOf returns the rollover of a zone as a node reports it.
func rollOf(ctx context.Context, n *harness.Node, zone string) (api.Roll, error) {
	list, err := n.Client.Rolls(ctx)
	if err != nil {
		return api.Roll{}, err
	}
	at := slices.IndexFunc(list.Rolls, func(r api.Roll) bool { return r.Zone == zone+"." })
	if at < 0 {
		return api.Roll{}, errors.New("no roll of " + zone)
	}
	return list.Rolls[at], nil
}

// startBelowKnot starts three nodes with one key for each zone, and their parent with the DS records of these keys.
func startBelowKnot(t *testing.T, zones []string) (parent *knotParent, s *testbed.Site) {
	t.Helper()
	for _, tool := range []string{"knotd", "knotc", "unbound", "named", "delv"} {
		testbed.Judge(t, tool)
	}
	parent = startKnotParent(t, zones)
	s = testbed.NewSite(t, 3, 0)
	for i, n := range s.Nodes {
		n.File.Overwatch.DNSSEC.KeySync = &harness.KeySync{PollInterval: testbed.SyncPoll, Timeout: 2 * time.Second,
			Secret: "a secret of the nodes, in more than 32 characters",
			Peers:  []string{"http://" + s.Nodes[(i+1)%3].API.String(), "http://" + s.Nodes[(i+2)%3].API.String()}}
		n.File.DNS.Zones = zones
		n.File.DNS.ApexTTL, n.File.DNS.NegativeTTL = chainTTL, chainTTL
		n.File.Overwatch.DNSSEC.Rollover = harness.Rollover{ParentServers: []string{parent.at.String()}, Margin: rollMargin}
	}
	s.StartNodes(t, s.Nodes...)
	testbed.Until(t, testbed.KeyBound, "one key of each zone everywhere", func(ctx context.Context) error {
		tags := make(map[string]int)
		for _, n := range s.Nodes {
			list, err := n.Client.DSRecords(ctx)
			if err != nil || len(list.DSRecords) != len(zones) {
				return fmt.Errorf("%s has %+v, %w", n.Name, list.DSRecords, err)
			}
			for _, ds := range list.DSRecords {
				if tag, there := tags[ds.Zone]; there && tag != ds.KeyTag {
					return fmt.Errorf("%s has the keys %d and %d", ds.Zone, tag, ds.KeyTag)
				}
				tags[ds.Zone] = ds.KeyTag
			}
		}
		return nil
	})
	for _, zone := range zones {
		if err := parent.follow(t.Context(), s.Nodes[0], zone); err != nil {
			t.Fatal(err)
		}
	}
	return parent, s
}

// Three nodes roll the keys of four zones concurrently: a usual rollover, a change of the algorithm, an emergency
// rollover, and a cancelled rollover. Knot serves the signed parent zone, and a registry follows the CDS records. Two
// independent validators, unbound and BIND, with the parent's key as their only anchor, find each answer secure
// throughout. At the end, with the DS record of an unknown key, they find no answer secure.
func TestRoll_StaysSecureBelowKnotForUnboundAndDelv(t *testing.T) {
	t.Parallel()
	const plain, algorithm, urgent, back = testbed.ZoneName, "algorithm.gslb.test", "urgent.gslb.test", "back.gslb.test"
	zones := []string{plain, algorithm, urgent, back}
	parent, s := startBelowKnot(t, zones)
	// If the nodes' configurations name different algorithms, no node changes its algorithm automatically.
	s.Nodes[2].File.Overwatch.DNSSEC.Algorithm = "ED25519"
	if err := s.Nodes[2].WriteFile(); err != nil {
		t.Fatal(err)
	}
	testbed.HangUp(t, s.Nodes[2])

	judges := startChainJudges(t, parent, zones, s.Nodes)
	for _, zone := range zones {
		testbed.Until(t, testbed.StartBound, zone+" to be secure", func(context.Context) error {
			_, err := judges.unbound.Ask(zone, dns.TypeSOA)
			return err
		})
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var all sync.WaitGroup
	all.Go(func() {
		for range testbed.Every(ctx, 100*time.Millisecond) { // the pace of the questions
			zone := zones[judges.asked%len(zones)]
			if err := judges.look(ctx, zone); err != nil && ctx.Err() == nil {
				r, _ := rollOf(ctx, s.Nodes[0], zone)
				t.Errorf("%s at stage %q of the roll to %d: %v", zone, r.Stage, r.KeyTag, err)
				return
			}
		}
	})
	all.Go(func() {
		turn := 0
		for range testbed.Every(ctx, 100*time.Millisecond) {
			turn++
			if err := parent.follow(ctx, s.Nodes[turn%len(s.Nodes)], zones[turn%len(zones)]); err != nil && ctx.Err() == nil {
				t.Logf("the registry: %v", err)
			}
		}
	})

	targets, began := make(map[string]int), time.Now()
	for _, r := range []api.RollCreate{{Zone: plain, Algorithm: "ECDSAP256SHA256"},
		{Zone: algorithm, Algorithm: "ED25519"}, {Zone: urgent, Algorithm: "ECDSAP256SHA256", Emergency: true},
		{Zone: back, Algorithm: "ECDSAP256SHA256"}} {
		begun, err := s.Nodes[1].Client.BeginRoll(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		targets[r.Zone] = begun.KeyTag
	}
	at := func(zone string, stage api.RollStage) {
		t.Helper()
		testbed.Until(t, rollBound, fmt.Sprintf("%s to be %s", zone, stage), func(ctx context.Context) error {
			for _, n := range s.Nodes {
				r, err := rollOf(ctx, n, zone)
				if err != nil || r.KeyTag != targets[zone] || r.Stage != stage {
					return fmt.Errorf("%s: %+v, %w", n.Name, r, err)
				}
			}
			return nil
		})
	}
	testbed.Until(t, rollBound, back+" to be offered", func(ctx context.Context) error {
		r, err := rollOf(ctx, s.Nodes[2], back)
		if err != nil || r.Stage != api.RollOffered && r.Stage != api.RollAlone { // a slow look finds the latter
			return fmt.Errorf("%+v, %w", r, err)
		}
		return nil
	})
	taken, err := s.Nodes[2].Client.CancelRoll(t.Context(), back)
	if err != nil {
		t.Fatal(err)
	}
	targets[back] = taken.KeyTag
	for _, zone := range zones {
		at(zone, api.RollDone)
		t.Logf("%s is done after %s", zone, time.Since(began))
	}
	stop()
	all.Wait()
	t.Logf("%d rounds, proven: %v", judges.asked, judges.proven)
	for _, zone := range zones {
		if keys := parent.has[zone]; !strings.HasPrefix(keys, fmt.Sprint(targets[zone])+" ") {
			t.Errorf("%s rolled to key %d, and the parent has %s", zone, targets[zone], keys)
		}
		if judges.proven["unbound "+zone] < 8 || judges.proven["named "+zone] < 8 || judges.proven["delv "+zone] < 2 {
			t.Errorf("the validators saw next to nothing of %s", zone)
		}
	}
	if err := parent.put(t.Context(), plain, "1 13 2 "+strings.Repeat("AB", 32)); err != nil {
		t.Fatal(err)
	}
	testbed.Until(t, rollBound, "the validators to refuse a wrong DS record", func(ctx context.Context) error {
		if err := judges.look(ctx, plain); err == nil {
			return errors.New("they believe it")
		}
		return nil
	})
}
