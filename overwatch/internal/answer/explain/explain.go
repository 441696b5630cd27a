package explain

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// Outcomes in addition to the outcomes of package policy.
const (
	DomainNotFound policy.Outcome = "domain_not_found" // the name does not exist
	NotSteered     policy.Outcome = "not_steered"      // the name has static records, which are equal for all clients
)

// Query is a client's question.
type Query struct {
	Name   string // in zone-file form, in any case, with or without its final dot
	Family policy.Family
	// Type is a zone.ParseProbeType; 0 means the address type of Family. In an Explanation, Family is the family of the
	// addresses in HTTPS records, or of the addresses behind SRV records.
	Type uint16
	// Client is the address of the client subnet option if it has a network, otherwise the resolver's address.
	Client netip.Addr
	Subnet bool // Client is the address of the option
}

// Explanation is an answer with its reasons.
type Explanation struct {
	Query
	Outcome   policy.Outcome
	Kind      zone.Kind
	Records   []string     // in zone-file form
	Addresses []netip.Addr // the selected address is the first; for an alias, the first is an address of the target
	TTL       uint32       // seconds
	Scope     uint8        // number of client address bits that determined the answer
	target    string       // selected target of an alias

	Place  *geo.Explanation // client location with its reason; nil if the data no longer exists
	Region string           // region of the client; empty if it has none
	Took   time.Duration    // duration of the lookup

	// The following fields are set for load-balanced names only.
	Basis    *policy.DecisionInput
	Decision policy.Decision
	Backends []Backend // by candidate
	WouldBe  []WouldBe
}

// Backend is a candidate with its result in the decision.
type Backend struct {
	*policy.Candidate
	Share    float64 // fraction of answers with its address, or its target's name, first
	Excluded string  // reason for a missing share; empty if it has one
}

// maxTries is the maximum number of lookups, which are repeated if the location table changes between answer and
// explanation.
const maxTries = 8

// turns contains rotations for explanations, so that these do not advance the rotations of DNS.
var turns = sync.Pool{New: func() any { return zone.NewRotations(rand.Uint64(), rand.Uint64()) }}

// Explain answers the query from the view, and returns the reasons.
func Explain(view *zone.View, q Query) (Explanation, error) {
	mine := turns.Get().(*zone.Rotations)
	defer turns.Put(mine)
	for try := 1; ; try++ {
		began := time.Now()
		probe, err := view.Probe(q.Name, cmp.Or(q.Type, zone.AddressTypes[q.Family].Number), q.Client, mine)
		if err != nil {
			return Explanation{}, err
		}
		if q.Type != 0 && probe.Selection.Input != nil {
			q.Family = probe.Selection.Family
		}
		e := Explanation{
			Query: q, Kind: probe.Kind, Records: probe.Records, Addresses: probe.Addresses, TTL: probe.TTL, Scope: probe.Scope,
			Took: time.Since(began),
		}
		basis := probe.Selection.Input
		if err := e.place(view.RegionTable(), basis); err != nil {
			return Explanation{}, err
		}
		if basis == nil {
			e.Outcome = NotSteered
			if probe.Kind == zone.NXDomain || probe.Kind == zone.Refused {
				e.Outcome = DomainNotFound
			}
			return e, nil
		}
		client := probe.Selection.ClientLocation()
		if e.Region != client.Region && try < maxTries {
			continue // the location table was replaced between the answer and the explanation
		}
		e.decide(basis, q.Family, client)
		if lead := int(probe.Selection.Lead); basis.Rules.AnswerNames && lead < len(e.Decision.Members) {
			e.setFirstMember(e.Decision.Members[lead])
		}
		return e, nil
	}
}

// place sets the location of the client: its region among the regions of the name, or among all regions without a
// decision input. A nil table contains no clients.
func (e *Explanation) place(table *geo.Table, basis *policy.DecisionInput) error {
	if table == nil || !e.Client.IsValid() {
		return nil
	}
	explain := table.Explain
	if basis != nil {
		explain = func(client netip.Addr) (geo.Explanation, error) { return table.ExplainFor(client, basis.Clients) }
	}
	place, err := explain(e.Client)
	if err != nil {
		return fmt.Errorf("looking %s up in the geolocation database: %w", e.Client, err)
	}
	e.Place, e.Region = &place, place.Region
	return nil
}

// ExplainPast explains a previous answer from the data of that time: the client's region and the first address.
func ExplainPast(q Query, s zone.Selection) Explanation {
	e := Explanation{Query: q}
	e.decide(s.Input, s.Family, s.ClientLocation())
	e.Kind = zone.Positive
	switch {
	case e.Outcome == policy.NoData:
		e.Kind = zone.NoData
	case len(e.Decision.Members) == 0:
		e.Kind = zone.Failed
	}
	if int(s.Lead) < len(e.Decision.Members) {
		e.setFirstMember(e.Decision.Members[s.Lead])
		e.TTL = e.Decision.TTL
	}
	return e
}

// setFirstMember sets the first member of the answer in the decision.
func (e *Explanation) setFirstMember(with policy.Member) {
	e.Addresses, e.target = []netip.Addr{with.Address}, with.Target
}

// decide repeats the decision of the answer.
func (e *Explanation) decide(basis *policy.DecisionInput, family policy.Family, client policy.ClientLocation) {
	e.Basis, e.Region = basis, client.Region
	e.Decision = basis.Decide(family, client)
	e.Outcome = e.Decision.Outcome
	e.Backends = make([]Backend, len(basis.Candidates))
	for i := range basis.Candidates {
		e.Backends[i].Candidate = &basis.Candidates[i]
	}
	for _, x := range e.Decision.Excluded {
		e.Backends[x.Candidate].Excluded = e.exclusion(&basis.Candidates[x.Candidate], x.Reason)
	}
	for i := range e.Backends {
		if b := &e.Backends[i]; b.Excluded == "" {
			if due := b.MemberIn(e.Decision.Members); due != nil {
				b.Share = Share(e.Decision.Members, *due)
			}
		}
	}
	e.WouldBe = wouldBe(basis, e.Decision, family, client)
}

// Selected returns the backend of the first address or target; nil if there is no answer. For several ports, it returns
// the first backend that may answer.
func (e *Explanation) Selected() *Backend {
	if e.Basis == nil || len(e.Addresses) == 0 {
		return nil
	}
	i := e.Decision.CandidateOf(policy.Member{Address: e.Addresses[0], Target: e.target})
	if i < 0 {
		return nil
	}
	return &e.Backends[i]
}

// Share returns the fraction of answers in which due is the first member.
func Share(due []policy.Member, member policy.Member) float64 {
	sum := 0
	for _, d := range due {
		sum += d.Parts
	}
	return float64(member.Parts) / float64(sum)
}
