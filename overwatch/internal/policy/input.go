package policy

import "time"

// DecisionInput is the complete input of the decisions for a name at one time. Decide reproduces the published
// decision, which explains an answer. It is immutable.
type DecisionInput struct {
	Name       string           // name of the domain, with the final dot
	Rules      *Rules           // shared; without client data
	Clients    []string         // region of the name's clients by geo.RegionID; the first is empty
	UsesRegion bool             // the answers depend on the client's region
	Locations  []ClientLocation // positions by geo.LocationID if answers depend on positions; otherwise nil
	Answers    int              // number of distinct addresses per answer, at least 1
	// AwaitingFailback is Rules.AwaitingFailback of this domain, sorted.
	AwaitingFailback []string
	Candidates       []Candidate
	Number           uint32    // unique within this process
	Generation       uint64    // number of the publication of the answers
	PublishedAt      time.Time // time of the publication
}

// Decide returns the decision for a client location and address family.
func (b *DecisionInput) Decide(family Family, client ClientLocation) Decision {
	return b.DecideWith(b.Candidates, family, client)
}

// DecideWithoutReasons is Decide without Excluded.
func (b *DecisionInput) DecideWithoutReasons(family Family, client ClientLocation) Decision {
	d := DecideWithoutReasons(b.rulesFor(client), b.Candidates, family)
	d.Input = b
	return d
}

// DecideWith is Decide with other candidates, such as a modified copy of Candidates. Excluded refers to their indexes.
func (b *DecisionInput) DecideWith(candidates []Candidate, family Family, client ClientLocation) Decision {
	d := Decide(b.rulesFor(client), candidates, family)
	d.Input = b
	return d
}

// HasGeofence reports whether the clients of a region may have no answer although other clients have one.
func (b *DecisionInput) HasGeofence() bool { return b.Rules.hasGeofence() }

// DomainRules returns the rules with the data of the domain, without client data.
func (b *DecisionInput) DomainRules() Rules {
	rules := *b.Rules
	rules.AwaitingFailback = b.AwaitingFailback
	return rules
}

// rulesFor returns the rules with the client data.
func (b *DecisionInput) rulesFor(client ClientLocation) Rules {
	rules := b.DomainRules()
	if b.UsesRegion {
		rules.Client, rules.Position = client.Region, client.Position
	}
	return rules
}

// LocationOf returns the location of a client from the numbers of its region (geo.RegionID) and of its location
// (geo.LocationID).
func (b *DecisionInput) LocationOf(region, location uint16) (at ClientLocation) {
	if int(region) < len(b.Clients) {
		at.Region = b.Clients[region]
	}
	if int(location) < len(b.Locations) {
		at.Position = b.Locations[location].Position
	}
	return at
}

// CandidateInfo describes a candidate for operators, in addition to the data for decisions. It is immutable.
type CandidateInfo struct {
	Status   string      // effective status
	Reason   string      // reason of the status
	Problem  string      // error reported by a check or agent; text from outside
	Check    string      // difference between the node's own check and the requested check; empty if missing
	Votes    string      // agreement between nodes about a failure; empty if missing
	Override *AdminState // active override; nil if missing
	// DrainEndsAt is the end of a drain, in the past or future; DrainTo is the final share. Zero without a drain.
	DrainEndsAt time.Time
	DrainTo     float64
	// Weight is the active weight of an operator, nil if missing; Declared is the configured weight. Drain is the
	// drain of an operator, nil if missing.
	Weight, Drain *AdminState
	Declared      int
}

// AdminState is an override, weight or drain of an operator.
type AdminState struct {
	Healthy    bool // value of an override
	By, Reason string
	Until      time.Time // zero if it does not expire
}

// CountServing returns the number of candidates that may serve, and the required number: Rules.MinHealthy, at least 1.
// candidates can be a modified copy or a subset of Candidates.
func (b *DecisionInput) CountServing(candidates []Candidate) (serving, minimum int) {
	s := selection{candidates: candidates, rules: b.Rules}
	for i := range candidates {
		if candidates[i].MayServe {
			serving++
		}
	}
	return serving, b.Rules.MinHealthy.RequiredOf(s.countKnown())
}
