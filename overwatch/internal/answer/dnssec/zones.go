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
	Dir        string           // of the key files
	NodeID     string           // noted in the keys that are made here
	Now        func() time.Time // nil means time.Now
	Algorithm  Algorithm        // of new keys; 0 means ECDSAP256SHA256
	KeyTTL     time.Duration    // of key records, in whole seconds; 0 means DefaultKeyTTL
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
}

// Zones signs the zones of a node. Its methods may be called from any goroutine.
type Zones struct {
	failedAt atomic.Int64 // time of the last failure to sign, in nanoseconds of Unix time; 0: never
	nodeID   string
	keyTTL   time.Duration // of key records; the same for the life of the process

	algorithm Algorithm // of new keys; under mu
	now       func() time.Time
	log       zerolog.Logger
	metrics   *metrics
	clock     clock
	epoch     atomic.Uint32
	made      chan struct{} // holds one token when a provisional key was made

	mu      sync.Mutex
	keyring *Keyring
	signers map[string]*Signer // by apex
	wanted  map[string]bool    // apexes of the zones that this node is to serve
	peers   Peers
	looks   map[string]look // the last look at each roll, by apex
	ttls    servedTTLs

	validated map[string]validated // by apex

	unsigned map[string]bool // apexes of the zones that are served unsigned, as their ways say
	wayLooks map[string]look // the last look at each way, by apex
}

// Open reads the existing keys. Damage names files that cannot be used; a private key that others can read is an
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
		log: o.Logger, keyring: keyring, made: make(chan struct{}, 1),
		signers: make(map[string]*Signer), wanted: make(map[string]bool),
		looks: make(map[string]look), unsigned: make(map[string]bool), wayLooks: make(map[string]look),
		validated: make(map[string]validated),
	}
	z.openTTLs()
	z.metrics = newMetrics(z)
	z.clock.check(o.Now())
	return z, z.metrics.register(o.Registerer)
}

// Damage names the key files that cannot be used; nil for none. A node must not go on with damage that no peer's copy
// has mended, because the zone would silently get a new key.
func (z *Zones) Damage() error {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.keyring.Damage()
}

// Reread reads the key files again, as a start would. New keys are published, keys whose files are gone while the
// zone has others are withdrawn, and changed times count. Signer returns the result. An error names unusable files,
// and then no key changes. A zone whose files are all gone keeps its keys, and the log says so. altered reports
// whether any key changed.
func (z *Zones) Reread() (altered bool, err error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	next, notes, err := z.keyring.reread(z.now())
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
					k.DSLine()).Msg("took a signing key from its files")
			}
		}
	}
	altered = !maps.EqualFunc(z.keyring.keys, next.keys, slices.Equal[[]*Key])
	z.keyring = next
	return altered, nil
}

// Signer returns the signer of a zone, after making a key if the zone has none. It returns the same one until the
// signing keys change, and nil for a zone that its way has made unsigned.
func (z *Zones) Signer(apex string) (*Signer, error) {
	apex = dns.CanonicalName(apex)
	z.mu.Lock()
	defer z.mu.Unlock()
	now := z.now()
	if z.keyring.recordOf(apex).Way.Unsigned() {
		z.endSigner(apex, z.signers[apex], now)
		delete(z.signers, apex)
		delete(z.validated, apex)
		z.unsigned[apex], z.wanted[apex] = true, true
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
	if old := z.signers[apex]; old != nil && old.same(signer) {
		return old, nil
	}
	z.endSigner(apex, z.signers[apex], now)
	z.signers[apex] = signer
	z.wanted[apex] = true
	return signer, nil
}

// newKeyOf generates a key whose tag no other key of the zone has or had.
func (z *Zones) newKeyOf(a Algorithm, apex string, now time.Time) (key *Key, err error) {
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

// makeKey gives a zone its first key. The caller holds mu.
func (z *Zones) makeKey(apex string, now time.Time) error {
	key, err := z.newKeyOf(z.algorithm, apex, now)
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
		case z.made <- struct{}{}:
		default:
		}
	}
	return nil
}

// lossCounts is the time for which a loss of keys is reported. After it the parent may be expected to have the new
// key's DS record, which a node cannot see.
const lossCounts = 24 * time.Hour

// failureLasts is the time for which a failure to sign is reported.
const failureLasts = 5 * time.Minute

// Failing reports whether an RRset could not be signed in the last five minutes.
func (z *Zones) Failing() bool {
	at := z.failedAt.Load()
	return at != 0 && z.now().Sub(time.Unix(0, at)) < failureLasts
}

// KeysLost reports whether a served zone has only keys of the last day although it had others before. Until the
// parent has the DS record of a new key, validating resolvers refuse the zone. A copy of an old key from a peer ends
// it.
func (z *Zones) KeysLost() bool {
	for _, lost := range z.losses() {
		if lost {
			return true
		}
	}
	return false
}

// losses maps each served zone to whether its keys were lost.
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

// Only forgets the signers of all other zones. Their keys stay.
func (z *Zones) Only(apexes map[string]bool) {
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
	z.wanted = maps.Clone(apexes)
}

// Changed reports whether a key has begun or ceased to sign since Signer was called for its zone, by the times in key
// files.
func (z *Zones) Changed() bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	now := z.now()
	for apex, signer := range z.signers {
		if next, err := newSigner(z, apex, now); err == nil && !signer.same(next) {
			return true
		}
	}
	return false
}

// CheckClock reports whether the wall clock has been set since the last call. Earlier signatures are then void and
// made again when they are needed. It is to be called every few seconds.
func (z *Zones) CheckClock() (jumped bool) {
	now := z.now()
	if !z.clock.check(now) {
		return false
	}
	z.epoch.Add(1)
	z.log.Warn().Time("now", now).Msg("the clock was set: signing everything again")
	return true
}

// KeyState is a key with its use at present.
type KeyState struct {
	*Key
	State       State
	Signing     bool // it signs now
	Incoming    bool // the new key of a roll, which the parent is not known to have alone
	Retiring    bool // an old key of a roll, whose new one the parent has
	Offered     bool // the parent is to have its DS record
	Provisional bool // made here, and may give way to the key of another node: not for the parent yet
}

// Keys lists the keys of the served zones, zone by zone, the oldest first. Those of a zone that is not signed are
// retired.
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
			s := KeyState{Key: k, State: k.State(now), Signing: signer.uses(k),
				Offered: slices.Contains(signer.announced, k), Provisional: z.keyring.provisional(k)}
			if s.State == Active && !s.Signing {
				s.State = Retired
			}
			if p := z.keyring.recordOf(apex).Roll; p.UnderWay() && z.signers[apex] != nil {
				s.Incoming = p.Incoming(k.public, z.looks[apex].peers)
				s.Retiring = p.Retiring(k.public, k.created, z.looks[apex].peers)
			}
			all = append(all, s)
		}
	}
	return all
}

// Now returns the time of the clock that signatures use.
func (z *Zones) Now() time.Time { return z.now() }
