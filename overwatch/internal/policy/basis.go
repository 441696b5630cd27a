package policy

import "time"

// Basis is everything that the answers of one name follow from at one moment: Decide with it is what was published, so
// it is also what explains an answer. It is immutable.
type Basis struct {
	Name       string   // of the domain, with its final dot
	Rules      *Rules   // shared; without a client
	Clients    []string // the regions where clients can be, by geo.RegionID; the first is none
	Placed     bool     // the answers depend on which of them the client is in
	Spots      []Spot   // the spots that they depend on beside, by geo.SpotID; nil: none
	Answers    int      // distinct addresses per answer, at least 1
	Candidates []Candidate
	Number     uint32    // tells one Basis of this process from the next
	Generation uint64    // the publication that brought the answers
	At         time.Time // when that was
}

// Decide says which addresses of the family a client at the spot is answered.
func (b *Basis) Decide(family Family, client Spot) Decision {
	return b.DecideIf(b.Candidates, family, client)
}

// Choose is Decide without Excluded.
func (b *Basis) Choose(family Family, client Spot) Decision {
	d := Choose(b.rulesFor(client), b.Candidates, family)
	d.Basis = b
	return d
}

// DecideIf is Decide for candidates in another state, which are those of the Basis in number and order.
func (b *Basis) DecideIf(candidates []Candidate, family Family, client Spot) Decision {
	d := Decide(b.rulesFor(client), candidates, family)
	d.Basis = b
	return d
}

func (b *Basis) rulesFor(client Spot) Rules {
	rules := *b.Rules
	if b.Placed {
		rules.Client, rules.Position = client.Region, client.Position
	}
	return rules
}

// Client is the spot of a client in a region, or at one of the Spots in it.
func (b *Basis) Client(region, spot uint16) (at Spot) {
	if int(region) < len(b.Clients) {
		at.Region = b.Clients[region]
	}
	if int(spot) < len(b.Spots) {
		at.Position = b.Spots[spot].Position
	}
	return at
}

// Facts are what is known of a candidate beyond what a decision depends on, for people. They are immutable.
type Facts struct {
	Status  string // effective status
	Reason  string // why it is that
	Problem string // what a check or an agent found wrong; text of others
	Check   string // how the node's own check differs from the one that the agent asks for; empty: it does not
	Order   *Order // an operator's override in force; nil: none
	// DrainEndsAt is when a drain ends or ended, and DrainTo the share that it leaves; zero: it does not drain.
	DrainEndsAt time.Time
	DrainTo     float64
	// Weight is an operator's weight in force, nil for none; Declared is the weight without it. Drain is an operator's
	// drain, nil for none.
	Weight, Drain *Order
	Declared      int
}

// Order is what an operator has ordered: an override, a weight or a drain.
type Order struct {
	Healthy    bool // of an override
	By, Reason string
	Until      time.Time // zero: until it is taken back
}

// Serving counts those of the candidates that may serve, and how many the name needs: Rules.MinHealthy, at least 1. The
// candidates are those of the Basis, in another state or some of them.
func (b *Basis) Serving(candidates []Candidate) (serving, minimum int) {
	s := selection{candidates: candidates, rules: b.Rules}
	for i := range candidates {
		if candidates[i].MayServe {
			serving++
		}
	}
	return serving, b.Rules.MinHealthy.Of(s.known())
}
