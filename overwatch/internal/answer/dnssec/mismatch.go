package dnssec

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// Bounds of the stored data about the caches of a zone.
const (
	maxPast     = 8 // previous sets of keys
	maxParentDS = 4 // DS sets of the parent
	maxDS       = 8 // records in a DS set

	maxDigest = 128 // hexadecimal digits of a digest: twice the digits of SHA-256
)

// pastKeys is a set of keys that a node served. Caches may contain its DNSKEY records and its signed answers.
type pastKeys struct {
	Published []keyName `json:"published"`
	Signers   []keyName `json:"signers"`
	Ended     time.Time `json:"ended"` // time of its replacement
}

// keyName identifies a key, which may no longer exist.
type keyName struct {
	Tag    uint16 `json:"key_tag"`
	Public []byte `json:"public_key"`
}

// parentDS is a DS set that a node saw at the parent.
type parentDS struct {
	Records []string      `json:"records"` // in canonical form, sorted
	Seen    time.Time     `json:"seen"`    // time of the last observation
	TTL     time.Duration `json:"ttl"`
}

func namesOf(keys []*Key) (all []keyName) {
	for _, k := range keys {
		all = append(all, keyName{k.tag, k.public})
	}
	return all
}

func sameNames(a, b []keyName) bool {
	return slices.EqualFunc(a, b, func(x, y keyName) bool { return slices.Equal(x.Public, y.Public) })
}

// endSet adds a set of keys that is being replaced. It deletes the oldest sets that exceed maxPast.
func (r *record) endSet(published, signers []keyName, now time.Time) {
	r.Past = slices.DeleteFunc(slices.Clone(r.Past), func(p pastKeys) bool {
		return sameNames(p.Published, published) && sameNames(p.Signers, signers)
	})
	r.Past = append(r.Past, pastKeys{published, signers, now.UTC().Round(0)})
	r.Past = r.Past[max(0, len(r.Past)-maxPast):]
}

// endSigner stores the keys of a replaced signer, unless all are provisional, discarded or lost. It logs a failure. The
// caller holds mu.
func (z *Zones) endSigner(apex string, old *Signer, now time.Time) {
	rec := z.keyring.recordOf(apex)
	if old == nil || !slices.ContainsFunc(old.keys, func(k *Key) bool {
		e := rec.entryOf(k.public)
		return e != nil && !e.Provisional
	}) {
		return
	}
	rec.endSet(namesOf(old.keys), namesOf(old.active), now)
	if err := rec.write(z.keyring.dir, apex); err != nil {
		z.log.Error().Err(err).Msg("cannot store the previous keys of a zone")
	}
}

// recordParentDS stores the DS set of the parent. parent.DS contains the set once for each server. It writes the record
// only if the set changed, and ignores a set with more than maxDS records or a digest longer than maxDigest. The caller
// holds mu.
func (z *Zones) recordParentDS(apex string, parent *Parent, now time.Time) error {
	var records []string
	for _, ds := range parent.DS {
		if record := dsText(ds); !slices.Contains(records, record) {
			records = append(records, record)
		}
		if len(records) > maxDS || len(ds.Digest) > maxDigest {
			return nil
		}
	}
	if parent.TTL == 0 || len(records) == 0 {
		return nil
	}
	slices.Sort(records)
	seen := parentDS{records, now, parent.TTL}
	rec := z.keyring.recordOf(apex)
	if last := len(rec.ParentDS) - 1; last >= 0 && slices.Equal(rec.ParentDS[last].Records, seen.Records) {
		seen.TTL = max(seen.TTL, rec.ParentDS[last].TTL)
		rec.ParentDS[last] = seen
		return nil
	}
	rec.ParentDS = append(slices.Clone(rec.ParentDS), seen)
	rec.ParentDS = rec.ParentDS[max(0, len(rec.ParentDS)-maxParentDS):]
	return rec.write(z.keyring.dir, apex)
}

func dsText(ds *dns.DS) string {
	return fmt.Sprintf("%d %d %d %s", ds.KeyTag, ds.Algorithm, ds.DigestType, strings.ToLower(ds.Digest))
}

// KeyMismatch is a zone with answers that do not validate with records in caches.
type KeyMismatch struct {
	Zone    string
	Problem string    // records in caches, and the missing part of the answers
	Until   time.Time // expiration of the last cache entry; zero if answers never validate
}

// Mismatches returns the zones with answers that do not validate with records in caches.
func (z *Zones) Mismatches() (all []KeyMismatch) {
	z.mu.Lock()
	defer z.mu.Unlock()
	now := z.wallTime()
	for _, apex := range z.servedZones() {
		if m, found := z.mismatch(apex, now); found {
			all = append(all, m)
		}
	}
	return all
}

// mismatch compares the answers of a zone with each set of records that caches may contain. It uses the keys that
// Validate found in the answers; before Validate, the keys of the signer.
//
//	caches may contain         the current answers need
//	DNSKEY records             a valid signature by one of these keys
//	answers signed by keys     one of these keys in the DNSKEY records
//	DS records of the parent   one of their keys, published and signing
//
// It returns the mismatch with the latest end. The caller holds mu.
func (z *Zones) mismatch(apex string, now time.Time) (worst KeyMismatch, found bool) {
	rec, signer := z.keyring.recordOf(apex), z.signers[apex]
	report := func(until time.Time, format string, args ...any) {
		if now.Before(until) && until.After(worst.Until) {
			worst, found = KeyMismatch{Zone: apex, Problem: fmt.Sprintf(format, args...), Until: until}, true
		}
	}
	if signer == nil {
		for _, ds := range rec.ParentDS {
			report(ds.Seen.Add(ds.TTL), "the zone is unsigned, and caches may hold the DS record %s", ds.Records[0])
		}
		return worst, found
	}
	published, signing := namesOf(signer.keys), namesOf(signer.active)
	if v := z.validated[apex]; v.signer == signer {
		if published, signing = v.published, v.signing; !haveCommonKey(published, signing) {
			return KeyMismatch{Zone: apex, Problem: "answers have no valid signature by a published key"}, true
		}
	}
	keyTTL, answerTTL := z.heldKeyTTL(now), z.ttls.Answers.Longest(now)
	for _, p := range rec.Past {
		if !haveCommonKey(p.Published, signing) {
			report(p.Ended.Add(keyTTL), "caches may hold DNSKEY records with only %s, and answers have no valid signature by it",
				tagList(p.Published))
		}
		if !haveCommonKey(p.Signers, published) {
			report(p.Ended.Add(answerTTL), "caches may hold answers with signatures by only %s, and it is not published",
				tagList(p.Signers))
		}
	}
	for _, ds := range rec.ParentDS {
		if !slices.ContainsFunc(signer.active, func(k *Key) bool {
			own := []keyName{{k.tag, k.public}}
			return haveCommonKey(own, published) && haveCommonKey(own, signing) && ds.isOf(k)
		}) {
			report(ds.Seen.Add(ds.TTL), "caches may hold the DS record %s, and its key does not sign", ds.Records[0])
		}
	}
	return worst, found
}

// isOf reports whether the set contains a DS record of a key.
func (d *parentDS) isOf(k *Key) bool {
	for _, digest := range []uint8{dns.SHA1, dns.SHA256, dns.SHA384} {
		if ds := k.DNSKEY(0).ToDS(digest); ds != nil && slices.Contains(d.Records, dsText(ds)) {
			return true
		}
	}
	return false
}

func haveCommonKey(a, b []keyName) bool {
	return slices.ContainsFunc(a, func(x keyName) bool {
		return slices.ContainsFunc(b, func(y keyName) bool { return slices.Equal(x.Public, y.Public) })
	})
}

// tagList returns the tags of keys for a sentence, such as "key 12345" or "key 12345 or 23456".
func tagList(keys []keyName) string {
	var tags []string
	for _, k := range keys {
		tags = append(tags, fmt.Sprint(k.Tag))
	}
	return "key " + strings.Join(tags, " or ")
}
