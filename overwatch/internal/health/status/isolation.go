package status

// Isolation decides whether this node is cut off from the backends. During self-isolation the node ignores its failed
// own checks, and agent reports decide.
//
// The evidence is each backend with a recent own check. A successful check is evidence for the node's connection. A
// failed check of a backend that its agent reports healthy is evidence against it. Other failed checks do not count as
// evidence: if agent and node agree, or if no agent reports the backend, the backend itself may have failed. A region
// is dark if its backends have more contradictions than successes.
//
// The node is cut off if all of these hold:
//   - two regions are dark, or the only region with evidence is dark
//   - two services have such a contradiction, or the only service with evidence has one
//   - the reports of two agents contradict own checks of this node
//
// Agents name their regions themselves. The numbers of services and agents ensure that neither the holder of one
// service's token nor a single agent can make a node ignore its own checks.
//
// The zero Isolation has no evidence.
type Isolation struct {
	regions map[string]*Tally

	judgedRegions, darkRegions           int
	judgedServices, contradictedServices int
	contradictingAgents                  int
}

// Tally counts the evidence of a region, a service or an agent.
type Tally struct{ contradicting, succeeding int }

func (t Tally) hasEvidence() bool     { return t.contradicting+t.succeeding > 0 }
func (t Tally) isDark() bool          { return t.contradicting > t.succeeding }
func (t Tally) isContradicting() bool { return t.contradicting > 0 }

func (t *Tally) add(k EvidenceKind, n int) {
	if k == EvidenceContradicting {
		t.contradicting += n
	} else {
		t.succeeding += n
	}
}

// EvidenceKind is the meaning of a backend's evidence: for or against the node's connection.
type EvidenceKind uint8

// The kinds of evidence.
const (
	EvidenceNone EvidenceKind = iota
	EvidenceSucceeding
	EvidenceContradicting
)

// Evidence is the evidence of a backend, with the tallies to which it contributes. It is comparable.
type Evidence struct {
	Kind    EvidenceKind
	Region  string
	Service *Tally
	Agent   *Tally // only for contradicting evidence
}

// Replace replaces the previous evidence of a backend.
func (i *Isolation) Replace(previous, next Evidence) {
	if previous == next {
		return
	}
	i.add(previous, -1)
	i.add(next, +1)
}

// add adds evidence to the tallies and sums if n is 1, and removes the evidence if n is -1.
func (i *Isolation) add(e Evidence, n int) {
	if e.Kind == EvidenceNone {
		return
	}
	if i.regions == nil {
		i.regions = make(map[string]*Tally)
	}
	region := i.regions[e.Region]
	if region == nil {
		region = &Tally{}
		i.regions[e.Region] = region
	}
	regionBefore, serviceBefore := *region, *e.Service
	region.add(e.Kind, n)
	e.Service.add(e.Kind, n)
	i.judgedRegions += difference(regionBefore.hasEvidence(), region.hasEvidence())
	i.darkRegions += difference(regionBefore.isDark(), region.isDark())
	i.judgedServices += difference(serviceBefore.hasEvidence(), e.Service.hasEvidence())
	i.contradictedServices += difference(serviceBefore.isContradicting(), e.Service.isContradicting())
	if !region.hasEvidence() {
		delete(i.regions, e.Region)
	}
	if e.Agent != nil {
		before := *e.Agent
		e.Agent.add(e.Kind, n)
		i.contradictingAgents += difference(before.isContradicting(), e.Agent.isContradicting())
	}
}

// difference returns the change of a sum that counts a condition with 1 while it is true.
func difference(before, after bool) int {
	switch {
	case before == after:
		return 0
	case after:
		return 1
	default:
		return -1
	}
}

// IsCutOff reports whether the evidence shows that the node is cut off.
func (i *Isolation) IsCutOff() bool {
	regions := i.darkRegions >= 2 || i.darkRegions == 1 && i.judgedRegions == 1
	services := i.contradictedServices >= 2 || i.contradictedServices == 1 && i.judgedServices == 1
	return regions && services && i.contradictingAgents >= 2
}

// DarkRegions returns the number of dark regions.
func (i *Isolation) DarkRegions() int { return i.darkRegions }

// ContradictingAgents returns the number of agents that report a backend healthy while own checks of it fail.
func (i *Isolation) ContradictingAgents() int { return i.contradictingAgents }
