// Package delegation queries DNS servers during a key rollover of a zone: the servers of the parent zone for the DS
// records, and the other nodes for signatures with the new key. keysync calls it. Its only state is the longest TTL of
// each zone in a Watch. It is not part of the query path, and changes no state of other packages.
package delegation

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/shared/resolve"
)

// payload is the UDP payload size of a question (EDNS), in octets.
const payload = 1232

// Options selects the queried servers. With the zero value, the first resolver of the machine finds the parent servers.
type Options struct {
	Resolver string   // address with port; "": the first of /etc/resolv.conf
	Servers  []string // parent servers as address:port; empty: the resolver finds them
}

// Watch queries parents for DS records, and stores the TTLs. It is not safe for concurrent use.
type Watch struct {
	ttl map[string]time.Duration // longest observed TTL by zone
}

// NewWatch makes a Watch.
func NewWatch() *Watch { return &Watch{make(map[string]time.Duration)} }

// Look queries all servers of a zone's parent, at all their addresses, and merges their answers.
func (w *Watch) Look(ctx context.Context, o Options, apex string) dnssec.Parent {
	apex = dns.CanonicalName(apex)
	servers := o.Servers
	if len(servers) == 0 {
		var err error
		if servers, err = parents(ctx, o.Resolver, apex); err != nil {
			return dnssec.Parent{Why: "the parent's servers are not known: " + err.Error()}
		}
	}
	type reply struct {
		ds  []*dns.DS
		err error
	}
	replies := make([]reply, len(servers))
	var all sync.WaitGroup
	for i, server := range servers {
		all.Go(func() { replies[i].ds, replies[i].err = askDS(ctx, server, apex) })
	}
	all.Wait()
	found := dnssec.Parent{}
	answered := false
	for i, r := range replies {
		switch {
		case noWay(r.err, servers[i], net.InterfaceAddrs):
			continue
		case r.err != nil:
			found.Why = fmt.Sprintf("the parent's server %s: %v", servers[i], r.err)
		case len(r.ds) == 0:
			found.Not = cmp.Or(found.Not, fmt.Sprintf("the parent's server %s has no DS record", servers[i]))
		}
		answered = true
		for _, ds := range r.ds {
			w.ttl[apex] = max(w.ttl[apex], time.Duration(ds.Hdr.Ttl)*time.Second)
		}
		found.DS = append(found.DS, r.ds...)
	}
	if !answered {
		found.Why = "none of the parent's servers can be reached"
	}
	found.TTL = w.ttl[apex]
	return found
}

// parents returns the server addresses of the closest zone above apex. resolver "" means the first resolver of the
// machine.
func parents(ctx context.Context, resolver, apex string) ([]string, error) {
	if resolver == "" {
		machine, err := resolve.Machine()
		if err != nil {
			return nil, err
		}
		resolver = machine[0]
	}
	return resolve.Parents(ctx, resolve.Ask, resolver, apex)
}

// askDS queries a server of the parent for the DS records of a zone.
func askDS(ctx context.Context, server, apex string) (found []*dns.DS, err error) {
	reply, err := resolve.Ask(ctx, server, apex, dns.TypeDS, false)
	switch {
	case err != nil:
		return nil, err
	case !reply.Authoritative || reply.Rcode != dns.RcodeSuccess:
		return nil, fmt.Errorf("it answers %s without the parent's word (aa)", dns.RcodeToString[reply.Rcode])
	}
	for _, rr := range reply.Answer {
		if ds, ok := rr.(*dns.DS); ok && strings.EqualFold(ds.Hdr.Name, apex) {
			ds.Digest = strings.ToLower(ds.Digest)
			found = append(found, ds)
		}
	}
	return found, nil
}

// Record types for SignedBy. During a rollover, different keys may sign key records and other answers.
const (
	Keys    = dns.TypeDNSKEY
	Answers = dns.TypeSOA
)

// SignedBy returns an error unless a server of a zone answers with a signature by the key with a tag. Tag 0 means any
// key.
func SignedBy(ctx context.Context, server, apex string, kind uint16, tag uint16) error {
	answer, err := askNode(ctx, server, apex, kind)
	if err != nil {
		return err
	}
	for _, rr := range answer {
		if sig, ok := rr.(*dns.RRSIG); ok && (tag == 0 || sig.KeyTag == tag) {
			return nil
		}
	}
	if tag == 0 {
		return fmt.Errorf("does not sign %s yet", apex)
	}
	return fmt.Errorf("does not sign %s with key %d yet", apex, tag)
}

// OffersNoKey returns an error if a server of a zone offers keys to the parent in CDS records.
func OffersNoKey(ctx context.Context, server, apex string) error {
	answer, err := askNode(ctx, server, apex, dns.TypeCDS)
	if err != nil {
		return err
	}
	for _, rr := range answer {
		if cds, ok := rr.(*dns.CDS); ok && cds.Algorithm != 0 {
			return fmt.Errorf("offers key %d of %s to the parent still", cds.KeyTag, apex)
		}
	}
	return nil
}

// askNode queries a server of a zone for records of its apex.
func askNode(ctx context.Context, server, apex string, kind uint16) ([]dns.RR, error) {
	q := new(dns.Msg).SetQuestion(apex, kind)
	q.SetEdns0(payload, true)
	client := &dns.Client{Net: "tcp", Timeout: resolve.Patience}
	reply, _, err := client.ExchangeContext(ctx, q, server)
	if err != nil {
		return nil, fmt.Errorf("does not answer: %w", err)
	}
	return reply.Answer, nil
}
