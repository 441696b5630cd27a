package dnssec_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// Times of these tests, which replace times of hours.
const (
	rollTTL    = 2 // of what the nodes make at an apex, of denials, and of the parent's DS records
	rollMargin = 3 * time.Second
	rollBound  = 2 * time.Minute // that only a hang reaches
)

// registry is the parent of a zone: two servers that follow the CDS records of a node. The second server is late.
type registry struct {
	zone string
	mu   sync.Mutex
	ds   [2][]dns.RR
	at   []string
}

func startRegistry(t *testing.T, zone string) *registry {
	t.Helper()
	p := &registry{zone: zone}
	for i := range p.ds {
		ready := make(chan struct{})
		server := &dns.Server{Addr: "127.0.0.1:0", Net: "udp", NotifyStartedFunc: func() { close(ready) },
			Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
				m := new(dns.Msg).SetReply(q)
				m.Authoritative = true
				p.mu.Lock()
				defer p.mu.Unlock()
				m.Answer = p.ds[i]
				_ = w.WriteMsg(m)
			})}
		ended := make(chan error, 1)
		go func() { ended <- server.ListenAndServe() }()
		select {
		case <-ready:
		case err := <-ended:
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Shutdown(); <-ended })
		p.at = append(p.at, server.PacketConn.LocalAddr().String())
	}
	return p
}

// follow copies the CDS records of a node to the first server as DS records, and the previous DS records to the second
// server.
func (p *registry) follow(t *testing.T, n *harness.Node) {
	reply, err := askTCP(t.Context(), n.DNS.String(), p.zone, dns.TypeCDS)
	if err != nil {
		return // the node is down
	}
	var ds []dns.RR
	for _, rr := range reply.Answer {
		if cds, ok := rr.(*dns.CDS); ok {
			one := cds.DS
			one.Hdr.Rrtype, one.Hdr.Ttl = dns.TypeDS, rollTTL
			ds = append(ds, &one)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(ds) > 0 {
		p.ds[0], p.ds[1] = ds, p.ds[0]
		if p.ds[1] == nil {
			p.ds[1] = ds
		}
	}
}

func (p *registry) tags() (tags []uint16) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, rr := range slices.Concat(p.ds[0], p.ds[1]) {
		tags = append(tags, rr.(*dns.DS).KeyTag)
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

func askTCP(ctx context.Context, server, name string, kind uint16) (*dns.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	q := new(dns.Msg).SetQuestion(name, kind)
	q.SetEdns0(4096, true)
	reply, _, err := (&dns.Client{Net: "tcp"}).ExchangeContext(ctx, q, server)
	return reply, err
}

// remembered is an RRset with its signatures in the cache of a validator. Its TTL starts before the query.
type remembered struct {
	set   []dns.RR
	sigs  []*dns.RRSIG
	until time.Time
}

func remember(reply *dns.Msg, asked time.Time) remembered {
	r := remembered{until: asked.Add(time.Hour)}
	for _, rr := range reply.Answer {
		r.until = earlier(r.until, asked.Add(time.Duration(rr.Header().Ttl)*time.Second))
		if sig, ok := rr.(*dns.RRSIG); ok {
			r.sigs = append(r.sigs, sig)
		} else {
			r.set = append(r.set, rr)
		}
	}
	return r
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// by reports whether one of the keys has signed the RRset.
func (r *remembered) by(keys []*dns.DNSKEY) bool {
	return slices.ContainsFunc(r.sigs, func(sig *dns.RRSIG) bool {
		return slices.ContainsFunc(keys, func(k *dns.DNSKEY) bool {
			return k.KeyTag() == sig.KeyTag && sig.ValidityPeriod(time.Now()) && sig.Verify(k, r.set) == nil
		})
	})
}

// validator caches all answers of the parent and the nodes for their TTL, and validates each answer with all cached
// data.
type validator struct {
	parent            *registry
	ds, keys, answers []remembered
	held              int
}

func (v *validator) look(ctx context.Context, nodes []*harness.Node) error {
	drop := func(r remembered) bool { return r.until.Before(time.Now()) }
	v.ds = slices.DeleteFunc(v.ds, drop)
	v.keys, v.answers = slices.DeleteFunc(v.keys, drop), slices.DeleteFunc(v.answers, drop)
	asked := time.Now()
	v.parent.mu.Lock()
	for _, ds := range v.parent.ds {
		v.ds = append(v.ds, remember(&dns.Msg{Answer: ds}, asked))
	}
	v.parent.mu.Unlock()
	for _, n := range nodes {
		for kind, into := range map[uint16]*[]remembered{dns.TypeDNSKEY: &v.keys, dns.TypeSOA: &v.answers} {
			asked := time.Now()
			reply, err := askTCP(ctx, n.DNS.String(), v.parent.zone, kind)
			if err != nil || len(reply.Answer) == 0 {
				continue // it is down
			}
			*into = append(*into, remember(reply, asked))
		}
	}
	for _, keys := range v.keys {
		var published []*dns.DNSKEY
		for _, rr := range keys.set {
			published = append(published, rr.(*dns.DNSKEY))
		}
		for _, ds := range v.ds {
			var trusted []*dns.DNSKEY
			for _, k := range published {
				if slices.ContainsFunc(ds.set, func(rr dns.RR) bool {
					d := rr.(*dns.DS)
					own := k.ToDS(d.DigestType)
					return own != nil && strings.EqualFold(own.Digest, d.Digest)
				}) {
					trusted = append(trusted, k)
				}
			}
			if !keys.by(trusted) {
				return fmt.Errorf("I4: bogus: the DS %v, and the keys %v", ds.set, keys.set)
			}
		}
		for _, answer := range v.answers {
			if !answer.by(published) {
				return fmt.Errorf("I4: bogus: the keys %v, and the signatures %v", keys.set, answer.sigs)
			}
			v.held++
		}
	}
	return nil
}

// Three nodes roll their key, cancel the rollover halfway, and change the algorithm while one of them is killed and
// restarted. The parent's second server is late. A validator that caches all data for its TTL accepts every answer of
// every node at any time.
func TestRoll_ThreeNodesChangeTheirKeyWithoutAGap(t *testing.T) {
	t.Parallel()
	s, _ := keySite(t)
	const zone = testbed.ZoneName + "."
	parent := startRegistry(t, zone)
	for _, n := range s.Nodes {
		n.File.DNS.ApexTTL, n.File.DNS.NegativeTTL = rollTTL, rollTTL
		n.File.Overwatch.DNSSEC.Rollover = harness.Rollover{ParentServers: parent.at, Margin: rollMargin}
		for i := range n.File.Domains {
			n.File.Domains[i].TTL = rollTTL
		}
	}
	s.StartNodes(t, s.Nodes...)
	ready := func(ctx context.Context) error {
		tags := map[int]bool{}
		for _, n := range s.Nodes {
			list, err := n.Client.DSRecords(ctx) // no key of which is to be agreed on
			if err != nil || len(list.DSRecords) != 1 {
				return fmt.Errorf("%s has %+v, %w", n.Name, list.DSRecords, err)
			}
			tags[list.DSRecords[0].KeyTag] = true
		}
		if len(tags) != 1 {
			return fmt.Errorf("the nodes have the keys %v", tags)
		}
		parent.follow(t, s.Nodes[0])
		if len(parent.tags()) == 0 {
			return errors.New("the parent has no DS record")
		}
		return nil
	}
	testbed.Until(t, testbed.KeyBound, "one key everywhere", ready)

	ctx, cancel := context.WithCancel(t.Context())
	judged := make(chan error, 1)
	v := &validator{parent: parent}
	go func() {
		for turn := 0; ; turn++ {
			if err := v.look(ctx, s.Nodes); err != nil || ctx.Err() != nil {
				judged <- err
				return
			}
			if turn%3 == 2 {
				parent.follow(t, s.Nodes[turn/3%len(s.Nodes)])
			}
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond): // the pace of the questions
			}
		}
	}()

	begin := func(n *harness.Node) api.Roll {
		_, refused := n.Client.BeginRoll(t.Context(), api.RollCreate{Zone: testbed.ZoneName})
		list, err := n.Client.Rolls(t.Context()) // the nodes may have begun by themselves
		if err != nil || len(list.Rolls) != 1 || list.Rolls[0].Stage == api.RollDone {
			t.Fatalf("the rolls %+v, %v, %v", list.Rolls, refused, err)
		}
		return list.Rolls[0]
	}
	at := func(stage api.RollStage, key int, nodes ...*harness.Node) {
		t.Helper()
		testbed.Until(t, rollBound, fmt.Sprintf("key %d to be %s", key, stage), func(ctx context.Context) error {
			for _, n := range nodes {
				list, err := n.Client.Rolls(ctx)
				if err != nil || len(list.Rolls) != 1 || list.Rolls[0].KeyTag != key || list.Rolls[0].Stage != stage {
					return fmt.Errorf("%s: %+v, %w", n.Name, list.Rolls, err)
				}
			}
			return nil
		})
	}
	first := begin(s.Nodes[1])
	at(api.RollOffered, first.KeyTag, s.Nodes[2])
	back, err := s.Nodes[2].Client.CancelRoll(t.Context(), zone)
	if err != nil || back.KeyTag != first.OldKeys[0] {
		t.Fatalf("taken back to %+v, %v", back, err)
	}
	at(api.RollDone, back.KeyTag, s.Nodes...)

	for _, n := range s.Nodes {
		n.File.Overwatch.DNSSEC.Algorithm = "ED25519"
		if err := n.WriteFile(); err != nil {
			t.Fatal(err)
		}
		testbed.HangUp(t, n)
	}
	second := begin(s.Nodes[0])
	at(api.RollPublished, second.KeyTag, s.Nodes...)
	testbed.Kill(t, s.Nodes[2])
	testbed.Until(t, rollBound, "a node to wait for the one that was killed", func(ctx context.Context) error {
		list, err := s.Nodes[0].Client.Rolls(ctx)
		if err != nil || len(list.Rolls) != 1 || list.Rolls[0].WaitsFor == nil ||
			!strings.Contains(*list.Rolls[0].WaitsFor, s.Nodes[2].API.String()) {
			return fmt.Errorf("%+v, %w", list.Rolls, err)
		}
		return nil
	})
	s.StartNodes(t, s.Nodes[2])
	at(api.RollDone, second.KeyTag, s.Nodes...)
	if keys, err := s.Nodes[1].Client.DNSSECKeys(t.Context()); err != nil || len(keys.Keys) != 1 ||
		keys.Keys[0].AlgorithmName != "ED25519" {
		t.Errorf("the keys are %+v, %v", keys.Keys, err)
	}
	testbed.Until(t, testbed.KeyBound, "the parent to have the new key alone", func(context.Context) error {
		if tags := parent.tags(); len(tags) != 1 || int(tags[0]) != second.KeyTag {
			return fmt.Errorf("it has %v", tags)
		}
		return nil
	})
	told := fmt.Sprintf("%s IN DS %d 15 2 ", zone, second.KeyTag)
	for _, n := range s.Nodes {
		list, err := n.Client.Events(t.Context(), url.Values{"kinds": {"key"}})
		if err != nil || !slices.ContainsFunc(list.Events, func(e api.Event) bool {
			return e.State == "ds_offered" && strings.Contains(e.Sentence, told)
		}) {
			t.Errorf("%s did not tell the DS record that the parent is to have: %+v, %v", n.Name, list.Events, err)
		}
	}
	cancel()
	if err := <-judged; err != nil {
		t.Error(err)
	}
	if t.Logf("%d answers were held against keys", v.held); v.held < 100 {
		t.Error("the validator saw next to nothing")
	}
}
