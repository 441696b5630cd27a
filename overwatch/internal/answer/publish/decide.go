package publish

import (
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// decider computes decisions for names, sequentially. Other deciders may run concurrently for other views: their shared
// data is immutable, safe for concurrent use (positions, writers, inputs, Backends), or belongs to one name
// (measurements).
type decider struct {
	backends     Backends
	now          func() time.Time
	log          zerolog.Logger
	measurements *measurements
	positions    *positions
	writer       *zone.Writer
	bases        *atomic.Uint32 // number of created decision inputs
	failbacks    Failbacks      // nil: no region awaits failback
	generation   uint64         // generation of the current or the last publication

	states    map[policy.CandidateInfo]*policy.CandidateInfo
	state     *policy.CandidateInfo // state of the last backend
	decisions [][2]policy.Decision  // buffer, reused for each name
	own       []string              // buffer for the regions of a name
}

func newDecider(o Options) decider {
	return decider{
		backends: o.Backends, now: o.Now, log: o.Logger, measurements: new(measurements), writer: zone.NewWriter(),
		bases: new(atomic.Uint32), failbacks: o.Failbacks, states: make(map[policy.CandidateInfo]*policy.CandidateInfo),
	}
}

// forNextView returns a decider for the names of a view that is not published yet, with the positions of that view.
func (p *decider) forNextView(positions *positions) *decider {
	other := *p
	other.positions, other.writer = positions, p.writer.Fork()
	other.states, other.state, other.decisions, other.own = make(map[policy.CandidateInfo]*policy.CandidateInfo), nil,
		nil, nil
	return &other
}

// decide decides a domain by its policy and updates its answers in the view. It returns the worst outcome.
func (p *decider) decide(view *zone.View, d *domain) policy.Outcome {
	basis := p.decisionInput(d)
	clients := p.clientsOf(d, basis.Candidates)
	basis.Clients = clients.names
	decisions := p.decisions[:0] // the same memory for all names
	var choices [2]zone.LocationDecisions
	switch {
	case d.rules.NeedsPosition() && p.positions.atlas != nil:
		choices, decisions = decideForLocations(p.positions.atlas, basis, clients, decisions)
	case d.placed:
		for i, region := range clients.names {
			if first := clients.first[i]; first < i {
				decisions = append(decisions, decisions[first])
				continue
			}
			decisions = append(decisions, decideBoth(basis, policy.ClientLocation{Region: region}, decisions))
		}
	default:
		decisions = append(decisions, decideBoth(basis, policy.ClientLocation{}, nil))
	}
	if len(d.https.ALPN) > 0 {
		pair(choices, decisions)
	}
	err := p.setAnswers(view, d, d.name, choices, decisions, d.answers)
	if len(d.srv) > 0 {
		choices, decisions := choicesByPort(choices), byPort(decisions)
		for _, name := range d.srv {
			err = errors.Join(err, p.setAnswers(view, d, name, choices, decisions, policy.MaxPorts))
		}
	}
	if err != nil {
		// The view was built from the same domains, so this is an internal error; the old answers remain.
		p.log.Error().Err(err).Str("domain", d.name).Msg("publishing a domain")
	}
	p.measurements.recordGroups(d, basis.Candidates, decisions)
	p.observeFailback(d, basis, decisions)
	p.decisions = decisions
	return worstOutcome(decisions...)
}

// setAnswers sets the answers of a name: choices if answers depend on client positions, otherwise decisions.
func (p *decider) setAnswers(
	view *zone.View,
	d *domain,
	name string,
	choices [2]zone.LocationDecisions,
	decisions [][2]policy.Decision,
	answers int,
) (err error) {
	switch {
	case choices[0].Decisions != nil:
		_, err = p.writer.SetLocationAnswers(view, name, p.positions.spots, choices, answers)
	case d.placed:
		_, err = p.writer.SetRegionAnswers(view, name, decisions, answers)
	default:
		_, err = p.writer.SetAnswers(view, name, decisions[0], answers)
	}
	return err
}

// decideForLocations decides for clients at all locations of the table. decisions contains each distinct decision once,
// in the given memory if it fits.
func decideForLocations(
	atlas *policy.LocationTable,
	basis *policy.DecisionInput,
	clients *clients,
	memory [][2]policy.Decision,
) (choices [2]zone.LocationDecisions, decisions [][2]policy.Decision) {
	decisions = memory
	for f := range choices {
		c := &choices[f]
		family := policy.Family(f)
		c.Decisions, c.ByLocation = atlas.Decide(basis.DomainRules(), basis.Candidates, family, clients.names,
			clients.regions)
		for i := range c.Decisions {
			c.Decisions[i].Input = basis
			if i == len(decisions) {
				nothing := policy.Decision{Outcome: policy.NoData}
				decisions = append(decisions, [2]policy.Decision{nothing, nothing})
			}
			decisions[i][f] = c.Decisions[i]
		}
	}
	return choices, decisions
}

// decideBoth returns the decisions for A and AAAA at one location. others are the decisions at other locations: if the
// first of them has no address of a family, no client has one, for the same reasons.
func decideBoth(basis *policy.DecisionInput, client policy.ClientLocation,
	others [][2]policy.Decision) (both [2]policy.Decision) {
	decide := basis.DecideWithoutReasons
	if basis.Rules.UsesLatency() {
		decide = basis.Decide // also needed to identify slow backends in measurements.recordGroups
	}
	for f := range both {
		if len(others) > 0 && len(others[0][f].Members) == 0 && !basis.HasGeofence() {
			both[f] = others[0][f]
		} else {
			both[f] = decide(policy.Family(f), client)
		}
	}
	return both
}

// worstOutcome returns the outcome of a name: the worst of its decisions. A family without addresses (NODATA) is a
// success.
func worstOutcome(decisions ...[2]policy.Decision) policy.Outcome {
	worst := policy.Success
	for _, both := range decisions {
		for _, d := range both {
			if gravity(d.Outcome) > gravity(worst) {
				worst = d.Outcome
			}
		}
	}
	return worst
}

func gravity(o policy.Outcome) int {
	return slices.Index([]policy.Outcome{policy.FailedOver, policy.Fallback, policy.NoHealthyBackend}, o)
}

// logOutcome logs a changed outcome of a domain, except for its first backends.
func (p *Publisher) logOutcome(d *domain, outcome policy.Outcome) {
	before, lost := d.outcome, d.lost
	d.outcome = outcome
	if before == outcome {
		return
	}
	d.lost = outcome != policy.Success
	if outcome == policy.Success && !lost {
		return
	}
	withheld, ok := p.lines.allowLine(p.now())
	if !ok {
		return
	}
	if withheld > 0 {
		p.log.Warn().
			Int("withheld", withheld).
			Msg("more domains changed than the log shows; gslb_overwatch_domains_down is the number of domains that are down")
	}
	switch outcome {
	case policy.NoHealthyBackend:
		p.log.Warn().Str("domain", d.name).Msg(shortage(d) + ": answering SERVFAIL")
	case policy.Fallback:
		p.log.Warn().
			Str("domain", d.name).
			Str("on_all_down", string(d.rules.OnAllDown)).
			Msg(shortage(d) + ": answering with the last resort")
	case policy.FailedOver:
		p.log.Warn().Str("domain", d.name).
			Msg("a region has too few backends that may serve, or awaits failback: another region answers its clients")
	default:
		if lost {
			p.log.Info().Str("domain", d.name).Msg("backends serve again")
		}
	}
}

// shortage returns the reason for the fallback answer of a domain.
func shortage(d *domain) string {
	if d.rules.MinHealthy != (policy.Minimum{}) {
		return "fewer backends may serve than domains[].min_healthy requires"
	}
	if d.rules.Parameters().Geofence != "" {
		return "no backend may serve, or none inside the geofence of a region"
	}
	return "no backend may serve"
}

// reportAll logs the outcomes of all new or changed domains in one line, because most domains have no backends at a
// start.
func (p *Publisher) reportAll(plan *plan) {
	down := 0
	for _, d := range plan.changed {
		if d.outcome == policy.NoHealthyBackend || d.outcome == policy.Fallback {
			down++
		}
	}
	p.log.Info().Int("domains", len(plan.domains)).Int("changed", len(plan.changed)).Int("without_backend", down).
		Msg("publishing DNS answers")
}
