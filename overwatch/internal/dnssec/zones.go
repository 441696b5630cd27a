package dnssec

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// Options is what Zones needs.
type Options struct {
	Dir        string           // of the key files
	NodeID     string           // noted in the keys that are made here
	Now        func() time.Time // nil means time.Now
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
}

// Zones signs the zones of a node. Its methods may be called from any goroutine.
type Zones struct {
	nodeID  string
	now     func() time.Time
	log     zerolog.Logger
	metrics *metrics
	clock   clock
	epoch   atomic.Uint32

	mu      sync.Mutex
	keyring *Keyring
	signers map[string]*Signer // by apex
}

// Open reads the keys that there are. A key file that cannot be used is an error that names it.
func Open(o Options) (*Zones, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	keyring, err := OpenKeyring(o.Dir)
	if err != nil {
		return nil, err
	}
	z := &Zones{nodeID: o.NodeID, now: o.Now, log: o.Logger, keyring: keyring, signers: make(map[string]*Signer)}
	z.metrics = newMetrics(z)
	z.clock.check(o.Now())
	return z, z.metrics.register(o.Registerer)
}

// Signer returns what signs a zone, after making a key if the zone has none. It is the same one until the keys that sign
// change.
func (z *Zones) Signer(apex string) (*Signer, error) {
	apex = dns.CanonicalName(apex)
	z.mu.Lock()
	defer z.mu.Unlock()
	now := z.now()
	if len(z.keyring.Keys(apex)) == 0 {
		key, err := Generate(apex, z.nodeID, now)
		if err == nil {
			err = z.keyring.Add(key)
		}
		if err != nil {
			return nil, fmt.Errorf("zone %s: %w", apex, err)
		}
		z.log.Warn().Str("zone", apex).Uint16("key_tag", key.Tag()).Str("ds", key.DS(0).String()).
			Msg("made a new signing key: publish its DS record in the parent zone")
	}
	signer, err := newSigner(z, z.keyring.Keys(apex), now)
	if err != nil {
		return nil, err
	}
	if old := z.signers[apex]; old != nil && old.same(signer) {
		return old, nil
	}
	z.signers[apex] = signer
	return signer, nil
}

// Only forgets the signers of all zones but those of the apexes. Their keys stay.
func (z *Zones) Only(apexes map[string]bool) {
	z.mu.Lock()
	defer z.mu.Unlock()
	for apex := range z.signers {
		if !apexes[apex] {
			delete(z.signers, apex)
		}
	}
}

// Changed says whether a key has begun or ceased to sign since Signer was asked for its zone, as the times in key files say.
func (z *Zones) Changed() bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	now := z.now()
	for apex, signer := range z.signers {
		if next, err := newSigner(z, z.keyring.Keys(apex), now); err == nil && !signer.same(next) {
			return true
		}
	}
	return false
}

// CheckClock notices that the wall clock has been set. Signatures that were made before are then void, and made again when
// they are needed. It says whether that is so, and is to be called every few seconds.
func (z *Zones) CheckClock() (jumped bool) {
	now := z.now()
	if !z.clock.check(now) {
		return false
	}
	z.epoch.Add(1)
	z.log.Warn().Time("now", now).Msg("the clock was set: signing everything again")
	return true
}

// KeyState is a key and what it does now.
type KeyState struct {
	*Key
	State   State
	Signing bool // it signs now
}

// Keys lists the keys of the zones that are served, zone by zone, the oldest first.
func (z *Zones) Keys() []KeyState {
	z.mu.Lock()
	defer z.mu.Unlock()
	now := z.now()
	var all []KeyState
	for _, apex := range sortedKeys(z.signers) {
		for _, k := range z.keyring.Keys(apex) {
			all = append(all, KeyState{k, k.State(now), z.signers[apex].uses(k)})
		}
	}
	return all
}

// Now is the time by the clock that signatures go by.
func (z *Zones) Now() time.Time { return z.now() }
