package zone

import (
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
)

// RRset is a set of records to sign, in canonical form (RFC 4034 section 6).
type RRset struct {
	Owner []byte // in wire form and lower case; a wildcard has its asterisk label
	Type  uint16
	TTL   uint32   // original TTL of the signature in seconds; answers can have a lower TTL
	RData [][]byte // sorted, without duplicates and without compression
}

// Signer signs the RRsets of one zone. Implementations must be safe for concurrent use: goroutines that answer queries
// call Sign.
type Signer interface {
	// Sign returns the data of the RRSIG records for the RRset, one for each key and all of equal length, and the time
	// at which the records should be replaced.
	Sign(RRset) (records [][]byte, renew time.Time, err error)
	// Epoch changes when all previous signatures become unusable.
	Epoch() uint32
}

// Signature holds the RRSIG records of one RRset. The first use or Prepare creates the records; concurrent callers
// wait.
type Signature struct {
	signer  Signer
	owner   canonical
	content string // content of the RRset; see contentOf

	making  sync.Mutex
	records atomic.Pointer[signedRecords]
}

// signedRecords holds RRSIG records. It is immutable. Its size is 128 octets: two cache lines.
type signedRecords struct {
	epoch    uint32
	renew    uint32  // time of renewal, in Unix seconds
	external *[]byte // the records without their owner, if they exceed inline
	each     uint16  // octets of each record
	inline   [110]byte
}

// wire returns the records without their owner. The caller must not change the slice.
func (m *signedRecords) wire() []byte {
	if m.external != nil {
		return *m.external
	}
	return m.inline[:m.each]
}

// contentOf returns the content of an RRset: type, class, TTL and sorted data. It identifies an RRset of an owner. The
// content of a single record is the wire form of the record after the owner. contentOf sorts data in place.
func contentOf(rtype uint16, ttl uint32, data [][]byte) string {
	slices.SortFunc(data, slices.Compare)
	size := contentHead
	for _, d := range data {
		size += 2 + len(d)
	}
	var b strings.Builder
	b.Grow(size)
	var number [contentHead]byte
	binary.BigEndian.PutUint16(number[:], rtype)
	binary.BigEndian.PutUint16(number[2:], classIN)
	binary.BigEndian.PutUint32(number[4:], ttl)
	b.Write(number[:])
	for _, d := range data {
		binary.BigEndian.PutUint16(number[:], uint16(len(d)))
		b.Write(number[:2])
		b.Write(d)
	}
	return b.String()
}

// contentHead is the number of octets of type, class and TTL in a content.
const contentHead = 8

// ttl returns the original TTL in seconds.
func (s *Signature) ttl() uint32 { return binary.BigEndian.Uint32([]byte(s.content[4:contentHead])) }

// rrset returns the signed RRset.
func (s *Signature) rrset() RRset {
	content := []byte(s.content)
	set := RRset{
		Owner: []byte(s.owner),
		Type:  binary.BigEndian.Uint16(content),
		TTL:   binary.BigEndian.Uint32(content[4:]),
	}
	for content = content[contentHead:]; len(content) > 0; {
		end := 2 + int(binary.BigEndian.Uint16(content))
		set.RData = append(set.RData, content[2:end])
		content = content[end:]
	}
	return set
}

// currentRecords returns the valid records, and creates them if necessary; nil if signing fails.
func (s *Signature) currentRecords() *signedRecords {
	if m := s.records.Load(); m != nil && m.epoch == s.signer.Epoch() {
		return m
	}
	m, err := s.makeRecords(time.Time{})
	if err != nil {
		return nil
	}
	return m
}

// Prepare creates missing signatures and replaces signatures with a renewal time before now. signed reports whether
// Prepare created signatures.
func (s *Signature) Prepare(now time.Time) (signed bool, err error) {
	before := s.records.Load()
	after, err := s.makeRecords(now)
	return err == nil && before != after, err
}

// Expires returns the expiration of the current signatures; zero if there are none.
func (s *Signature) Expires() time.Time {
	const at = fixedPart + 8 // offset after type, algorithm, labels and TTL of the data (RFC 4034 section 3.1)
	m := s.records.Load()
	if m == nil || m.epoch != s.signer.Epoch() {
		return time.Time{}
	}
	return time.Unix(int64(binary.BigEndian.Uint32(m.wire()[at:])), 0)
}

// makeRecords creates and stores signatures, unless the stored signatures are valid and their renewal time is after
// now.
func (s *Signature) makeRecords(now time.Time) (*signedRecords, error) {
	s.making.Lock()
	defer s.making.Unlock()
	epoch := s.signer.Epoch()
	if m := s.records.Load(); m != nil && m.epoch == epoch && now.Unix() < int64(m.renew) {
		return m, nil
	}
	set := s.rrset()
	records, renew, err := s.signer.Sign(set)
	if err != nil {
		return nil, err
	}
	m := &signedRecords{epoch: epoch, renew: uint32(renew.Unix()), each: uint16(fixedPart + len(records[0]))}
	var wire []byte
	for _, data := range records {
		wire = append(wire, contentOf(dns.TypeRRSIG, set.TTL, [][]byte{data})...)
	}
	if len(records) > 1 || copy(m.inline[:], wire) < len(wire) {
		far := wire
		m.external = &far
	}
	s.records.Store(m)
	return m, nil
}

// signatureCache caches the signatures of a name's load-balanced answers by content. It also retains signatures of
// RRsets that no answer currently contains, so that a flapping backend does not cause signing.
type signatureCache struct {
	mu        sync.Mutex
	byContent signatureIndex
}

// getOrAdd returns the signature of an RRset of the owner. It adds a new signature if the cache has no signature of the
// signer.
func (s *signatureCache) getOrAdd(signer Signer, owner canonical, content string) *Signature {
	s.mu.Lock()
	defer s.mu.Unlock()
	sig := s.byContent.get(content)
	if sig == nil || sig.signer != signer {
		sig = &Signature{signer: signer, owner: owner, content: content}
		s.byContent.replace(sig)
	}
	return sig
}

// appendAll appends all cached signatures.
func (s *signatureCache) appendAll(into []*Signature) []*Signature {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byContent.appendAll(into)
}

// spareSignatures is the number of unused signatures that a name may cache, in addition to one for each used signature.
const spareSignatures = 64

// isSmall reports whether trim has no effect, regardless of the number of used signatures.
func (s *signatureCache) isSmall() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byContent.len() <= spareSignatures
}

// trim removes the signatures for which spare returns true, if the cache exceeds its bound. inUse is the number of used
// signatures.
func (s *signatureCache) trim(inUse int, spare func(*Signature) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byContent.len() <= 2*inUse+spareSignatures {
		return
	}
	s.byContent.remove(spare)
}
