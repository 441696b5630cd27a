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

// Errors of the methods that change a roll.
var (
	ErrNotSigned = errors.New("this node serves no zone of that name with keys of its own")
	ErrRolling   = errors.New("a roll is under way")
	ErrNoRoll    = errors.New("no roll is under way")
	ErrTooLate   = errors.New("the old key has been taken out: begin another roll")

	errAgreeing = errors.New("the zone's key is being agreed on with the other nodes: try again in a minute")
)

// ZoneRoll is the roll of a zone, as a node offers it to others.
type ZoneRoll struct {
	Zone string `json:"zone"`
	roll.Progress
}

// RollState describes the roll of a zone, or its way, for people.
type RollState struct {
	Zone string
	roll.Progress
	Target *Key      // the key that is to remain; nil where this node has lost it
	Old    []*Key    // the keys that are to go
	Wait   roll.Wait // for the next stage, by the last look at the other nodes and the parent
	// Schedule has the stages to come, and Advice the acts by hand, with whether each is safe now. Both are of the time of
	// the last look at the other nodes and the parent, and empty before the first.
	Schedule []roll.Coming
	Advice   []roll.Advice
}

// KeyRoll is the change of a zone's signing key that waits for the parent or for another node.
type KeyRoll struct {
	Zone  string
	Way   string    // "unsigned" or "signed" of a zone that goes there; empty: its key changes
	Waits string    // what for
	Since time.Time // when its stage began
}

// Waiting lists the changes of signing keys that wait for something else than time.
func (z *Zones) Waiting() (waiting []KeyRoll) {
	for _, r := range z.Rolls() {
		if r.Wait.For != "" && r.Wait.Until.IsZero() {
			waiting = append(waiting, KeyRoll{Zone: r.Zone, Way: string(r.Way), Waits: r.Wait.For, Since: r.Since})
		}
	}
	return waiting
}

// look is the result of the last look at a roll: other nodes, parent's TTL, and what the next stage waits for.
type look struct {
	at    time.Time
	lacks string // the missing or wrong DS record at the parent; empty: none
	wait  roll.Wait
	peers []roll.Peer
	ttl   roll.TTLs
}

// RollOptions are the options of BeginRoll.
type RollOptions struct {
	Emergency bool      // an old key may be known to others: skip each wait that the chain of trust can do without
	Algorithm Algorithm // of the new key; 0: that of Options
	TTL       roll.TTLs // for the Schedule until the first look at other nodes and parent; DNSKEY is not needed
	TakeOver  bool      // replace a roll that is under way
}

// BeginRoll makes a key for a zone and begins to replace the zone's keys by it.
func (z *Zones) BeginRoll(apex string, o RollOptions) (RollState, error) {
	return z.beginRoll(apex, o, true)
}

// PreviewRoll returns the state that BeginRoll would, without the new key, and changes nothing.
func (z *Zones) PreviewRoll(apex string, o RollOptions) (RollState, error) {
	return z.beginRoll(apex, o, false)
}

// beginRoll is BeginRoll if keep is true, else PreviewRoll.
func (z *Zones) beginRoll(apex string, o RollOptions, keep bool) (RollState, error) {
	apex = dns.CanonicalName(apex)
	z.mu.Lock()
	defer z.mu.Unlock()
	switch rec := z.keyring.recordOf(apex); {
	case z.unsigned[apex]:
		return RollState{}, ErrUnsigned
	case z.signers[apex] == nil:
		return RollState{}, ErrNotSigned
	case rec.Way != nil && rec.Way.Way == roll.ToUnsigned:
		return RollState{}, fmt.Errorf("%w: the zone becomes unsigned; gslbctl dnssec roll %s --cancel stops this",
			ErrRolling, strings.TrimSuffix(apex, "."))
	case rec.Roll.UnderWay() && !o.TakeOver:
		return RollState{}, z.rolling(apex, rec.Roll, o.Emergency)
	case z.ownProvisional(apex) != nil:
		return RollState{}, errAgreeing
	}
	now := z.wall()
	key, err := z.newTarget(apex, o, now)
	if err != nil {
		return RollState{}, err
	}
	r := roll.Roll{Target: key.public, Started: key.created, By: z.nodeID, Emergency: o.Emergency,
		Algorithm: differ(key, z.signers[apex].keys)}
	if rec := z.keyring.recordOf(apex); rec.Roll.UnderWay() {
		r.Started = startAfter(rec.Roll, now)
	}
	begun := z.begin(apex, r, o.TTL, now)
	seen := look{ttl: z.heldTTLs(o.TTL, now)}
	seen.ttl.DS = cmp.Or(begun.Longest.DS, unknownDS)
	if !keep {
		return stateOf(apex, begun, z.keyring.Keys(apex), seen, now), nil
	}
	made := z.keyring.find(apex, key.public) == nil
	if err := z.keyring.Add(key, now, false); err != nil {
		return RollState{}, err
	}
	if err := z.keepRoll(apex, begun); err != nil {
		if made {
			err = errors.Join(err, z.keyring.Discard(key)) // no other node has seen it
		}
		return RollState{}, err
	}
	delete(z.looks, apex)
	if o.TTL != (roll.TTLs{}) {
		z.looks[apex] = seen
	}
	return z.rollState(apex), nil
}

// newTarget returns the key that a roll leads to: a new key, which is not stored yet. A zone that has MaxKeys keys has
// no place for a new key: a roll that is taken over leads to the same key as before, if this key has the algorithm that
// the options ask for. The caller holds mu.
func (z *Zones) newTarget(apex string, o RollOptions, now time.Time) (*Key, error) {
	if len(z.keyring.Keys(apex)) < MaxKeys {
		return z.newKeyOf(cmp.Or(o.Algorithm, z.algorithm), apex, now)
	}
	if p := z.keyring.recordOf(apex).Roll; p.UnderWay() {
		key := z.keyring.find(apex, p.Target)
		if key != nil && cmp.Or(o.Algorithm, key.Algorithm()) == key.Algorithm() {
			return key, nil
		}
	}
	return nil, fmt.Errorf("a new key of %s: %w (%d)", apex, ErrTooManyKeys, MaxKeys)
}

// rolling returns the error for a roll that cannot begin because of the roll p. It names the command that replaces p.
func (z *Zones) rolling(apex string, p *roll.Progress, emergency bool) error {
	zone, to := strings.TrimSuffix(apex, "."), "another key"
	if key := z.keyring.find(apex, p.Target); key != nil {
		to = fmt.Sprintf("key %d", key.tag)
	}
	if emergency {
		return fmt.Errorf("%w: to %s, at stage %s; gslbctl dnssec roll %s --emergency --take-over replaces it", ErrRolling,
			to, p.Stage, zone)
	}
	return fmt.Errorf("%w: to %s, at stage %s; gslbctl dnssec rolls shows its next step", ErrRolling, to, p.Stage)
}

// differ reports whether a published key has another algorithm than the target.
func differ(target *Key, published []*Key) bool {
	return slices.ContainsFunc(published, func(k *Key) bool { return k.Algorithm() != target.Algorithm() })
}

// CancelRoll takes the roll of a zone back: it begins another one, to the key from before. A zone on its way to be
// unsigned, or signed, turns the other way. Of a roll and a way, the one that was begun later is taken back.
func (z *Zones) CancelRoll(apex string) (RollState, error) {
	apex = dns.CanonicalName(apex)
	z.mu.Lock()
	defer z.mu.Unlock()
	p := z.keyring.recordOf(apex).Roll
	if z.wayFirst(apex) {
		return z.cancelWay(apex)
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
	now := z.wall()
	signer := z.signers[apex]
	r := roll.Roll{Target: keys[at].public, Started: startAfter(p, now), By: z.nodeID,
		Algorithm: differ(keys[at], signer.keys)}
	if err := z.keepRoll(apex, z.begin(apex, r, roll.TTLs{}, now)); err != nil {
		return RollState{}, err
	}
	return z.rollState(apex), nil
}

// ConfirmDS notes that an operator says that the parent has the new key's DS record and no other, or has done what a
// way asks for.
func (z *Zones) ConfirmDS(apex string) (RollState, error) {
	apex = dns.CanonicalName(apex)
	z.mu.Lock()
	defer z.mu.Unlock()
	p := z.keyring.recordOf(apex).Roll
	if way := z.keyring.recordOf(apex).Way; z.served(apex) && way.UnderWay() &&
		(way.Stage == roll.Offered || !p.UnderWay()) {
		return z.confirmWay(apex)
	}
	if !p.UnderWay() || z.signers[apex] == nil {
		return RollState{}, ErrNoRoll
	}
	if p.Stage != roll.Offered {
		return RollState{}, fmt.Errorf("the roll is at %s: the parent is to have the record at %s", p.Stage, roll.Offered)
	}
	next := *p
	next.Confirmed = z.wall()
	if err := z.keepRoll(apex, &next); err != nil {
		return RollState{}, err
	}
	return z.rollState(apex), nil
}

// Rolls lists the rolls and ways of the served zones, ended ones included. The roll of a zone that is not signed stands
// still, and is not listed.
func (z *Zones) Rolls() []RollState {
	z.mu.Lock()
	defer z.mu.Unlock()
	var all []RollState
	for _, apex := range z.servedZones() {
		rec := z.keyring.recordOf(apex)
		if rec.Roll != nil && z.signers[apex] != nil {
			all = append(all, z.rollState(apex))
		}
		if rec.Way != nil {
			all = append(all, z.wayState(apex))
		}
	}
	return all
}

// Rolling lists the served zones with a roll or a way under way.
func (z *Zones) Rolling() []string {
	z.mu.Lock()
	defer z.mu.Unlock()
	var all []string
	for _, apex := range z.servedZones() {
		rec := z.keyring.recordOf(apex)
		if rec.Roll.UnderWay() && z.signers[apex] != nil || rec.Way.UnderWay() {
			all = append(all, apex)
		}
	}
	return all
}

// wall returns the time without its monotonic reading, for comparison with other nodes' times.
func (z *Zones) wall() time.Time { return z.now().UTC().Round(0) }

func (z *Zones) rollState(apex string) RollState {
	return stateOf(apex, z.keyring.recordOf(apex).Roll, z.keyring.Keys(apex), z.looks[apex], z.wall())
}

func stateOf(apex string, p *roll.Progress, keys []*Key, seen look, now time.Time) RollState {
	s := RollState{Zone: apex, Progress: *p, Wait: seen.wait}
	if p.UnderWay() && seen.ttl.DNSKEY > 0 {
		s.Wait = nextWait(p, seen, now)
	}
	switch {
	case p.Way == roll.ToUnsigned && p.Stage == roll.Done:
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

// nextWait returns the reason why a roll is not at its next stage now. A step with an expired wait waits for the next
// look.
func nextWait(p *roll.Progress, seen look, now time.Time) roll.Wait {
	next, wait := roll.Next(p, seen.peers, seen.lacks, seen.ttl, now)
	if next != nil {
		return roll.Wait{For: "this node to ask the other nodes and the parent", Until: now}
	}
	return wait
}

func (z *Zones) keepRoll(apex string, p *roll.Progress) error {
	rec := z.keyring.recordOf(apex)
	before := rec.Roll
	rec.Roll = p
	if err := rec.keep(z.keyring.dir, apex); err != nil {
		rec.Roll = before
		return err
	}
	return nil
}

// Surroundings describes the other nodes and the parent zones, as far as this node knows.
type Surroundings struct {
	Peers  []Neighbour
	Parent func(apex string) Parent
	TTL    time.Duration // the longest of all answers
	Margin time.Duration // see roll.TTLs
}

// Neighbour is another node that serves the same zones.
type Neighbour struct {
	Name  string
	Offer *Offer // that it has just made; nil: none
	Why   string // reason why it has made none; empty: it has
}

// Parent is the answer of the servers of a zone's parent for its DS records.
type Parent struct {
	DS  []*dns.DS     // of all of them together
	TTL time.Duration // the longest that was seen so far; 0: not known
	Why string        // reason why DS may lack some that they have; empty: it lacks none
	Not string        // sentence about a server that has no DS record; empty: each has one
}

// unknownDS is the TTL that a DS record counts as having where it could not be seen.
const unknownDS = 48 * time.Hour

// StepRolls takes the steps that rolls and ways can take now. It returns a description of each step for the log;
// without steps, keys are used as before.
//
// TTL of Surroundings and TTL of Parent are current. Each roll and way waits for the longest TTLs that it has stored.
func (z *Zones) StepRolls(s Surroundings) (steps []string, err error) {
	for _, apex := range z.Rolling() {
		parent := s.Parent(apex)
		ttl := roll.TTLs{Margin: s.Margin, Answers: s.TTL, DS: parent.TTL}
		for _, one := range []func(string, []Neighbour, Parent, roll.TTLs) (string, error){z.stepWay, z.stepRoll} {
			step, failed := one(apex, s.Peers, parent, ttl)
			if err = errors.Join(err, failed); step != "" {
				steps = append(steps, step)
			}
		}
	}
	return steps, err
}

func (z *Zones) stepRoll(apex string, neighbours []Neighbour, parent Parent, ttl roll.TTLs) (step string, err error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	own, now := z.keyring.recordOf(apex).Roll, z.wall()
	if !own.UnderWay() || z.signers[apex] == nil {
		return "", nil
	}
	target := z.keyring.find(apex, own.Target)
	if target == nil {
		z.looks[apex] = look{wait: roll.Wait{For: "the new key is not here: restore it, or take the roll back"}}
		return "", nil
	}
	lacks := parent.lacks([]*Key{target})
	if way := z.keyring.recordOf(apex).Way; way.WithholdsDS() {
		lacks = "the parent is to have no DS record while the zone goes " + string(way.Way)
	}
	own.NoteParent(lacks == "", z.looks[apex].at, now)
	if err := z.noteDS(apex, &parent, now); err != nil {
		return "", err
	}
	peers := peersOf(neighbours, func(o *Offer) *roll.Progress { return o.rolls[apex] })
	ttl, err = z.noteTTLs(own, peers, ttl, now, func() error { return z.keepRoll(apex, own) })
	if err != nil {
		return "", err
	}
	next, wait := roll.Next(own, peers, lacks, ttl, now)
	z.looks[apex] = look{now, lacks, wait, peers, ttl}
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
	if err := z.keepRoll(apex, next); err != nil {
		return "", err
	}
	return fmt.Sprintf("the roll of %s to key %d is at %s", apex, target.tag, next.Stage), nil
}

func peersOf(neighbours []Neighbour, of func(*Offer) *roll.Progress) []roll.Peer {
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

// lacks returns the reason why the parent does not have the DS records of these keys and no others; empty if it has.
func (p *Parent) lacks(keys []*Key) string {
	for _, ds := range p.DS {
		if !slices.ContainsFunc(keys, func(k *Key) bool {
			own := k.DNSKEY(0).ToDS(ds.DigestType)
			return ds.KeyTag == k.tag && own != nil && own.Digest == ds.Digest
		}) {
			return fmt.Sprintf("the parent has the DS record of key %d still: take it out there", ds.KeyTag)
		}
	}
	switch {
	case p.Why != "":
		return p.Why
	case len(p.DS) == 0:
		return fmt.Sprintf("the parent has no DS record of key %d yet: give it %s", keys[0].tag, keys[0].DSLine())
	}
	return p.Not
}

func publics(keys []*Key) (all [][]byte) {
	for _, k := range keys {
		all = append(all, k.public)
	}
	return all
}

// adoptRoll joins the latest roll that the other nodes offer. Its new key comes with their keys.
func (m *merging) adoptRoll(apex string) error {
	rec := m.keyring.recordOf(apex)
	var peers []roll.Peer
	for i := range m.offers {
		if p := m.offers[i].rolls[apex]; p != nil && m.offers[i].offers(apex, p.Target) {
			peers = append(peers, roll.Peer{Progress: p})
		}
	}
	next := roll.Adopt(rec.Roll, peers, m.wall())
	if next == nil {
		return nil
	}
	if rec.withdrawn(next.Target) {
		rec.forget(next.Target)
	}
	if keys := m.keyring.Keys(apex); len(keys) == MaxKeys && m.keyring.find(apex, next.Target) == nil {
		// of an old backup: no other node has used it since the roll began
		at := slices.IndexFunc(keys, func(k *Key) bool {
			return !slices.ContainsFunc(next.Before, func(b []byte) bool { return slices.Equal(b, k.public) })
		})
		if at >= 0 {
			if err := m.keyring.Withdraw(keys[at], m.now); err != nil {
				return err
			}
		}
	}
	next.Inherit(rec.Way, m.wall())
	m.Altered = true
	m.Taken = append(m.Taken, fmt.Sprintf("the roll of %s at %s", apex, next.Stage))
	return m.keepRoll(apex, next)
}
