package chain

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// Verdict is the conclusion of a validating resolver (RFC 4033 section 5).
type Verdict string

// The verdicts. Unanswered means that the server did not answer. Resolvers then try the next server.
const (
	Secure     Verdict = "secure"
	Insecure   Verdict = "insecure"
	Bogus      Verdict = "bogus"
	Unanswered Verdict = "unanswered"
)

// Question describes the zone to validate.
type Question struct {
	Zone    string    // its apex
	DS      []*dns.DS // the parent's
	Names   []string  // in the zone; their addresses are queried in addition to the SOA
	Servers []string  // host:port
	Now     time.Time // the time at which signatures must be valid
}

// Finding is the verdict on one server's answers for a zone.
type Finding struct {
	Zone    string    `json:"zone"`
	Server  string    `json:"server"`
	Verdict Verdict   `json:"verdict"`
	Reason  string    `json:"reason"`                  // one sentence
	Expires time.Time `json:"signatures_end,omitzero"` // when the first of the checked signatures expires

	keyless bool // the server has no key of the parent's DS records
}

// Check validates the answers of all servers concurrently. The findings are in the order of the
// servers.
func Check(ctx context.Context, q Question) []Finding {
	q.Zone = dns.CanonicalName(q.Zone)
	views := make([]view, len(q.Servers))
	var group sync.WaitGroup
	for i, server := range q.Servers {
		group.Go(func() { views[i] = queryServer(ctx, &q, server) })
	}
	group.Wait()
	findings := make([]Finding, len(views))
	for i := range views {
		findings[i] = q.judge(&views[i])
	}
	alone := slices.Clone(findings)
	for i := range views {
		q.compare(&findings[i], alone, views, i)
		if at := slices.IndexFunc(alone, func(f Finding) bool { return f.Verdict == Secure }); at >= 0 &&
			findings[i].keyless {
			findings[i].Reason += fmt.Sprintf("; %s has that key: run gslbctl dnssec sync", findings[at].Server)
		}
	}
	return findings
}

// view holds one server's answers for a zone.
type view struct {
	server  string
	err     error
	keys    *dns.Msg
	answers []*dns.Msg // first the SOA
}

func queryServer(ctx context.Context, q *Question, server string) view {
	v := view{server: server}
	if v.keys, v.err = ask(ctx, server, q.Zone, dns.TypeDNSKEY, false); v.err != nil {
		return v
	}
	questions := []dns.Question{{Name: q.Zone, Qtype: dns.TypeSOA}}
	for _, name := range q.Names {
		questions = append(questions, dns.Question{Name: dns.Fqdn(name), Qtype: dns.TypeA},
			dns.Question{Name: dns.Fqdn(name), Qtype: dns.TypeAAAA})
	}
	for _, question := range questions {
		reply, err := ask(ctx, server, question.Name, question.Qtype, false)
		if err != nil {
			v.err = err
			return v
		}
		if !withoutBackend(reply) {
			v.answers = append(v.answers, reply)
		}
	}
	return v
}

// withoutBackend reports whether a SERVFAIL means that no backend may serve the name (RFC 8914 section 4.23). The
// signatures of such an answer are unknown.
func withoutBackend(reply *dns.Msg) bool {
	opt := reply.IsEdns0()
	return reply.Rcode == dns.RcodeServerFailure && opt != nil && slices.ContainsFunc(opt.Option,
		func(o dns.EDNS0) bool {
			ede, ok := o.(*dns.EDNS0_EDE)
			return ok && ede.InfoCode == dns.ExtendedErrorCodeNoReachableAuthority
		})
}

// judge validates the chain of the answers of a server.
func (q *Question) judge(v *view) Finding {
	f := Finding{Zone: q.Zone, Server: v.server, Verdict: Bogus}
	if v.err != nil {
		f.Verdict, f.Reason = Unanswered, "the server "+v.err.Error()
		return f
	}
	keys := all[*dns.DNSKEY](v.keys.Answer)
	if why := q.notServed(v.keys); why != "" {
		f.Verdict, f.Reason = Unanswered, why
		return f
	}
	if len(q.DS) == 0 {
		f.Verdict, f.Reason = Insecure, withoutDS(keys)
		return f
	}
	if !slices.ContainsFunc(q.DS, usable) {
		f.Verdict, f.Reason = Insecure, fmt.Sprintf(
			"resolvers do not validate with the parent's DS %s: they do not know its algorithm or digest type",
			describe(q.DS))
		return f
	}
	if len(keys) == 0 {
		f.keyless = true
		f.Reason = fmt.Sprintf("the parent has DS %s, but the server answers %s without a DNSKEY record", tags(q.DS),
			dns.RcodeToString[v.keys.Rcode])
		return f
	}
	entry, why := q.entry(v, keys, &f)
	if why != "" {
		f.Reason = why
		return f
	}
	for _, reply := range v.answers {
		if why := q.answer(reply, keys, &f); why != "" {
			f.Reason = why
			return f
		}
	}
	f.Verdict = Secure
	f.Reason = fmt.Sprintf("DS %d, DNSKEY %d, and the signatures of %d %s hold until %s", entry, entry, len(v.answers),
		plural(len(v.answers)), f.Expires.UTC().Format(time.RFC3339))
	return f
}

// notServed returns the reason why the server does not serve the zone, or "".
func (q *Question) notServed(reply *dns.Msg) string {
	if reply.Rcode != dns.RcodeSuccess && reply.Rcode != dns.RcodeNameError {
		return fmt.Sprintf("the server answers %s for the DNSKEY records: it does not serve the zone (dns.zones)",
			dns.RcodeToString[reply.Rcode])
	}
	for _, soa := range all[*dns.SOA](reply.Ns) {
		if !strings.EqualFold(soa.Hdr.Name, q.Zone) {
			return fmt.Sprintf("to the server this is no zone but a name in %s: check that",
				dns.CanonicalName(soa.Hdr.Name))
		}
	}
	return ""
}

// usable reports whether validators use a DS record. For unknown algorithms and digest types they
// treat the zone as unsigned (RFC 4035 section 5.2, RFC 6840 section 5.2).
func usable(ds *dns.DS) bool {
	switch ds.Algorithm {
	case dns.RSASHA1, dns.RSASHA1NSEC3SHA1, dns.RSASHA256, dns.RSASHA512, dns.ECDSAP256SHA256, dns.ECDSAP384SHA384,
		dns.ED25519, dns.ED448:
		return ds.DigestType == dns.SHA1 || ds.DigestType == dns.SHA256 || ds.DigestType == dns.SHA384
	}
	return false
}

func plural(n int) string {
	if n == 1 {
		return "answer"
	}
	return "answers"
}

// withoutDS returns the next step for a zone without DS records in its parent.
func withoutDS(keys []*dns.DNSKEY) string {
	if len(keys) == 0 {
		return "the parent has no DS record and the server no key: the zone is not signed"
	}
	return fmt.Sprintf("the parent has no DS record, so resolvers do not validate: add %q there",
		record(keys[0].ToDS(dns.SHA256)))
}

func record(ds *dns.DS) string {
	return fmt.Sprintf("%s IN DS %d %d %d %s", ds.Hdr.Name, ds.KeyTag, ds.Algorithm, ds.DigestType,
		strings.ToUpper(ds.Digest))
}

// entry returns the tag of the key that a DS record identifies and that signs the DNSKEY RRset, or the reason why there
// is no such key.
func (q *Question) entry(v *view, keys []*dns.DNSKEY, f *Finding) (tag uint16, why string) {
	var led []*dns.DNSKEY
	for _, key := range keys {
		if slices.ContainsFunc(q.DS, func(ds *dns.DS) bool { return leads(ds, key) }) {
			led = append(led, key)
		}
	}
	if len(led) == 0 {
		f.keyless = true
		return 0, fmt.Sprintf(
			"the parent's DS %s matches none of the keys %s%s: publish %q in the parent, or restore the key of that DS",
			describe(q.DS), keyTags(keys), mismatch(q.DS, keys), record(keys[0].ToDS(dns.SHA256)))
	}
	set := toRRs(keys)
	key, why := q.signed(set, all[*dns.RRSIG](v.keys.Answer), led, f)
	if why != "" {
		return 0, "the DNSKEY records: " + why
	}
	return key, ""
}

func leads(ds *dns.DS, key *dns.DNSKEY) bool {
	if ds.KeyTag != key.KeyTag() || ds.Algorithm != key.Algorithm || key.Flags&dns.ZONE == 0 {
		return false
	}
	made := key.ToDS(ds.DigestType)
	return made != nil && strings.EqualFold(made.Digest, ds.Digest)
}

// signed returns the tag of the key that signs a set of records, or the reason for a missing signature.
func (q *Question) signed(set []dns.RR, signatures []*dns.RRSIG, keys []*dns.DNSKEY, f *Finding) (tag uint16,
	why string) {
	owner, rtype := set[0].Header().Name, set[0].Header().Rrtype
	why = "no signature"
	for _, sig := range signatures {
		if sig.TypeCovered != rtype || !strings.EqualFold(sig.Hdr.Name, owner) {
			continue
		}
		for _, key := range keys {
			switch expires := time.Unix(int64(sig.Expiration), 0); {
			case sig.KeyTag != key.KeyTag() || !strings.EqualFold(sig.SignerName, key.Hdr.Name):
				if why == "no signature" {
					why = fmt.Sprintf("signed with key %d, which is not one of %s", sig.KeyTag, keyTags(keys))
				}
			case !sig.ValidityPeriod(q.Now):
				why = fmt.Sprintf("the signature of key %d holds from %s to %s, and it is %s", sig.KeyTag,
					time.Unix(int64(sig.Inception), 0).UTC().Format(time.RFC3339), expires.UTC().Format(time.RFC3339),
					q.Now.UTC().Format(time.RFC3339))
			case sig.Verify(key, set) != nil:
				why = fmt.Sprintf("the signature of key %d is wrong", sig.KeyTag)
			default:
				if f.Expires.IsZero() || expires.Before(f.Expires) {
					f.Expires = expires
				}
				return key.KeyTag(), ""
			}
		}
	}
	return 0, why
}

// answer returns the validation problem of an answer, or "".
func (q *Question) answer(reply *dns.Msg, keys []*dns.DNSKEY, f *Finding) string {
	question := reply.Question[0]
	what := question.Name + " " + dns.Type(question.Qtype).String()
	if reply.Rcode != dns.RcodeSuccess && reply.Rcode != dns.RcodeNameError {
		return what + ": the server answers " + dns.RcodeToString[reply.Rcode]
	}
	found := false
	for _, section := range [][]dns.RR{reply.Answer, reply.Ns} {
		signatures := all[*dns.RRSIG](section)
		for _, set := range sets(section) {
			found = true
			if _, why := q.signed(set, signatures, keys, f); why != "" {
				header := set[0].Header()
				return fmt.Sprintf("%s: the %s of %s: %s", what, dns.Type(header.Rrtype), header.Name, why)
			}
		}
	}
	if !found {
		return what + ": the answer is empty"
	}
	return ""
}

// sets groups the records of a section into RRsets, without signatures.
func sets(section []dns.RR) (list [][]dns.RR) {
	for _, rr := range section {
		h := rr.Header()
		if h.Rrtype == dns.TypeRRSIG {
			continue
		}
		i := slices.IndexFunc(list, func(set []dns.RR) bool {
			return set[0].Header().Rrtype == h.Rrtype && strings.EqualFold(set[0].Header().Name, h.Name)
		})
		if i < 0 {
			list = append(list, nil)
			i = len(list) - 1
		}
		list[i] = append(list[i], rr)
	}
	return list
}

// compare validates the answers of one server with the keys of the other servers, because resolvers may have cached
// those keys.
func (q *Question) compare(f *Finding, alone []Finding, views []view, at int) {
	if f.Verdict != Secure {
		return
	}
	for i := range views {
		if i == at || len(views[at].answers) == 0 || alone[i].Verdict != Secure {
			continue // resolvers do not cache keys of a bogus zone
		}
		theirs := all[*dns.DNSKEY](views[i].keys.Answer)
		var unused Finding
		if why := q.answer(views[at].answers[0], theirs, &unused); why != "" {
			f.Verdict = Bogus
			f.Reason = fmt.Sprintf("to resolvers that have the keys of %s in their caches: %s; run gslbctl dnssec sync",
				views[i].server, why)
			return
		}
	}
}

func toRRs(keys []*dns.DNSKEY) []dns.RR {
	set := make([]dns.RR, len(keys))
	for i, k := range keys {
		set[i] = k
	}
	return set
}

// mismatch describes the difference between a DS record and the key with the same tag.
func mismatch(list []*dns.DS, keys []*dns.DNSKEY) string {
	for _, ds := range list {
		for _, key := range keys {
			switch {
			case ds.KeyTag != key.KeyTag():
			case ds.Algorithm != key.Algorithm:
				return fmt.Sprintf(", since it is of algorithm %d and key %d of %d", ds.Algorithm, key.KeyTag(),
					key.Algorithm)
			default:
				return fmt.Sprintf(", since the digest of key %d differs", key.KeyTag())
			}
		}
	}
	return ""
}

// describe lists DS records without their digests.
func describe(list []*dns.DS) string {
	return listed(list, func(ds *dns.DS) string {
		return fmt.Sprintf("%d (algorithm %d, digest type %d)", ds.KeyTag, ds.Algorithm, ds.DigestType)
	})
}

func tags(list []*dns.DS) string {
	return listed(list, func(ds *dns.DS) string { return fmt.Sprint(ds.KeyTag) })
}

func keyTags(list []*dns.DNSKEY) string {
	return listed(list, func(k *dns.DNSKEY) string { return fmt.Sprint(k.KeyTag()) })
}

// listed returns the elements of a list, separated by commas.
func listed[T any](list []T, text func(T) string) string {
	var all []string
	for _, one := range list {
		all = append(all, text(one))
	}
	return strings.Join(all, ", ")
}
