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

// RRset is the set of records that a signature covers, in canonical form (RFC 4034 section 6).
type RRset struct {
	Owner []byte // in wire form and lower case; a wildcard keeps its asterisk label
	Type  uint16
	TTL   uint32   // seconds; the one in the signature, of which answers may carry less
	RData [][]byte // sorted, without duplicates; names in it are not compressed
}

// Signer signs the RRsets of one zone. Many goroutines call it, among them those that answer queries.
type Signer interface {
	// Sign returns the data of the RRSIG records that cover the RRset, one per key and all of one length, and when others
	// should take their place.
	Sign(RRset) (records [][]byte, renew time.Time, err error)
	// Epoch changes when nothing that was signed before may be served any more.
	Epoch() uint32
}

// Signature holds the RRSIG records that cover one RRset. They are made when they are first needed, or by Prepare
// before. A goroutine that needs them while they are made waits.
type Signature struct {
	signer  Signer
	owner   canonical
	content string // of the RRset: type, class, TTL, and length and data of each record

	making sync.Mutex
	made   atomic.Pointer[made]
}

// made holds RRSIG records that exist; immutable. It is 128 octets long, two lines of the cache.
type made struct {
	epoch uint32
	renew uint32  // Unix time, in seconds, as the record has it
	far   *[]byte // the records behind their owner's name, if they are several or one that is long
	each  uint16  // octets per record
	near  [110]byte
}

// wire returns the records without their owner's name. The caller must not change the slice.
func (m *made) wire() []byte {
	if m.far != nil {
		return *m.far
	}
	return m.near[:m.each]
}

// contentOf returns a key that tells the RRsets of one owner apart: type, class, TTL and sorted data. That of a single
// record is the record's wire form behind the owner. It sorts data.
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

// contentHead is the length of type, class and TTL.
const contentHead = 8

func (s *Signature) ttl() uint32 { return binary.BigEndian.Uint32([]byte(s.content[4:contentHead])) }

// rrset returns the RRset that is signed.
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

// current returns the signatures to serve now, which it makes if need be; nil if they cannot be made.
func (s *Signature) current() *made {
	if m := s.made.Load(); m != nil && m.epoch == s.signer.Epoch() {
		return m
	}
	m, err := s.make(time.Time{})
	if err != nil {
		return nil
	}
	return m
}

// Prepare makes signatures if there are none to serve, or new ones if they are due for renewal. signed reports whether
// it made any.
func (s *Signature) Prepare(now time.Time) (signed bool, err error) {
	before := s.made.Load()
	after, err := s.make(now)
	return err == nil && before != after, err
}

// Expires returns the time from which the signatures that are served are no longer valid; zero if there are none.
func (s *Signature) Expires() time.Time {
	const at = fixedPart + 8 // behind the type, algorithm, labels and TTL of the data (RFC 4034 section 3.1)
	m := s.made.Load()
	if m == nil || m.epoch != s.signer.Epoch() {
		return time.Time{}
	}
	return time.Unix(int64(binary.BigEndian.Uint32(m.wire()[at:])), 0)
}

// make makes signatures, unless there are some that are not due for renewal at the time now.
func (s *Signature) make(now time.Time) (*made, error) {
	s.making.Lock()
	defer s.making.Unlock()
	epoch := s.signer.Epoch()
	if m := s.made.Load(); m != nil && m.epoch == epoch && now.Unix() < int64(m.renew) {
		return m, nil
	}
	set := s.rrset()
	records, renew, err := s.signer.Sign(set)
	if err != nil {
		return nil, err
	}
	m := &made{epoch: epoch, renew: uint32(renew.Unix()), each: uint16(fixedPart + len(records[0]))}
	var wire []byte
	for _, data := range records {
		wire = append(wire, contentOf(dns.TypeRRSIG, set.TTL, [][]byte{data})...)
	}
	if len(records) > 1 || copy(m.near[:], wire) < len(wire) {
		far := wire
		m.far = &far
	}
	s.made.Store(m)
	return m, nil
}

// signatureCache caches the signatures of a name's steered answers, by content. It keeps those of RRsets that are not
// answered now, so that a health flap signs nothing.
type signatureCache struct {
	mu        sync.Mutex
	byContent signatureIndex
}

// at returns the signature of an RRset of the owner, a new one if it is not known.
func (s *signatureCache) at(signer Signer, owner canonical, content string) *Signature {
	s.mu.Lock()
	defer s.mu.Unlock()
	sig := s.byContent.get(content)
	if sig == nil || sig.signer != signer {
		sig = &Signature{signer: signer, owner: owner, content: content}
		s.byContent.put(sig)
	}
	return sig
}

// all appends the signatures that are known now.
func (s *signatureCache) all(into []*Signature) []*Signature {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byContent.all(into)
}

// spareSignatures is the number of unused signatures that a name may keep, beside as many as it uses.
const spareSignatures = 64

// few reports whether there is nothing to trim, however few are in use.
func (s *signatureCache) few() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byContent.len() <= spareSignatures
}

// trim drops the signatures for which spare is true, if they are many more than those in use.
func (s *signatureCache) trim(inUse int, spare func(*Signature) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byContent.len() <= 2*inUse+spareSignatures {
		return
	}
	s.byContent.remove(spare)
}
