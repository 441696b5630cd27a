package publish

import (
	"context"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/state/config"
)

// Intervals of background checks: for a clock jump, for changed signing keys, for signatures to renew (which have days
// of time), and for answers that resolvers cannot validate.
const (
	clockCheck    = 5 * time.Second
	keyCheck      = time.Minute
	renewCheck    = 10 * time.Minute
	validateCheck = time.Minute
)

// signing creates the signatures of the view before queries need them, and renews them in time.
type signing struct {
	zones   *dnssec.Zones
	view    func() *zone.View
	changed chan struct{} // has a token if the zones need new keys
	wake    chan struct{} // has a token while signatures are requested

	mu    sync.Mutex
	fresh []*zone.Signature
	whole bool // check all signatures of the view
	late  late
}

// late contains the signatures that the last check could not renew. Answers contain these signatures until they expire.
type late struct {
	count int
	first time.Time // earliest expiry; zero if count is 0
}

// SignaturesEnd returns the number of signatures that the last check, at most ten minutes ago, could not renew, and the
// earliest expiration.
func (p *Publisher) SignaturesEnd() (count int, first time.Time) {
	if p.signing == nil {
		return 0, time.Time{}
	}
	p.signing.mu.Lock()
	defer p.signing.mu.Unlock()
	return p.signing.late.count, p.signing.late.first
}

func newSigning(zones *dnssec.Zones, view func() *zone.View) *signing {
	return &signing{zones: zones, view: view, changed: make(chan struct{}, 1), wake: make(chan struct{}, 1)}
}

// sign sets the signer and key records of each signed zone of the plan. Zones without a key receive one.
func (s *signing) sign(p *plan) error {
	for i, z := range p.zones {
		if z.unsigned {
			continue
		}
		signer, err := s.zones.Signer(z.Apex)
		if err != nil {
			return err
		}
		denial := zone.NSEC
		if p.settings.Denial == config.DenialNSEC3 {
			denial = zone.NSEC3
		}
		if signer == nil { // the zone has become unsigned
			if z.Signer != nil {
				z = p.changeableZone(i)
				z.Signer, z.DS, z.Records = nil, nil, z.static
			}
			continue
		}
		if z.Signer == zone.Signer(signer) && z.Denial == denial {
			continue
		}
		z = p.changeableZone(i)
		z.Signer, z.Denial, z.DS = signer, denial, signer.DS()
		z.Records = slices.Concat(z.static, signer.Records())
	}
	return nil
}

// changeableZone returns a zone that the plan may change: a copy if it shares the zone with the previous plan.
func (p *plan) changeableZone(i int) *zonePlan {
	z := p.zones[i]
	if z.plan == p {
		return z
	}
	own := *z
	soa := *z.SOA
	own.plan, own.SOA, own.Unshared, own.kept = p, &soa, nil, true
	p.zones[i], p.byApex[z.Apex] = &own, &own
	return &own
}

// requestAll makes run prepare all signatures of the view.
func (s *signing) requestAll() {
	s.mu.Lock()
	s.whole, s.fresh = true, nil
	s.mu.Unlock()
	notify(s.wake)
}

// dropOthers removes the signers of zones that the plan does not contain or sign.
func (s *signing) dropOthers(p *plan) {
	apexes := make(map[string]bool, len(p.zones))
	for _, z := range p.zones {
		if !z.unsigned {
			apexes[z.Apex] = true
		}
	}
	s.zones.SetServed(apexes)
}

// requestSome makes run prepare these signatures.
func (s *signing) requestSome(fresh []*zone.Signature) {
	if len(fresh) == 0 {
		return
	}
	s.mu.Lock()
	s.fresh = append(s.fresh, fresh...)
	s.mu.Unlock()
	notify(s.wake)
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run creates signatures until ctx ends.
func (s *signing) run(ctx context.Context) {
	clocks, keys, renewals := time.NewTicker(clockCheck), time.NewTicker(keyCheck), time.NewTicker(renewCheck)
	validations := time.NewTicker(validateCheck)
	defer clocks.Stop()
	defer keys.Stop()
	defer renewals.Stop()
	defer validations.Stop()
	for {
		select {
		case <-s.wake:
			s.prepare(ctx)
		case <-clocks.C:
			if s.zones.CheckClock() {
				s.prepareAll(ctx)
			}
		case <-keys.C:
			if s.zones.SigningKeysChanged() {
				notify(s.changed)
			}
		case <-renewals.C:
			s.prepareAll(ctx)
		case <-validations.C:
			s.validate(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// prepare creates the requested signatures.
func (s *signing) prepare(ctx context.Context) {
	s.mu.Lock()
	whole, fresh := s.whole, s.fresh
	s.whole, s.fresh = false, nil
	s.mu.Unlock()
	if whole {
		s.prepareAll(ctx)
	}
	for _, sig := range fresh {
		_ = s.prepareOne(sig)
	}
}

// prepareAll creates the missing signatures of the view and renews the old ones. It stops when another view was built;
// views that differ in a few names share the other signatures.
func (s *signing) prepareAll(ctx context.Context) {
	view := s.view()
	var found late
	for sig := range view.Signatures() {
		if ctx.Err() != nil || s.view() != view && s.isFullCheckDue() {
			return
		}
		if err := s.prepareOne(sig); err == nil {
			continue
		}
		if ends := sig.Expires(); !ends.IsZero() {
			found.count++
			if found.first.IsZero() || ends.Before(found.first) {
				found.first = ends
			}
		}
	}
	s.mu.Lock()
	s.late = found
	s.mu.Unlock()
}

// validate verifies the signatures of the DNSKEY and SOA records of each signed zone in the view, and yields to queries
// after each zone. Another condition reports a zone whose signing fails.
func (s *signing) validate(ctx context.Context) {
	view, turns := s.view(), zone.NewRotations(0, 0)
	for _, apex := range s.zones.Signed() {
		if ctx.Err() != nil {
			return
		}
		keys := view.Resolve(apex, dns.TypeDNSKEY, true, netip.Addr{}, turns)
		soa := view.Resolve(apex, dns.TypeSOA, true, netip.Addr{}, turns)
		if keys.Kind == zone.Positive && soa.Kind == zone.Positive {
			s.zones.Validate(apex, keys.Answer, soa.Answer)
		}
		runtime.Gosched()
	}
}

// isFullCheckDue reports whether all signatures must be checked.
func (s *signing) isFullCheckDue() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.whole
}

// prepareOne creates a signature and then yields to queries. A failure was counted and logged; the next query retries.
func (s *signing) prepareOne(sig *zone.Signature) error {
	signed, err := sig.Prepare(s.zones.Now())
	if signed {
		runtime.Gosched()
	}
	return err
}
