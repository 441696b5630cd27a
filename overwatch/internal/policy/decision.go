package policy

import (
	"net/netip"
	"slices"
)

// Outcome classifies a decision for explanations, logs and metrics.
type Outcome string

// The outcomes.
const (
	Success Outcome = "success"
	// The answer is from another region than the client's region, or than the first preferred region with backends of the
	// family.
	FailedOver       Outcome = "failover"
	Fallback         Outcome = "fallback"           // too few backends may serve: the fallback answer applies
	NoData           Outcome = "no_data"            // only backends of the other family can answer
	NoHealthyBackend Outcome = "no_healthy_backend" // too few backends may serve, and there is no fallback answer
)

// Decision is the decision for a name and an address family: the selected addresses and the excluded candidates.
type Decision struct {
	Outcome   Outcome
	TTL       uint32     // seconds
	FullTTL   uint32     // TTL of a regular answer in seconds, the original TTL of signatures
	Algorithm *Algorithm // algorithm that decided: the fallback algorithm if the first lacks data; nil if none was needed
	Region    string     // failover, geolocation, proximity: serving region; the nearest if several share
	Shared    []string   // regions that share the answers, including Region; nil if Region is the only one
	Fence     string     // geofence: region whose backends alone may answer the client; "" for all regions
	// Group is the id of the selected group of backends: the algorithm, the serving region, the regions that share the
	// answers, and Fence. Each group of a name has a different id.
	Group   string
	Members []Member // selected addresses or targets, sorted
	Ports   []Member // with Rules.WithPorts: ascending, at most MaxPorts; parts are percentages
	// Hashed: each client network, defined by ClientBits, uses one member (Rendezvous). Otherwise the members rotate.
	Hashed     bool
	ClientBits ClientBits
	Excluded   []Excluded     // excluded candidates, in the order of the candidates
	Input      *DecisionInput // nil if it is not stored
}

// Member is an address, or with Rules.AnswerNames an alias target, with its share of the answers.
type Member struct {
	Address    netip.Addr // address; for a target, the first of its selected addresses
	PairedIPv6 netip.Addr // IPv6 address in the same record (PairFamilies)
	Target     string     // "" for an address
	Port       uint16     // set in Decision.Ports, which have no address
	Parts      int        // share relative to the other members, at least 1
}

// Name returns the target if there is one, otherwise the address.
func (d Member) Name() string {
	if d.Target != "" {
		return d.Target
	}
	return d.Address.String()
}

// MemberIn returns the member of list to which the candidate contributes; nil if missing.
func (c *Candidate) MemberIn(list []Member) *Member {
	for i := range list {
		if c.contributesTo(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// contributesTo reports whether the candidate contributes to a member. Several targets can have equal addresses.
func (c *Candidate) contributesTo(d *Member) bool {
	if d.Target != "" {
		return d.Target == c.Target
	}
	return d.Address == c.Address
}

// CandidateOf returns the index of the first selected candidate that contributes to a member; -1 if missing. The
// decision must have its Input and be a result of Decide.
func (d *Decision) CandidateOf(member Member) int {
	for i := range d.Input.Candidates {
		if d.Input.Candidates[i].contributesTo(&member) &&
			!slices.ContainsFunc(d.Excluded, func(x Excluded) bool { return x.Candidate == i }) {
			return i
		}
	}
	return -1
}

// CandidatesOfMembers returns CandidateOf for each member, in one pass over the candidates.
func (d *Decision) CandidatesOfMembers() []int {
	excluded := make([]bool, len(d.Input.Candidates))
	for _, x := range d.Excluded {
		excluded[x.Candidate] = true
	}
	byAddress, byTarget := map[netip.Addr]int{}, map[string]int{}
	for i := range d.Input.Candidates {
		if excluded[i] {
			continue
		}
		c := &d.Input.Candidates[i]
		if _, earlier := byAddress[c.Address]; !earlier {
			byAddress[c.Address] = i
		}
		if _, earlier := byTarget[c.Target]; !earlier {
			byTarget[c.Target] = i
		}
	}
	list := make([]int, len(d.Members))
	for i := range d.Members {
		at, found := byAddress[d.Members[i].Address]
		if d.Members[i].Target != "" {
			at, found = byTarget[d.Members[i].Target]
		}
		if !found {
			at = -1
		}
		list[i] = at
	}
	return list
}

// Excluded is a candidate that does not answer, with the reason.
type Excluded struct {
	Candidate int // index
	Reason    Reason
}

// Reason is the reason for excluding a candidate. Operators see the text.
type Reason string

// The reasons.
const (
	OtherFamily     Reason = "its address belongs to the other family"
	MayNotServe     Reason = "its effective status does not allow it to serve"
	ZeroWeight      Reason = "its weight is 0 and other backends may serve"
	Drained         Reason = "its share has been drained to 0 and other backends may serve"
	AwaitsFailback  Reason = "its region awaits failback"
	OutsideGeofence Reason = "the geofence allows only the region of the client to answer"
	OtherRegion     Reason = "another region has priority and enough serving backends"
	FewSamples      Reason = "this node has too few latency samples of it"
	TooSlow         Reason = "its latency exceeds the limit"
	Slower          Reason = "others are faster"
	Farther         Reason = "another region is nearer to the client and has serving backends"
	TooFewServe     Reason = "fewer backends can serve than min_healthy requires"
	NotLastHealthy  Reason = "it was not among the last healthy backends"
	TakenOut        Reason = "an operator removed it from service"
)
