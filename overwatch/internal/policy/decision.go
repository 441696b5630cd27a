package policy

import (
	"net/netip"
	"slices"
)

// Outcome classifies a decision, for explanations, logs and metrics.
type Outcome string

// The outcomes.
const (
	Success Outcome = "success"
	// another region answers than the client's, or than the first of the preferred ones that has backends of the family
	FailedOver       Outcome = "failover"
	Fallback         Outcome = "fallback"           // nothing may serve, or too little: the last resort answers
	NoData           Outcome = "no_data"            // nothing of this address family, another family serves
	NoHealthyBackend Outcome = "no_healthy_backend" // nothing may serve, or too little, and there is no last resort
)

// Decision is the decision for a name and one address family: the addresses that answer, and the candidates that do
// not.
type Decision struct {
	Outcome   Outcome
	TTL       uint32     // seconds
	FullTTL   uint32     // TTL while backends may serve, for which signatures are made
	Algorithm *Algorithm // the one of the rules that chose: the fallback where the first lacks data; nil: none was asked
	Region    string     // failover, geolocation and proximity: the region that serves; of several, the nearest
	// Group identifies the backends of this decision among all groups to which clients of the name are sent.
	Group string
	Due   []Due // the addresses or names that answer, in their order
	Ports []Due // under Rules.Ports: the ports behind Due, in ascending order, at most MaxPorts; parts are of a hundred
	// Hashed: a client network, of ClientBits, keeps to one of Due (Rendezvous). Otherwise the members of Due take turns.
	Hashed     bool
	ClientBits ClientBits
	Excluded   []Excluded // the candidates that do not, in the candidates' order
	Basis      *Basis     // nil where it is not kept
}

// Due is an address, or under Rules.Names a target, with its parts of all answers.
type Due struct {
	Address netip.Addr // of a target, the first of those that may answer
	Beside  netip.Addr // of IPv6, in records that have both (Pair)
	Target  string     // "" for an address
	Port    uint16     // in Decision.Ports alone, which have no address
	Parts   int        // at least 1; what counts is the proportion to the others
}

// Name returns the target, or else the address.
func (d Due) Name() string {
	if d.Target != "" {
		return d.Target
	}
	return d.Address.String()
}

// DueIn returns the member of list that the candidate has a part in, nil if there is none.
func (c *Candidate) DueIn(list []Due) *Due {
	for i := range list {
		if c.partOf(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// partOf reports whether the candidate has a part in a member of Due. Several targets may have one address.
func (c *Candidate) partOf(d *Due) bool {
	if d.Target != "" {
		return d.Target == c.Target
	}
	return d.Address == c.Address
}

// Behind returns the index of the candidate that a member of Due stands for: of several the first that is not excluded.
// It returns -1 if there is none. The decision must have its Basis, and be one of Decide.
func (d *Decision) Behind(member Due) int {
	for i := range d.Basis.Candidates {
		if d.Basis.Candidates[i].partOf(&member) &&
			!slices.ContainsFunc(d.Excluded, func(x Excluded) bool { return x.Candidate == i }) {
			return i
		}
	}
	return -1
}

// BehindAll returns Behind of each member of Due, in one pass over the candidates.
func (d *Decision) BehindAll() []int {
	excluded := make([]bool, len(d.Basis.Candidates))
	for _, x := range d.Excluded {
		excluded[x.Candidate] = true
	}
	byAddress, byTarget := map[netip.Addr]int{}, map[string]int{}
	for i := range d.Basis.Candidates {
		if excluded[i] {
			continue
		}
		c := &d.Basis.Candidates[i]
		if _, earlier := byAddress[c.Address]; !earlier {
			byAddress[c.Address] = i
		}
		if _, earlier := byTarget[c.Target]; !earlier {
			byTarget[c.Target] = i
		}
	}
	list := make([]int, len(d.Due))
	for i := range d.Due {
		at, found := byAddress[d.Due[i].Address]
		if d.Due[i].Target != "" {
			at, found = byTarget[d.Due[i].Target]
		}
		if !found {
			at = -1
		}
		list[i] = at
	}
	return list
}

// Excluded is a candidate that does not answer, and the reason.
type Excluded struct {
	Candidate int // index
	Reason    Reason
}

// Reason says why a candidate does not answer. It is shown to operators.
type Reason string

// The reasons.
const (
	OtherFamily   Reason = "its address is of the other family"
	MayNotServe   Reason = "its effective status does not allow it to serve"
	ZeroWeight    Reason = "its weight is 0 and other backends may serve"
	Drained       Reason = "its share has been drained to 0 and other backends may serve"
	OtherRegion   Reason = "another region comes first and has enough backends that may serve"
	FewSamples    Reason = "this node has measured it too few times and others enough"
	TooSlow       Reason = "its latency is above the limit and others are below"
	Slower        Reason = "others are faster"
	Farther       Reason = "another region is nearer to the client and has backends that may serve"
	TooFewServe   Reason = "fewer of the name's backends may serve than min_healthy asks for"
	NotLastResort Reason = "it was not healthy last"
	TakenOut      Reason = "an operator took it out"
)
