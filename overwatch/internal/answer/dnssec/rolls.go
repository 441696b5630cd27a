package dnssec

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/dnssec/roll"
)

// Errors of the methods that change a rollover.
var (
	ErrNotSigned = errors.New("this node does not serve a signed zone of that name")
	ErrRolling   = errors.New("a roll is under way")
	ErrNoRoll    = errors.New("no roll is under way")
	ErrTooLate   = errors.New("the old key was removed: begin another roll")

	errAgreeing = errors.New("the nodes are agreeing on the key of the zone: retry in a minute")
)

// ZoneRoll is the rollover of a zone, as offered to other nodes.
type ZoneRoll struct {
	Zone string `json:"zone"`
	roll.Progress
}

// RollState describes the rollover or signing transition of a zone, for operators.
type RollState struct {
	Zone string
	roll.Progress
	Target *Key      // the target key; nil if this node lost it
	Old    []*Key    // the keys to remove
	Wait   roll.Wait // reason for waiting, from the last observation of other nodes and the parent
	// Schedule contains the upcoming stages, Advice the manual steps. Both are computed from the last observation of
	// other nodes and the parent, and empty before the first.
	Schedule []roll.UpcomingStage
	Advice   []roll.Advice
}

// KeyRoll is a rollover or signing transition that waits for the parent or for another node.
type KeyRoll struct {
	Zone  string
	Goal  string    // "unsigned" or "signed" for a signing transition; empty for a key rollover
	Waits string    // reason for waiting
	Since time.Time // start of the stage
}

// Waiting returns the rollovers and signing transitions that wait for a condition other than time.
func (z *Zones) Waiting() (waiting []KeyRoll) {
	for _, r := range z.Rolls() {
		if r.Wait.For != "" && r.Wait.Until.IsZero() {
			waiting = append(waiting, KeyRoll{Zone: r.Zone, Goal: string(r.Goal), Waits: r.Wait.For, Since: r.Since})
		}
	}
	return waiting
}

// observation is the last observation for a rollover: peers, TTLs, and the condition for the next stage.
type observation struct {
	at    time.Time
	lacks string // fault of the DS records at the parent; empty if there is none
	wait  roll.Wait
	peers []roll.Peer
	ttl   roll.TTLs
}

// RollOptions are the options of BeginRoll.
type RollOptions struct {
	Emergency bool      // an old key may be compromised: skip waits that the chain of trust does not require
	Algorithm Algorithm // algorithm of the new key; 0 means the algorithm of Options
	TTL       roll.TTLs // TTLs for the Schedule until the first observation; DNSKEY is ignored
	TakeOver  bool      // replace a rollover that is under way
}

// BeginRoll creates a key for a zone and starts a rollover to it.
func (z *Zones) BeginRoll(apex string, o RollOptions) (RollState, error) {
	return z.beginRoll(apex, o, true)
}

// PreviewRoll returns the state after BeginRoll, without the new key, and changes nothing.
func (z *Zones) PreviewRoll(apex string, o RollOptions) (RollState, error) {
	return z.beginRoll(apex, o, false)
}

// beginRoll is BeginRoll if keep is true, otherwise PreviewRoll.
func (z *Zones) beginRoll(apex string, o RollOptions, keep bool) (RollState, error) {
	apex = dns.CanonicalName(apex)
	z.mu.Lock()
	defer z.mu.Unlock()
	switch rec := z.keyring.recordOf(apex); {
	case z.unsigned[apex]:
		return RollState{}, ErrUnsigned
	case z.signers[apex] == nil:
		return RollState{}, ErrNotSigned
	case rec.Transition != nil && rec.Transition.Goal == roll.ToUnsigned:
		return RollState{}, fmt.Errorf("%w: the zone becomes unsigned; gslbctl dnssec roll %s --cancel stops this",
			ErrRolling, strings.TrimSuffix(apex, "."))
	case rec.Roll.UnderWay() && !o.TakeOver:
		return RollState{}, z.rolling(apex, rec.Roll, o.Emergency)
	case z.ownProvisional(apex) != nil:
		return RollState{}, errAgreeing
	}
	now := z.wallTime()
	key, err := z.newTarget(apex, o, now)
	if err != nil {
		return RollState{}, err
	}
	r := roll.Roll{Target: key.public, Started: key.created, By: z.nodeID, Emergency: o.Emergency,
		Algorithm: hasOtherAlgorithm(key, z.signers[apex].keys)}
	if rec := z.keyring.recordOf(apex); rec.Roll.UnderWay() {
		r.Started = startAfter(rec.Roll, now)
	}
	begun := z.newProgress(apex, r, o.TTL, now)
	seen := observation{ttl: z.heldTTLs(o.TTL, now)}
	seen.ttl.DS = cmp.Or(begun.Longest.DS, unknownDS)
	if !keep {
		return stateOf(apex, begun, z.keyring.Keys(apex), seen, now), nil
	}
	made := z.keyring.findKey(apex, key.public) == nil
	if err := z.keyring.Add(key, now, false); err != nil {
		return RollState{}, err
	}
	if err := z.storeRoll(apex, begun); err != nil {
		if made {
			err = errors.Join(err, z.keyring.Discard(key)) // no other node has received the key
		}
		return RollState{}, err
	}
	delete(z.observations, apex)
	if o.TTL != (roll.TTLs{}) {
		z.observations[apex] = seen
	}
	return z.rollState(apex), nil
}

// newTarget returns the target of a rollover: a new key, which is not stored yet. For a zone with MaxKeys keys, a
// rollover that replaces another retains its target, if the target has the requested algorithm. The caller holds mu.
func (z *Zones) newTarget(apex string, o RollOptions, now time.Time) (*Key, error) {
	if len(z.keyring.Keys(apex)) < MaxKeys {
		return z.generateKey(cmp.Or(o.Algorithm, z.algorithm), apex, now)
	}
	if p := z.keyring.recordOf(apex).Roll; p.UnderWay() {
		key := z.keyring.findKey(apex, p.Target)
		if key != nil && cmp.Or(o.Algorithm, key.Algorithm()) == key.Algorithm() {
			return key, nil
		}
	}
	return nil, fmt.Errorf("a new key of %s: %w (%d)", apex, ErrTooManyKeys, MaxKeys)
}

// rolling returns the error for a rollover that the rollover p prevents, with the command that replaces p.
func (z *Zones) rolling(apex string, p *roll.Progress, emergency bool) error {
	zone, to := strings.TrimSuffix(apex, "."), "another key"
	if key := z.keyring.findKey(apex, p.Target); key != nil {
		to = fmt.Sprintf("key %d", key.tag)
	}
	if emergency {
		return fmt.Errorf("%w: to %s, at stage %s; gslbctl dnssec roll %s --emergency --take-over replaces it", ErrRolling,
			to, p.Stage, zone)
	}
	return fmt.Errorf("%w: to %s, at stage %s; gslbctl dnssec rolls shows its next step", ErrRolling, to, p.Stage)
}

// hasOtherAlgorithm reports whether a published key has another algorithm than target.
func hasOtherAlgorithm(target *Key, published []*Key) bool {
	return slices.ContainsFunc(published, func(k *Key) bool { return k.Algorithm() != target.Algorithm() })
}

// CancelRoll cancels the rollover of a zone by starting a rollover to the previous key, or reverses its signing
// transition. If both exist, it cancels the later of them.
func (z *Zones) CancelRoll(apex string) (RollState, error) {
	apex = dns.CanonicalName(apex)
	z.mu.Lock()
	defer z.mu.Unlock()
	p := z.keyring.recordOf(apex).Roll
	if z.isTransitionLatest(apex) {
		return z.cancelTransition(apex)
	}
	if p == nil || z.signers[apex] == nil {
		return RollState{}, ErrNoRoll
	}
	keys := z.keyring.Keys(apex)
	at := slices.IndexFunc(keys, func(k *Key) bool { return !slices.Equal(k.public, p.Target) })
	switch {
	case p.Stage == roll.Done:
		return RollState{}, ErrNoRoll
	case at < 0:
		return RollState{}, ErrTooLate
	}
	now := z.wallTime()
	signer := z.signers[apex]
	r := roll.Roll{Target: keys[at].public, Started: startAfter(p, now), By: z.nodeID,
		Algorithm: hasOtherAlgorithm(keys[at], signer.keys)}
	if err := z.storeRoll(apex, z.newProgress(apex, r, roll.TTLs{}, now)); err != nil {
		return RollState{}, err
	}
	return z.rollState(apex), nil
}

// ConfirmDS records the confirmation of an operator that the parent has only the new key's DS record, or satisfies the
// signing transition.
func (z *Zones) ConfirmDS(apex string) (RollState, error) {
	apex = dns.CanonicalName(apex)
	z.mu.Lock()
	defer z.mu.Unlock()
	p := z.keyring.recordOf(apex).Roll
	if way := z.keyring.recordOf(apex).Transition; z.served(apex) && way.UnderWay() &&
		(way.Stage == roll.Offered || !p.UnderWay()) {
		return z.confirmTransition(apex)
	}
	if !p.UnderWay() || z.signers[apex] == nil {
		return RollState{}, ErrNoRoll
	}
	if p.Stage != roll.Offered {
		return RollState{}, fmt.Errorf("the roll is at %s: the parent is to have the record at %s", p.Stage, roll.Offered)
	}
	next := *p
	next.Confirmed = z.wallTime()
	if err := z.storeRoll(apex, &next); err != nil {
		return RollState{}, err
	}
	return z.rollState(apex), nil
}

// Rolls returns the rollovers and signing transitions of the served zones, including ended ones. It omits rollovers of
// unsigned zones, which are paused.
func (z *Zones) Rolls() []RollState {
	z.mu.Lock()
	defer z.mu.Unlock()
	var all []RollState
	for _, apex := range z.servedZones() {
		rec := z.keyring.recordOf(apex)
		if rec.Roll != nil && z.signers[apex] != nil {
			all = append(all, z.rollState(apex))
		}
		if rec.Transition != nil {
			all = append(all, z.transitionState(apex))
		}
	}
	return all
}

// Rolling returns the served zones with a rollover or signing transition under way.
func (z *Zones) Rolling() []string {
	z.mu.Lock()
	defer z.mu.Unlock()
	var all []string
	for _, apex := range z.servedZones() {
		rec := z.keyring.recordOf(apex)
		if rec.Roll.UnderWay() && z.signers[apex] != nil || rec.Transition.UnderWay() {
			all = append(all, apex)
		}
	}
	return all
}

// wallTime returns the time without monotonic reading, for comparison with the times of other nodes.
func (z *Zones) wallTime() time.Time { return z.now().UTC().Round(0) }

func (z *Zones) rollState(apex string) RollState {
	return stateOf(apex, z.keyring.recordOf(apex).Roll, z.keyring.Keys(apex), z.observations[apex], z.wallTime())
}

func stateOf(apex string, p *roll.Progress, keys []*Key, seen observation, now time.Time) RollState {
	s := RollState{Zone: apex, Progress: *p, Wait: seen.wait}
	if p.UnderWay() && seen.ttl.DNSKEY > 0 {
		s.Wait = nextWait(p, seen, now)
	}
	switch {
	case p.Goal == roll.ToUnsigned && p.Stage == roll.Done:
		s.Advice = roll.Advise(p, nil, seen.ttl, now)
	case seen.ttl.DNSKEY > 0:
		s.Schedule, s.Advice = roll.Schedule(p, seen.peers, seen.ttl, now), roll.Advise(p, seen.peers, seen.ttl, now)
	}
	for _, k := range keys {
		if slices.Equal(k.public, s.Progress.Roll.Target) {
			s.Target = k
		} else {
			s.Old = append(s.Old, k)
		}
	}
	return s
}

// nextWait returns the reason why a rollover has not reached its next stage. If the wait has expired, it waits for the
// next observation.
func nextWait(p *roll.Progress, seen observation, now time.Time) roll.Wait {
	next, wait := roll.Next(p, seen.peers, seen.lacks, seen.ttl, now)
	if next != nil {
		return roll.Wait{For: "this node to ask the other nodes and the parent", Until: now}
	}
	return wait
}

func (z *Zones) storeRoll(apex string, p *roll.Progress) error {
	rec := z.keyring.recordOf(apex)
	before := rec.Roll
	rec.Roll = p
	if err := rec.write(z.keyring.dir, apex); err != nil {
		rec.Roll = before
		return err
	}
	return nil
}

// Surroundings describes the other nodes and the parent zones, as known to this node.
type Surroundings struct {
	Peers  []Neighbor
	Parent func(apex string) Parent
	TTL    time.Duration // longest TTL of all answers
	Margin time.Duration // see roll.TTLs
}

// Neighbor is another node that serves the same zones.
type Neighbor struct {
	Name  string
	Offer *Offer // latest offer; nil if missing
	Why   string // reason for a missing offer; empty if there is an offer
}

// Parent is the response of the servers of a parent zone for DS records.
type Parent struct {
	DS  []*dns.DS     // DS records of all servers
	TTL time.Duration // longest observed TTL; 0 if unknown
	Why string        // reason why DS may be incomplete; empty if it is complete
	Not string        // sentence about a server without a DS record; empty if all servers have one
}

// unknownDS is the assumed TTL of unknown DS records.
const unknownDS = 48 * time.Hour

// StepRolls performs the possible steps of rollovers and signing transitions. It returns a description of each step for
// the log. Without steps, the use of keys does not change.
//
// The TTLs of Surroundings and Parent are current values. Each rollover waits for the longest TTLs that it has stored.
func (z *Zones) StepRolls(s Surroundings) (steps []string, err error) {
	for _, apex := range z.Rolling() {
		parent := s.Parent(apex)
		ttl := roll.TTLs{Margin: s.Margin, Answers: s.TTL, DS: parent.TTL}
		for _, one := range []func(string, []Neighbor, Parent, roll.TTLs) (string, error){z.stepTransition, z.stepRoll} {
			step, failed := one(apex, s.Peers, parent, ttl)
			if err = errors.Join(err, failed); step != "" {
				steps = append(steps, step)
			}
		}
	}
	return steps, err
}

func (z *Zones) stepRoll(apex string, neighbours []Neighbor, parent Parent, ttl roll.TTLs) (step string, err error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	own, now := z.keyring.recordOf(apex).Roll, z.wallTime()
	if !own.UnderWay() || z.signers[apex] == nil {
		return "", nil
	}
	target := z.keyring.findKey(apex, own.Target)
	if target == nil {
		z.observations[apex] = observation{wait: roll.Wait{For: "the new key is not here: restore it, or take the roll back"}}
		return "", nil
	}
	lacks := parent.missingDS([]*Key{target})
	if way := z.keyring.recordOf(apex).Transition; way.WithholdsDS() {
		lacks = "the parent is to have no DS record while the zone goes " + string(way.Goal)
	}
	own.RecordParent(lacks == "", z.observations[apex].at, now)
	if err := z.recordParentDS(apex, &parent, now); err != nil {
		return "", err
	}
	peers := peersOf(neighbours, func(o *Offer) *roll.Progress { return o.rolls[apex] })
	ttl, err = z.raiseTTLs(own, peers, ttl, now, func() error { return z.storeRoll(apex, own) })
	if err != nil {
		return "", err
	}
	next, wait := roll.Next(own, peers, lacks, ttl, now)
	z.observations[apex] = observation{now, lacks, wait, peers, ttl}
	if next == nil {
		return "", nil
	}
	if next.Stage == roll.Done {
		for _, k := range z.keyring.Keys(apex) {
			if next.Ends(k.public, k.created) {
				if err := z.keyring.Withdraw(k, now); err != nil {
					return "", err
				}
			}
		}
	}
	if err := z.storeRoll(apex, next); err != nil {
		return "", err
	}
	return fmt.Sprintf("the roll of %s to key %d is at %s", apex, target.tag, next.Stage), nil
}

func peersOf(neighbours []Neighbor, of func(*Offer) *roll.Progress) []roll.Peer {
	var peers []roll.Peer
	for _, n := range neighbours {
		p := roll.Peer{Name: n.Name, Why: n.Why}
		if n.Offer != nil {
			p.Progress = of(n.Offer)
		}
		peers = append(peers, p)
	}
	return peers
}

// missingDS returns the reason why the parent does not have exactly the DS records of keys; "" if it has.
func (p *Parent) missingDS(keys []*Key) string {
	for _, ds := range p.DS {
		if !slices.ContainsFunc(keys, func(k *Key) bool {
			own := k.DNSKEY(0).ToDS(ds.DigestType)
			return ds.KeyTag == k.tag && own != nil && own.Digest == ds.Digest
		}) {
			return fmt.Sprintf("the parent still has the DS record of key %d: remove it there", ds.KeyTag)
		}
	}
	switch {
	case p.Why != "":
		return p.Why
	case len(p.DS) == 0:
		return fmt.Sprintf("the parent has no DS record of key %d yet: add %s", keys[0].tag, keys[0].DSLine())
	}
	return p.Not
}

func publics(keys []*Key) (all [][]byte) {
	for _, k := range keys {
		all = append(all, k.public)
	}
	return all
}

// adoptRoll adopts the latest rollover that other nodes offer. The target key is in their keys.
func (m *merging) adoptRoll(apex string) error {
	rec := m.keyring.recordOf(apex)
	var peers []roll.Peer
	for i := range m.offers {
		if p := m.offers[i].rolls[apex]; p != nil && m.offers[i].offers(apex, p.Target) {
			peers = append(peers, roll.Peer{Progress: p})
		}
	}
	next := roll.Adopt(rec.Roll, peers, m.wallTime())
	if next == nil {
		return nil
	}
	if rec.withdrawn(next.Target) {
		rec.deleteEntry(next.Target)
	}
	if keys := m.keyring.Keys(apex); len(keys) == MaxKeys && m.keyring.findKey(apex, next.Target) == nil {
		// The key is from an old backup: no other node has used it since the start of the rollover.
		at := slices.IndexFunc(keys, func(k *Key) bool {
			return !slices.ContainsFunc(next.Before, func(b []byte) bool { return slices.Equal(b, k.public) })
		})
		if at >= 0 {
			if err := m.keyring.Withdraw(keys[at], m.now); err != nil {
				return err
			}
		}
	}
	next.Inherit(rec.Transition, m.wallTime())
	m.Altered = true
	m.Taken = append(m.Taken, fmt.Sprintf("the roll of %s at %s", apex, next.Stage))
	return m.storeRoll(apex, next)
}
