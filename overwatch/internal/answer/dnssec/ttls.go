package dnssec

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/answer/dnssec/roll"
	"gslb.internal/shared/durable"
)

// ttlsFile is the name of the file with servedTTLs, in the directory of the key files.
const ttlsFile = "served-ttls.json"

// servedTTLs contains the TTLs of this node's answers that caches may contain. The file outlives the process: after a
// restart with lower TTLs, caches contain answers of the previous process.
type servedTTLs struct {
	DNSKEY  roll.Served `json:"dnskey"`
	Answers roll.Served `json:"answers"` // of all zones
}

func readServedTTLs(dir string) (s servedTTLs, err error) {
	content, err := os.ReadFile(filepath.Join(dir, ttlsFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err == nil:
		err = json.Unmarshal(content, &s)
	}
	if err == nil && !(s.DNSKEY.Valid() && s.Answers.Valid()) {
		err = errors.New("a TTL is out of range, or the list has more entries than a node stores")
	}
	if err != nil {
		return servedTTLs{}, fmt.Errorf("%s: %w: a change of keys does not wait for TTLs from before this start",
			filepath.Join(dir, ttlsFile), err)
	}
	return s, nil
}

// openTTLs loads the TTLs of previous processes, marks them as no longer served, and adds the current TTL of key
// records. It writes the file if the list of key record TTLs changed.
func (z *Zones) openTTLs() {
	var err error
	if z.ttls, err = readServedTTLs(z.keyring.dir); err != nil {
		z.log.Error().Err(err).Msg("cannot read the previously served TTLs")
	}
	before := slices.Clone(z.ttls.DNSKEY)
	z.ttls.DNSKEY.Stop(z.now())
	z.ttls.Answers.Stop(z.now())
	if z.ttls.DNSKEY.Serve(z.keyTTL); !slices.Equal(before, z.ttls.DNSKEY) {
		z.storeTTLs()
	}
}

// ServeTTL stores the longest TTL of all answers, which determines how long caches contain them. A caller that raises
// the TTL calls it before serving these answers; a caller that lowers the TTL calls it after replacing the answers. It
// logs a write failure.
func (z *Zones) ServeTTL(answers time.Duration) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.ttls.Answers.Replace(answers, z.now()) {
		z.storeTTLs()
	}
}

// storeTTLs writes the file. The caller holds mu, or is Open.
func (z *Zones) storeTTLs() {
	content, err := json.Marshal(z.ttls)
	if err == nil {
		err = durable.WriteFile(filepath.Join(z.keyring.dir, ttlsFile), append(content, '\n'), 0o600)
	}
	if err != nil {
		z.log.Error().Err(err).Msg("the served TTLs cannot be stored: after a restart with lower TTLs, wait for the " +
			"longest TTL before you change a signing key")
	}
}

// heldKeyTTL returns the longest TTL of key records in caches. The caller holds mu.
func (z *Zones) heldKeyTTL(now time.Time) time.Duration {
	return max(z.keyTTL, z.ttls.DNSKEY.Longest(now))
}

// heldTTLs returns ttl with DNSKEY and Answers raised to the longest TTLs in caches. The caller holds mu.
func (z *Zones) heldTTLs(ttl roll.TTLs, now time.Time) roll.TTLs {
	ttl.DNSKEY = z.heldKeyTTL(now)
	ttl.Answers = max(ttl.Answers, z.ttls.Answers.Longest(now))
	return ttl
}

// newProgress returns the Progress of a new rollover or signing transition of a zone, with the TTLs in caches. ttl.DS
// is 0 if the parent has no observed DS record. The caller holds mu.
func (z *Zones) newProgress(apex string, r roll.Roll, ttl roll.TTLs, now time.Time) *roll.Progress {
	var published, offered [][]byte
	if signer := z.signers[apex]; r.Goal == roll.ToKey {
		published, offered = publics(signer.keys), publics(signer.announced)
	}
	begun := roll.Begin(r, published, offered, now)
	rec := z.keyring.recordOf(apex)
	begun.Inherit(rec.Roll, now)
	begun.Inherit(rec.Transition, now)
	ttl = z.heldTTLs(ttl, now)
	begun.RaiseTTLs(roll.Caches{DNSKEY: ttl.DNSKEY, Answers: ttl.Answers, DS: ttl.DS}, nil)
	return begun
}

// raiseTTLs returns the TTLs that a rollover must wait for, and stores them in p. ttl.DS is 0 without an observed DS
// record. keep stores p. The caller holds mu.
func (z *Zones) raiseTTLs(p *roll.Progress, peers []roll.Peer, ttl roll.TTLs, now time.Time,
	keep func() error) (roll.TTLs, error) {
	ttl = z.heldTTLs(ttl, now)
	if p.RaiseTTLs(roll.Caches{DNSKEY: ttl.DNSKEY, Answers: ttl.Answers, DS: ttl.DS}, peers) {
		if err := keep(); err != nil {
			return ttl, err
		}
	}
	ttl.DS = cmp.Or(max(ttl.DS, p.Longest.DS), unknownDS)
	return ttl, nil
}
