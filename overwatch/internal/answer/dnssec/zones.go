package dnssec

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// Options configures Zones.
type Options struct {
	Dir        string           // directory of the key files
	NodeID     string           // id of this node, stored in its keys
	Now        func() time.Time // nil means time.Now
	Algorithm  Algorithm        // algorithm of new keys; 0 means ECDSAP256SHA256
	KeyTTL     time.Duration    // TTL of key records in whole seconds; 0 means DefaultKeyTTL
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
}

// Zones signs the zones of a node. It is safe for concurrent use.
type Zones struct {
	failedAt atomic.Int64 // time of the last signing failure in Unix nanoseconds; 0 means never
	nodeID   string
	keyTTL   time.Duration // TTL of key records; constant

	algorithm  Algorithm // algorithm of new keys; guarded by mu
	now        func() time.Time
	log        zerolog.Logger
	metrics    *metrics
	clock      clock
	epoch      atomic.Uint32
	keyCreated chan struct{} // contains a token after the creation of a provisional key

	mu           sync.Mutex
	keyring      *Keyring
	signers      map[string]*Signer // by apex
	expected     map[string]bool    // apexes of the expected zones
	peers        Peers
	observations map[string]observation // last observation for each rollover, by apex
	ttls         servedTTLs

	validated map[string]validated // by apex

	unsigned               map[string]bool        // apexes of zones served unsigned
	transitionObservations map[string]observation // last observation for each transition, by apex
}

// Open reads the existing keys. Damage returns unusable files; a private key with read permission for others is an
// error.
func Open(o Options) (*Zones, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	keyring, notes, err := OpenKeyring(o.Dir, o.Now())
	if err != nil {
		return nil, err
	}
	for _, note := range notes {
		o.Logger.Warn().Msg(note.Error())
	}
	z := &Zones{
		nodeID: o.NodeID, keyTTL: cmp.Or(o.KeyTTL, DefaultKeyTTL),
		algorithm: cmp.Or(o.Algorithm, ECDSAP256SHA256), now: o.Now,
		log: o.Logger, keyring: keyring, keyCreated: make(chan struct{}, 1),
		signers: make(map[string]*Signer), expected: make(map[string]bool),
		observations: make(map[string]observation), unsigned: make(map[string]bool),
		transitionObservations: make(map[string]observation),
		validated:              make(map[string]validated),
	}
	z.openTTLs()
	z.metrics = newMetrics(z)
	z.clock.check(o.Now())
	return z, z.metrics.register(o.Registerer)
}

// Damage returns an error that lists the unusable key files; nil if there are none. A node must not continue with
// damage that copies of peers did not repair, because the zone would silently receive a new key.
func (z *Zones) Damage() error {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.keyring.Damage()
}

// ReloadKeys rereads the key files. New keys are published, keys without files are withdrawn if the zone has others,
// and changed times take effect; Signer returns the result. For unusable files, ReloadKeys returns an error and changes
// nothing. A zone without files retains its keys, and a log line reports it. altered reports whether a key changed.
func (z *Zones) ReloadKeys() (altered bool, err error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	next, notes, err := z.keyring.reload(z.now())
	if err != nil {
		return false, err
	}
	for _, note := range notes {
		z.log.Warn().Msg(note.Error())
	}
	for _, apex := range sortedKeys(next.keys) {
		for _, k := range next.keys[apex] {
			if !slices.Contains(z.keyring.keys[apex], k) {
				z.log.Warn().Str("zone", apex).Uint16("key_tag", k.Tag()).Str("ds",
					k.DSLine()).Msg("loaded a signing key from its files")
			}
		}
	}
	altered = !maps.EqualFunc(z.keyring.keys, next.keys, slices.Equal[[]*Key])
	z.keyring = next
	return altered, nil
}

// Signer returns the signer of a zone, and creates a key if the zone has none. It returns the same signer until the
// signing keys change, and nil for a zone that a transition made unsigned.
func (z *Zones) Signer(apex string) (*Signer, error) {
	apex = dns.CanonicalName(apex)
	z.mu.Lock()
	defer z.mu.Unlock()
	now := z.now()
	if z.keyring.recordOf(apex).Transition.Unsigned() {
		z.endSigner(apex, z.signers[apex], now)
		delete(z.signers, apex)
		delete(z.validated, apex)
		z.unsigned[apex], z.expected[apex] = true, true
		return nil, nil
	}
	delete(z.unsigned, apex)
	if len(z.keyring.Keys(apex)) == 0 {
		if err := z.makeKey(apex, now); err != nil {
			return nil, fmt.Errorf("zone %s: %w", apex, err)
		}
	}
	signer, err := newSigner(z, apex, now)
	if err != nil {
		return nil, err
	}
	if old := z.signers[apex]; old != nil && old.equal(signer) {
		return old, nil
	}
	z.endSigner(apex, z.signers[apex], now)
	z.signers[apex] = signer
	z.expected[apex] = true
	return signer, nil
}

// generateKey generates a key with a tag that is unique among current and previous keys of the zone.
func (z *Zones) generateKey(a Algorithm, apex string, now time.Time) (key *Key, err error) {
	for key == nil || z.keyring.recordOf(apex).hasTag(key.tag) {
		if key, err = Generate(a, apex, z.nodeID, now); err != nil {
			return nil, err
		}
	}
	return key, nil
}

// SetAlgorithm sets the algorithm of new keys.
func (z *Zones) SetAlgorithm(a Algorithm) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.algorithm = a
}

// makeKey creates the first key of a zone. The caller holds mu.
func (z *Zones) makeKey(apex string, now time.Time) error {
	key, err := z.generateKey(z.algorithm, apex, now)
	if err != nil {
		return err
	}
	lost := z.keyring.Lost(apex)
	if err := z.keyring.addFirst(key, now, z.peers == PeersAsked); err != nil {
		return err
	}
	if z.peers == PeersApart {
		if err := z.keyring.SetApart(apex, true); err != nil {
			return err
		}
	}
	line := z.log.Warn()
	if len(lost) > 0 {
		line = z.log.Error().Uints16("lost_keys", lost)
	}
	line = line.Str("zone", apex).Uint16("key_tag", key.Tag()).Str("ds", key.DSLine())
	switch {
	case len(lost) > 0:
		line.Msg("the zone's keys are gone and a new one was made: until its DS record takes the place of the old one in " +
			"the parent zone, validating resolvers refuse the zone")
	case z.peers == PeersApart:
		line.Msg("made a new signing key, and other nodes cannot be asked for theirs: each signs with its own until they " +
			"exchange keys")
	case z.peers == PeersAsked:
		line.Msg("made a new signing key; if no other node has one, publish its DS record in the parent zone")
	default:
		line.Msg("made a new signing key: publish its DS record in the parent zone")
	}
	if z.peers == PeersAsked {
		select {
		case z.keyCreated <- struct{}{}:
		default:
		}
	}
	return nil
}

// lossCounts is the time for which a loss of keys is reported. The node cannot observe whether the parent then has the
// new DS record.
const lossCounts = 24 * time.Hour

// failureLasts is the time for which a signing failure is reported.
const failureLasts = 5 * time.Minute

// Failing reports whether signing failed within the last five minutes.
func (z *Zones) Failing() bool {
	at := z.failedAt.Load()
	return at != 0 && z.now().Sub(time.Unix(0, at)) < failureLasts
}

// KeysLost reports whether a served zone lost its keys within the last day. Until the parent has the DS record of the
// new key, validating resolvers reject the zone. A copy of an old key from a peer ends the loss.
func (z *Zones) KeysLost() bool {
	for _, lost := range z.losses() {
		if lost {
			return true
		}
	}
	return false
}

// losses returns, for each served zone, whether its keys were lost.
func (z *Zones) losses() map[string]bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	since := z.now().Add(-lossCounts)
	losses := make(map[string]bool, len(z.signers))
	for apex := range z.signers {
		losses[apex] = z.keyring.lostSince(apex, since)
	}
	return losses
}

// SetServed removes the signers of all other zones. Their keys remain.
func (z *Zones) SetServed(apexes map[string]bool) {
	z.mu.Lock()
	defer z.mu.Unlock()
	for apex := range z.signers {
		if !apexes[apex] {
			delete(z.signers, apex)
			delete(z.validated, apex)
		}
	}
	for apex := range z.unsigned {
		if !apexes[apex] {
			delete(z.unsigned, apex)
		}
	}
	z.expected = maps.Clone(apexes)
}

// SigningKeysChanged reports whether the times in key files have changed the signing keys since Signer was called.
func (z *Zones) SigningKeysChanged() bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	now := z.now()
	for apex, signer := range z.signers {
		if next, err := newSigner(z, apex, now); err == nil && !signer.equal(next) {
			return true
		}
	}
	return false
}

// CheckClock reports whether the wall clock jumped since the last call. All signatures are then invalid and replaced on
// demand. It should be called every few seconds.
func (z *Zones) CheckClock() (jumped bool) {
	now := z.now()
	if !z.clock.check(now) {
		return false
	}
	z.epoch.Add(1)
	z.log.Warn().Time("now", now).Msg("the clock jumped: replacing all signatures")
	return true
}

// KeyState is a key with its current use.
type KeyState struct {
	*Key
	State       State
	Signing     bool // the key signs now
	Incoming    bool // new key of a rollover; its DS record is not confirmed as the only one
	Retiring    bool // old key of a rollover; the parent has the DS record of the new key
	Offered     bool // the parent should have its DS record
	Provisional bool // created here; a key of another node may replace it, so it must not be at the parent yet
}

// Keys returns the keys of the served zones, by zone, the oldest first. Keys of an unsigned zone are retired.
func (z *Zones) Keys() []KeyState {
	z.mu.Lock()
	defer z.mu.Unlock()
	now := z.now()
	var all []KeyState
	for _, apex := range z.servedZones() {
		signer := z.signers[apex]
		if signer == nil {
			signer = new(Signer)
		}
		for _, k := range z.keyring.Keys(apex) {
			s := KeyState{Key: k, State: k.State(now), Signing: signer.signsWith(k),
				Offered: slices.Contains(signer.announced, k), Provisional: z.keyring.isProvisional(k)}
			if s.State == Active && !s.Signing {
				s.State = Retired
			}
			if p := z.keyring.recordOf(apex).Roll; p.UnderWay() && z.signers[apex] != nil {
				s.Incoming = p.Incoming(k.public, z.observations[apex].peers)
				s.Retiring = p.Retiring(k.public, k.created, z.observations[apex].peers)
			}
			all = append(all, s)
		}
	}
	return all
}

// Now returns the time of the clock that signatures use.
func (z *Zones) Now() time.Time { return z.now() }
