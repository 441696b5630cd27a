package keysync

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"net"
	"net/url"
	"slices"
	"strconv"
	"time"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/dnssec/roll"
	"gslb.internal/overwatch/internal/cluster/delegation"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/api"
)

// Intervals of rounds during a rollover.
const (
	rollPause  = time.Minute
	duePause   = 10 * time.Second // after a failed step
	peerPause  = 5 * time.Second  // while another node is about to take its step
	peersFirst = 2 * time.Minute  // maximum time of peerPause after the last step
)

// stepPause returns the time until a rollover may take its next step, at most rollPause.
func stepPause(rolls []dnssec.RollState, now time.Time) time.Duration {
	least := rollPause
	for i := range rolls {
		r := &rolls[i]
		until := r.Wait.Until.Sub(now)
		switch {
		case !r.UnderWay():
		case !r.Wait.Until.IsZero() && until > 0:
			least = min(least, until)
		case !r.Wait.Until.IsZero():
			least = min(least, duePause)
		case r.Wait.Peer && now.Sub(r.Since) < peersFirst:
			least = min(least, peerPause)
		}
	}
	return least
}

// otherWithin is the age of a key at which nodes start to change its algorithm, each at a random time before this age.
const otherWithin = 10 * time.Minute

// stepRolls takes the possible steps of the rollovers after a round. off is the reason why no keys are exchanged, or
// nil.
func (s *Sync) stepRolls(ctx context.Context, outcomes []outcome, off error) (stepped bool, err error) {
	rolls := slices.DeleteFunc(s.o.Zones.Rolls(), func(r dnssec.RollState) bool { return r.Stage == roll.Done })
	if len(rolls) == 0 || s.o.LongestTTL == nil {
		return false, nil
	}
	began, settings := s.o.Now(), s.settings.Get().Roll
	parents := make(map[string]dnssec.Parent)
	for _, r := range rolls {
		parents[r.Zone] = s.parents.Look(ctx,
			delegation.Options{Resolver: settings.Resolver, Servers: settings.ParentServers}, r.Zone)
	}
	var neighbours []dnssec.Neighbor
	for i := range outcomes {
		o := &outcomes[i]
		if o.self {
			continue
		}
		n := dnssec.Neighbor{Name: o.peer}
		switch err := errors.Join(off, o.err); {
		case err != nil:
			n.Why = err.Error()
		default:
			n.Offer, n.Why = &o.offer, s.dnsProblem(ctx, o, rolls)
		}
		neighbours = append(neighbours, n)
	}
	steps, err := s.o.Zones.StepRolls(dnssec.Surroundings{
		Peers: neighbours, TTL: s.o.LongestTTL(), Margin: settings.Margin,
		Parent: func(apex string) dnssec.Parent { return parents[apex] },
	})
	for _, step := range steps {
		s.o.Logger.Warn().Msg(step)
	}
	if len(steps) > 0 {
		err = errors.Join(err, s.o.Audit(audit.Change{
			Action: "roll", Resource: "dnssec", ResourceID: s.o.NodeID, Actor: "key sync", ActorType: api.ActorSystem,
			After: map[string][]string{"steps": steps}, Err: err, Duration: s.o.Now().Sub(began),
		}))
	}
	return len(steps) > 0, err
}

// Rolls lists the rollovers of the served zones, including ended rollovers.
func (s *Sync) Rolls() []dnssec.RollState { return s.o.Zones.Rolls() }

// PreviewRoll returns the state that BeginRoll would return, with all stages, and changes nothing. It queries the TTL
// of the DS records at the parent.
func (s *Sync) PreviewRoll(ctx context.Context, apex string, o dnssec.RollOptions) (dnssec.RollState, error) {
	o.TTL = s.ttls()
	state, err := s.o.Zones.PreviewRoll(apex, o)
	if err != nil {
		return state, err
	}
	o.TTL.DS = s.ttlOfDS(ctx, state.Zone)
	return s.o.Zones.PreviewRoll(apex, o)
}

// ttls returns the TTLs that are known without a query to the parent.
func (s *Sync) ttls() roll.TTLs {
	if s.o.LongestTTL == nil {
		return roll.TTLs{}
	}
	return roll.TTLs{Margin: s.settings.Get().Roll.Margin, Answers: s.o.LongestTTL()}
}

// BeginRoll starts the rollover of a zone to a new key, and returns when the answers contain the new key.
func (s *Sync) BeginRoll(ctx context.Context, apex string, o dnssec.RollOptions) (dnssec.RollState, error) {
	o.TTL = s.ttls()
	state, err := s.o.Zones.PreviewRoll(apex, o)
	if err != nil {
		return state, err
	}
	o.TTL.DS = s.ttlOfDS(ctx, state.Zone)
	state, err = s.o.Zones.BeginRoll(apex, o)
	return s.rolled(ctx, state, err)
}

// BeginTransition starts a signing transition of a zone, and returns when the answers have the state of the first
// stage.
func (s *Sync) BeginTransition(ctx context.Context, apex string, way roll.Goal) (dnssec.RollState, error) {
	ttl := s.ttls()
	state, err := s.o.Zones.PreviewTransition(apex, way, ttl)
	if err != nil {
		return state, err
	}
	if way == roll.ToUnsigned {
		ttl.DS = s.ttlOfDS(ctx, state.Zone) // before the parent removes them
	}
	state, err = s.o.Zones.BeginTransition(apex, way, ttl)
	return s.rolled(ctx, state, err)
}

// PreviewTransition returns the state that BeginTransition would return, with all stages, and changes nothing.
func (s *Sync) PreviewTransition(ctx context.Context, apex string, way roll.Goal) (dnssec.RollState, error) {
	ttl := s.ttls()
	state, err := s.o.Zones.PreviewTransition(apex, way, ttl)
	if err != nil {
		return state, err
	}
	ttl.DS = s.ttlOfDS(ctx, state.Zone)
	return s.o.Zones.PreviewTransition(apex, way, ttl)
}

// Parent queries the servers of a zone's parent for its DS records. configured reports whether the configuration
// defines the servers. For a zone that this node does not serve, it returns an error.
func (s *Sync) Parent(ctx context.Context, apex string) (found dnssec.Parent, configured bool, err error) {
	if !s.o.Zones.Serves(apex) {
		return dnssec.Parent{}, false, dnssec.ErrNotSigned
	}
	select {
	case s.looks <- struct{}{}:
		defer func() { <-s.looks }()
	case <-ctx.Done():
		return dnssec.Parent{}, false, context.Cause(ctx)
	}
	settings := s.settings.Get().Roll
	o := delegation.Options{Resolver: settings.Resolver, Servers: settings.ParentServers}
	return delegation.NewWatch().Look(ctx, o, apex), len(o.Servers) > 0, nil
}

// ttlOfDS queries the TTL of a zone's DS records at the parent. It returns 0 if the TTL is unknown.
func (s *Sync) ttlOfDS(ctx context.Context, apex string) time.Duration {
	settings := s.settings.Get().Roll
	return delegation.NewWatch().Look(ctx,
		delegation.Options{Resolver: settings.Resolver, Servers: settings.ParentServers}, apex).TTL
}

// CancelRoll cancels the rollover of a zone.
func (s *Sync) CancelRoll(ctx context.Context, apex string) (dnssec.RollState, error) {
	state, err := s.o.Zones.CancelRoll(apex)
	return s.rolled(ctx, state, err)
}

// ConfirmDS records the confirmation of an operator that the DS record of the new key is the only one at the parent.
func (s *Sync) ConfirmDS(ctx context.Context, apex string) (dnssec.RollState, error) {
	state, err := s.o.Zones.ConfirmDS(apex)
	return s.rolled(ctx, state, err)
}

// ForceRoll continues the rollover or signing transition of a zone without the silent nodes, and returns these nodes.
func (s *Sync) ForceRoll(ctx context.Context, apex string, preview bool) (dnssec.RollState, []roll.Peer, error) {
	state, without, err := s.o.Zones.ForceRoll(apex, preview)
	if !preview {
		state, err = s.rolled(ctx, state, err)
	}
	return state, without, err
}

func (s *Sync) rolled(ctx context.Context, state dnssec.RollState, err error) (dnssec.RollState, error) {
	if err != nil {
		return state, err
	}
	if err := s.o.Apply(ctx); err != nil {
		return state, err
	}
	s.settings.Signal()
	return state, nil
}

// rollOld starts the rollover of each zone with a key above the maximum age, or with another algorithm than all nodes
// require. Each node starts at a random time within a tenth of the maximum age, so that usually a single node starts.
// If two nodes start concurrently, the later key wins.
func (s *Sync) rollOld(outcomes []outcome) (began bool, err error) {
	settings := s.settings.Get()
	if s.o.LongestTTL == nil {
		return false, nil
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(s.o.NodeID))
	part := float64(hash.Sum32()) / math.MaxUint32
	most := settings.Roll.Every + time.Duration(part*float64(settings.Roll.Every/10))
	agreed := !slices.ContainsFunc(outcomes, func(o outcome) bool {
		return !o.self && (o.err != nil || o.about.Algorithm != settings.Algorithm)
	})
	youngest := make(map[string]dnssec.KeyState)
	for _, k := range s.o.Zones.Keys() {
		if y, there := youngest[k.Zone()]; !there || k.Created().After(y.Created()) {
			youngest[k.Zone()] = k
		}
	}
	not := append(s.o.Zones.Rolling(), s.o.Zones.Unsigned()...)
	for zone, key := range youngest {
		age := s.o.Zones.Now().Sub(key.Created())
		old := settings.Roll.Every > 0 && age >= most
		other := agreed && key.Algorithm() != settings.Algorithm && age >= time.Duration(part*float64(otherWithin))
		if !old && !other || key.Provisional || slices.Contains(not, zone) {
			continue
		}
		if _, failed := s.o.Zones.BeginRoll(zone, dnssec.RollOptions{}); failed != nil {
			err = errors.Join(err, fmt.Errorf("the key of %s is to be changed, and cannot: %w", zone, failed))
			continue
		}
		began = true
	}
	return began, err
}

// dnsProblem returns the reason why the DNS answers of a peer do not match its keys, or "" if they match. It queries
// the host of the peer's API.
//
// The stage in the message of the peer is sufficient in two cases. The peer does not serve DNS yet, and sends no port.
// Or its host accepts no DNS connections: the API is behind a proxy or a tunnel, or on another network than DNS. In the
// second case, no round could ever verify the answers, and ForceRoll would ignore the stage of the peer. The message is
// authenticated and belongs to this round, it comes from the process that answers DNS, and the waiting time begins with
// the stage in it. A process that has just ended does not answer, and restarts at its stored stage. A peer with a
// silent server or wrong answers is a problem.
func (s *Sync) dnsProblem(ctx context.Context, o *outcome, rolls []dnssec.RollState) string {
	base, err := url.Parse(o.peer)
	if err != nil || o.about.Port == 0 {
		return ""
	}
	server := net.JoinHostPort(base.Hostname(), strconv.Itoa(int(o.about.Port)))
	for i := range rolls {
		err := checkStage(ctx, server, &rolls[i])
		switch {
		case delegation.NoServer(err):
			return ""
		case err != nil:
			return fmt.Sprintf("its DNS at %s %v", server, err)
		}
	}
	return ""
}

// checkStage returns an error unless a server answers as required in a rollover stage.
func checkStage(ctx context.Context, server string, r *dnssec.RollState) error {
	switch {
	case r.Goal == roll.ToSigned:
		return delegation.SignedBy(ctx, server, r.Zone, delegation.Answers, 0)
	case r.Goal == roll.ToUnsigned && r.Stage == roll.Offered:
		return delegation.OffersNoKey(ctx, server, r.Zone)
	case r.Target == nil:
		return nil
	case r.Stage == roll.Signing:
		return delegation.SignedBy(ctx, server, r.Zone, delegation.Answers, r.Target.Tag())
	}
	return delegation.SignedBy(ctx, server, r.Zone, delegation.Keys, r.Target.Tag())
}
