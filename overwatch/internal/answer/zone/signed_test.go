package zone // inside: it uses canonical, canonicalContent and canonicalName

import (
	"crypto"
	"crypto/ecdsa"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/policy"
)

// testSigner signs with miekg/dns, which is independent of the packing in this package.
type testSigner struct {
	key     *dns.DNSKEY
	private crypto.Signer
	epoch   atomic.Uint32
	signed  atomic.Int64
	broken  atomic.Bool
	renew   time.Time
}

var signedFrom = time.Now().Add(-time.Hour)

func newTestSigner(t testing.TB, apex string) *testSigner {
	t.Helper()
	s := &testSigner{key: &dns.DNSKEY{
		Hdr:   dns.RR_Header{Name: apex, Rrtype: dns.TypeDNSKEY, Class: dns.ClassINET, Ttl: 3600},
		Flags: 257, Protocol: 3, Algorithm: dns.ECDSAP256SHA256,
	}, renew: signedFrom.Add(7 * 24 * time.Hour)}
	private, err := s.key.Generate(256)
	if err != nil {
		t.Fatal(err)
	}
	s.private = private.(*ecdsa.PrivateKey)
	return s
}

func (s *testSigner) Epoch() uint32 { return s.epoch.Load() }

func (s *testSigner) Sign(set RRset) ([][]byte, time.Time, error) {
	if s.broken.Load() {
		return nil, time.Time{}, errors.New("broken")
	}
	s.signed.Add(1)
	owner := canonical(set.Owner).String()
	records := make([]dns.RR, len(set.RData))
	for i, data := range set.RData {
		rr, _, err := dns.UnpackRRWithHeader(
			dns.RR_Header{
				Name:     owner,
				Rrtype:   set.Type,
				Class:    dns.ClassINET,
				Ttl:      set.TTL,
				Rdlength: uint16(len(data)),
			},
			data,
			0,
		)
		if err != nil {
			return nil, time.Time{}, err
		}
		records[i] = rr
	}
	sig := &dns.RRSIG{
		Algorithm: s.key.Algorithm, KeyTag: s.key.KeyTag(), SignerName: s.key.Hdr.Name,
		Inception: uint32(signedFrom.Unix()), Expiration: uint32(signedFrom.Add(14 * 24 * time.Hour).Unix()),
	}
	if err := sig.Sign(s.private, records); err != nil {
		return nil, time.Time{}, err
	}
	data, err := dataOf(sig)
	return [][]byte{data}, s.renew, err
}

// signedSample is sample with all zones signed, except other.example.
func signedSample(t testing.TB, denial Denial) (*View, map[string]*testSigner) {
	t.Helper()
	signers := make(map[string]*testSigner)
	zones := sampleZones(t)
	for i := range zones {
		c := &zones[i]
		if c.Apex == "other.example." {
			continue
		}
		s := newTestSigner(t, c.Apex)
		signers[c.Apex] = s
		c.Signer, c.Denial = s, denial
		c.Records = append(c.Records, s.key)
		if c.Apex != "deep.under.gslb.test." {
			c.DS = []dns.RR{s.key.ToDS(dns.SHA256)}
		}
	}
	v := newView(t, nil, zones...)
	steerSample(t, v)
	return v, signers
}

var denials = map[string]Denial{"nsec": NSEC, "nsec3": NSEC3}

// questionsOfTheSample returns all names of the sample that a resolver could query, under the key "".
func questionsOfTheSample() map[string][]string {
	names := map[string][]string{
		"": {
			"gslb.test.",
			"app.gslb.test.",
			"APP.gslb.test.",
			"v6.gslb.test.",
			"dual.gslb.test.",
			"ent.gslb.test.",
			"b.ent.gslb.test.",
			"a.b.ent.gslb.test.",
			"x.ent.gslb.test.",
			"x.b.ent.gslb.test.",
			"x.a.b.ent.gslb.test.",
			"nx.gslb.test.",
			"0.gslb.test.",
			"zzz.gslb.test.",
			"a.b.c.d.nx.gslb.test.",
			"big.gslb.test.",
			"ns1.gslb.test.",
			"x.ns1.gslb.test.",
			"wild.gslb.test.",
			"*.wild.gslb.test.",
			"q.wild.gslb.test.",
			"q.r.wild.gslb.test.",
			"w.gslb.test.",
			"a.w.gslb.test.",
			"b.w.gslb.test.",
			"x.static.gslb.test.",
			"*.static.gslb.test.",
			"static.gslb.test.",
			"www.gslb.test.",
			"cdn.gslb.test.",
			"x.cdn.gslb.test.",
			"x.cdns.gslb.test.",
			"near.gslb.test.",
			"tocdn.gslb.test.",
			"nearcdn.gslb.test.",
			"out.gslb.test.",
			"dead.gslb.test.",
			"no6.gslb.test.",
			"srv.gslb.test.",
			"upper.gslb.test.",
			"child.gslb.test.",
			"www.child.gslb.test.",
			"nx.child.gslb.test.",
			"under.gslb.test.",
			"x.under.gslb.test.",
			"deep.under.gslb.test.",
			"x.deep.under.gslb.test.",
			"\\000.app.gslb.test.",
			"\\001\\000.gslb.test.",
			"!.gslb.test.",
		},
	}
	return names
}

func TestSigned_EveryAnswerValidates(t *testing.T) {
	for name, denial := range denials {
		t.Run(name, func(t *testing.T) {
			v, signers := signedSample(t, denial)
			keys := make(map[string]*dns.DNSKEY)
			for apex, s := range signers {
				keys[apex] = s.key
			}
			fast, slow := NewRotations(1, 2), NewRotations(1, 2)
			for _, name := range questionsOfTheSample()[""] {
				for _, rtype := range []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeTXT, dns.TypeMX, dns.TypeSOA, dns.TypeNS,
					dns.TypeDNSKEY, dns.TypeDS,
					dns.TypeCNAME, dns.TypeSRV, dns.TypeCAA, dns.TypeANY, dns.TypeNSEC, dns.TypeNSEC3PARAM, 1000} {
					r := askSigned(t, v, name, rtype, fast, slow)
					if err := validate(name, rtype, r, keys); err != nil {
						t.Errorf("%s %s: %v\n%v", name, dns.Type(rtype), err, r)
					}
				}
			}
		})
	}
}

// One denial record may prove both that a name does not exist, so that a wildcard's alias applies, and which types the
// target of the alias lacks.
func TestSigned_TheProofOfAWildcardsAliasSaysWhatItsTargetLacks(t *testing.T) {
	for way, denial := range denials {
		t.Run(way, func(t *testing.T) {
			v, signers := signedSample(t, denial)
			keys := map[string]*dns.DNSKEY{"gslb.test.": signers["gslb.test."].key}
			chain := v.zones["\x04gslb\x04test\x00"].chain
			target := chain.findLink("\x01a\x01w\x04gslb\x04test\x00")
			for i := range 10_000 {
				name := "b" + itoa(i) + ".w.gslb.test."
				if key, _ := canonicalName(name); chain.linkCoveringName([]byte(key)) != target {
					continue
				}
				for _, rtype := range []uint16{dns.TypeAAAA, dns.TypeTXT, dns.TypeA} {
					r := askSigned(t, v, name, rtype, NewRotations(1, 1), NewRotations(1, 1))
					if err := validate(name, rtype, r, keys); err != nil {
						t.Errorf("%s %s: %v\n%v", name, dns.Type(rtype), err, r)
					}
				}
				return
			}
			t.Fatal("no name is covered by the record of the target")
		})
	}
}

// A signature always covers the lower-case form of a name, for any letter case in the record (RFC 4034 section 6.2).
func TestSigned_LettersAreSmallHoweverTheyAreWritten(t *testing.T) {
	for _, pair := range [][2]string{
		{"x. MX 5 mail.gslb.test.", `x. MX 5 \077AiL.gsl\066.test.`}, {"x. SRV 1 2 3 mail.", `x. SRV 1 2 3 m\065il.`},
		{"x. CNAME a\\.b.", `x. CNAME \065\046B.`},
		{"x. SOA ns. host\\.master. 1 2 3 4 5", `x. SOA \078S. \072ost\.master. 1 2 3 4 5`},
	} {
		var contents [2]string
		for i, line := range pair {
			rr, err := dns.NewRR(line)
			if err != nil {
				t.Fatal(err)
			}
			if contents[i], err = canonicalContent([]dns.RR{rr}); err != nil {
				t.Fatal(err)
			}
		}
		if contents[0] != contents[1] {
			t.Errorf("%s is signed as %q, %s as %q", pair[0], contents[0], pair[1], contents[1])
		}
	}
}

func TestSigned_NothingOfItWithoutDO(t *testing.T) {
	v, _ := signedSample(t, NSEC)
	for _, name := range questionsOfTheSample()[""] {
		for _, rtype := range []uint16{dns.TypeA, dns.TypeTXT, dns.TypeSOA, dns.TypeANY} {
			r := ask(t, v, name, rtype, NewRotations(1, 1), NewRotations(1, 1))
			for _, rr := range slices.Concat(r.Answer, r.Authority) {
				switch rr.Header().Rrtype {
				case dns.TypeRRSIG, dns.TypeNSEC, dns.TypeNSEC3:
					t.Errorf("%s %s: %s", name, dns.Type(rtype), rr)
				}
			}
		}
	}
}

func TestSigned_AnUnsignedZoneAnswersDOWithoutSignatures(t *testing.T) {
	v, _ := signedSample(t, NSEC)
	for _, name := range []string{"other.example.", "nx.other.example."} {
		r := askSigned(t, v, name, dns.TypeA, NewRotations(1, 1), NewRotations(1, 1))
		if len(r.Answer)+len(r.Authority) != 1 {
			t.Errorf("%s: %v", name, r)
		}
	}
}

func TestSigned_AskingForSignaturesGetsThoseOfOneRRset(t *testing.T) {
	v, _ := signedSample(t, NSEC)
	r := askSigned(t, v, "app.gslb.test.", dns.TypeRRSIG, NewRotations(1, 1), NewRotations(1, 1))
	if len(r.Answer) != 1 || r.Answer[0].(*dns.RRSIG).TypeCovered != dns.TypeA {
		t.Errorf("%v", r)
	}
}

func TestSigned_WhatCannotBeSignedIsAFailure(t *testing.T) {
	for way, denial := range denials {
		v, signers := signedSample(t, denial)
		askSigned(
			t,
			v,
			"app.gslb.test.",
			dns.TypeMX,
			NewRotations(1, 1),
			NewRotations(1, 1),
		) // in the following cases only proofs are missing
		signers["gslb.test."].broken.Store(true)
		for _, name := range []string{"app.gslb.test.", "nx.gslb.test.", "gslb.test.", "www.gslb.test.", "x.ent.gslb.test.",
			"q.wild.gslb.test."} {
			r := askSigned(t, v, name, dns.TypeA, NewRotations(1, 1), NewRotations(1, 1))
			if r.Kind != Failed {
				t.Errorf("%s: %s: %v", way, name, r)
			}
			if r := ask(t, v, name, dns.TypeA, NewRotations(1, 1), NewRotations(1, 1)); r.Kind == Failed {
				t.Errorf("%s: %s without DO: %v", way, name, r)
			}
		}
	}
}

// If an alias cannot be signed, the answer is a failure, even if the records of its target can be signed.
func TestSigned_AnAliasWithoutASignatureIsAFailure(t *testing.T) {
	v, signers := signedSample(t, NSEC)
	key, _ := canonicalName("www.gslb.test.")
	_, o := v.findOwner(key)
	for sig := range v.Signatures() {
		if sig == o.answers.Load().set(dns.TypeCNAME).sig {
			continue
		}
		if _, err := sig.Prepare(time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	signers["gslb.test."].broken.Store(true)
	if r := askSigned(t, v, "app.gslb.test.", dns.TypeA, NewRotations(1, 1), NewRotations(1, 1)); r.Kind != Positive {
		t.Fatalf("%v, want the target signed", r)
	}
	r := askSigned(t, v, "www.gslb.test.", dns.TypeA, NewRotations(1, 1), NewRotations(1, 1))
	if r.Kind != Failed || len(r.Answer)+len(r.Authority) > 0 {
		t.Errorf("%v, want a failure without records", r)
	}
}

func TestSigned_HealthFlapsSignNothing(t *testing.T) {
	v, signers := signedSample(t, NSEC)
	w := NewWriter()
	const all, some = "10.0.0.1 10.0.0.2 10.0.0.3", "10.0.0.2"
	prepare := func() {
		for _, sig := range w.TakeNewSignatures() {
			if _, err := sig.Prepare(time.Now()); err != nil {
				t.Fatal(err)
			}
		}
	}
	steer(t, w, v, "app.gslb.test.", all, 2)
	steer(t, w, v, "app.gslb.test.", some, 2)
	prepare()
	before := signers["gslb.test."].signed.Load()
	for range 20 {
		steer(t, w, v, "app.gslb.test.", all, 2)
		steer(t, w, v, "app.gslb.test.", some, 2)
		prepare()
	}
	if after := signers["gslb.test."].signed.Load(); after != before {
		t.Errorf("%d signatures were made", after-before)
	}
}

func TestSigned_AnotherViewKeepsTheSignaturesOfWhatStaysTheSame(t *testing.T) {
	v, signers := signedSample(t, NSEC)
	s := signers["gslb.test."]
	for sig := range v.Signatures() {
		if _, err := sig.Prepare(time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	before := s.signed.Load()
	zones := sampleZones(t)
	zones[0].Signer = s
	zones[0].Records = append(zones[0].Records, s.key)
	zones[0].Balanced = append(zones[0].Balanced, "new.gslb.test.")
	next := newView(t, v, zones[0])
	for sig := range next.Signatures() {
		if _, err := sig.Prepare(time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	// The signatures belong to the three NSEC records of the new name and of the name before it.
	if made := s.signed.Load() - before; made < 4 || made > 8 {
		t.Errorf("%d signatures were made for one more name", made)
	}
	r := askSigned(t, next, "app.gslb.test.", dns.TypeA, NewRotations(1, 1), NewRotations(1, 1))
	if err := validate("app.gslb.test.", dns.TypeA, r, map[string]*dns.DNSKEY{"gslb.test.": s.key}); err != nil {
		t.Error(err)
	}
}

func TestSigned_AnotherSignerSignsEverythingAgain(t *testing.T) {
	v, _ := signedSample(t, NSEC)
	s := newTestSigner(t, "gslb.test.")
	zones := sampleZones(t)
	zones[0].Signer = s
	next := newView(t, v, zones[0])
	for _, name := range []string{"app.gslb.test.", "nx.gslb.test.", "gslb.test."} {
		r := askSigned(t, next, name, dns.TypeA, NewRotations(1, 1), NewRotations(1, 1))
		if err := validate(name, dns.TypeA, r, map[string]*dns.DNSKEY{"gslb.test.": s.key}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSignature_IsMadeAgainWhenItIsTimeOrVoid(t *testing.T) {
	v, signers := signedSample(t, NSEC)
	s := signers["gslb.test."]
	var sig *Signature
	for sig = range v.Signatures() {
		if sig.signer == s {
			break
		}
	}
	for _, step := range []struct {
		what string
		now  time.Time
		want bool
	}{
		{"first", signedFrom, true},
		{"at once again", signedFrom, false},
		{"before it is time", s.renew.Add(-time.Second), false},
		{"when it is time", s.renew, true},
	} {
		if signed, err := sig.Prepare(step.now); err != nil || signed != step.want {
			t.Errorf("%s: signed %t (%v), want %t", step.what, signed, err, step.want)
		}
	}
	before := s.signed.Load()
	s.epoch.Add(1)
	if sig.currentRecords() == nil || s.signed.Load() != before+1 {
		t.Error("a void signature was served")
	}
}

func TestSigned_TheLastResortsShorterTTLKeepsTheSignature(t *testing.T) {
	v, signers := signedSample(t, NSEC)
	w := NewWriter()
	d := decide("10.0.0.1")
	d[policy.IPv4].FullTTL = 60
	if _, err := w.SetAnswers(v, "app.gslb.test.", d, 1); err != nil {
		t.Fatal(err)
	}
	askSigned(t, v, "app.gslb.test.", dns.TypeA, NewRotations(1, 1), NewRotations(1, 1))
	before := signers["gslb.test."].signed.Load()
	d[policy.IPv4].TTL = 30
	if _, err := w.SetAnswers(v, "app.gslb.test.", d, 1); err != nil {
		t.Fatal(err)
	}
	r := askSigned(t, v, "app.gslb.test.", dns.TypeA, NewRotations(1, 1), NewRotations(1, 1))
	sig := r.Answer[1].(*dns.RRSIG)
	if r.Answer[0].Header().Ttl != 30 || sig.Hdr.Ttl != 30 || sig.OrigTtl != 60 ||
		signers["gslb.test."].signed.Load() != before {
		t.Errorf("%v, %d signatures made", r.Answer, signers["gslb.test."].signed.Load()-before)
	}
	if err := validate("app.gslb.test.", dns.TypeA, r,
		map[string]*dns.DNSKEY{"gslb.test.": signers["gslb.test."].key}); err != nil {
		t.Error(err)
	}
}

func TestSigned_SpareSignaturesAreForgottenWhenThereAreMany(t *testing.T) {
	v, _ := signedSample(t, NSEC)
	w := NewWriter()
	for i := range 500 {
		steer(t, w, v, "app.gslb.test.", "10.9."+strings.Join([]string{itoa(i / 250), itoa(i%250 + 1)}, "."), 1)
	}
	key, _ := canonicalName("app.gslb.test.")
	_, o := v.findOwner(key)
	if n := len(o.cache.appendAll(nil)); n > spareSignatures+20 {
		t.Errorf("%d signatures are kept for one address", n)
	}
}

// The owners of a name in two views share a cache. The newer view trims the cache to the signatures that it needs
// itself.
func TestSigned_WhatAnotherViewTrimsIsStillRenewed(t *testing.T) {
	v, signers := signedSample(t, NSEC)
	zones := sampleZones(t)
	zones[0].Signer, zones[0].Unshared = signers["gslb.test."], []string{"app.gslb.test."}
	next := newView(t, v, zones[0])
	w := NewWriter()
	steer(t, w, next, "app.gslb.test.", "10.9.1.1 2001:db8::7", 1)
	for i := range 2 * spareSignatures {
		steer(t, w, v, "app.gslb.test.", "10.9.2."+itoa(i+1)+" 2001:db8::1", 1)
	}
	known := map[*Signature]bool{}
	for sig := range next.Signatures() {
		known[sig] = true
	}
	key, _ := canonicalName("app.gslb.test.")
	_, o := next.findOwner(key)
	o.answers.Load().eachCandidates(func(in *candidates) {
		for _, sig := range in.signatures() {
			if !known[sig] {
				t.Errorf("%q would not be renewed", sig.content)
			}
		}
	})
}
