package policy

import "time"

// Basis is everything that the answers of one name follow from at one moment. Decide with it gives the published
// decision again, so it also explains an answer. It is immutable.
type Basis struct {
	Name       string   // of the domain, with its final dot
	Rules      *Rules   // shared; without a client
	Clients    []string // the region of the name's clients, by geo.RegionID; the first is none
	Placed     bool     // the answers depend on the client's region
	Spots      []Spot   // positions by geo.LocationID, where answers depend on positions too; else nil
	Answers    int      // distinct addresses per answer, at least 1
	Candidates []Candidate
	Number     uint32    // tells one Basis of this process from the next
	Generation uint64    // number of the publication that brought the answers
	At         time.Time // time of that publication
}

// Decide returns the decision for a client at a spot, with addresses of the family.
func (b *Basis) Decide(family Family, client Spot) Decision {
	return b.DecideIf(b.Candidates, family, client)
}

// Choose is Decide without Excluded.
func (b *Basis) Choose(family Family, client Spot) Decision {
	d := Choose(b.rulesFor(client), b.Candidates, family)
	d.Basis = b
	return d
}

// DecideIf is Decide with other candidates, such as those of the Basis in another state. Their indexes are those in
// Excluded.
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

// Client returns the spot of a client from the numbers of its region (geo.RegionID) and of its spot (geo.LocationID).
func (b *Basis) Client(region, spot uint16) (at Spot) {
	if int(region) < len(b.Clients) {
		at.Region = b.Clients[region]
	}
	if int(spot) < len(b.Spots) {
		at.Position = b.Spots[spot].Position
	}
	return at
}

// Facts describes a candidate for people, beyond the data that a decision depends on. It is immutable.
type Facts struct {
	Status  string // effective status
	Reason  string // reason of the status
	Problem string // fault that a check or an agent found; text of others
	Check   string // difference of the node's own check from the one that the agent asks for; empty: none
	Order   *Order // an operator's override in force; nil: none
	// DrainEndsAt is the end of a drain, past or to come, and DrainTo the share that the drain leaves; zero: no drain.
	DrainEndsAt time.Time
	DrainTo     float64
	// Weight is an operator's weight in force, nil for none; Declared is the weight without it. Drain is an operator's
	// drain, nil for none.
	Weight, Drain *Order
	Declared      int
}

// Order is an operator's order: an override, a weight or a drain.
type Order struct {
	Healthy    bool // of an override
	By, Reason string
	Until      time.Time // zero: until it is cleared
}

// Serving counts the candidates that may serve, and returns the number that the name needs: Rules.MinHealthy, at least
// 1. The candidates are those of the Basis in another state, or some of them.
func (b *Basis) Serving(candidates []Candidate) (serving, minimum int) {
	s := selection{candidates: candidates, rules: b.Rules}
	for i := range candidates {
		if candidates[i].MayServe {
			serving++
		}
	}
	return serving, b.Rules.MinHealthy.Of(s.known())
}
