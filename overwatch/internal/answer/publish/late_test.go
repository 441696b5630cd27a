package publish // inside: it uses signing

import (
	"encoding/binary"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
)

// brittleSigner signs until it is broken. Its signatures are valid for twelve days, and must be renewed after six.
type brittleSigner struct{ broken bool }

func (*brittleSigner) Epoch() uint32 { return 1 }

func (s *brittleSigner) Sign(zone.RRset) (records [][]byte, renew time.Time, err error) {
	if s.broken {
		return nil, time.Time{}, errors.New("no key")
	}
	data := make([]byte, 18+1+64) // RFC 4034 section 3.1, signed by the root
	binary.BigEndian.PutUint32(data[8:], uint32(time.Now().Add(12*24*time.Hour).Unix()))
	return [][]byte{data}, time.Now().Add(6 * 24 * time.Hour), nil
}

// Signatures that could not be renewed in time are reported with their expiry, until they are renewed.
func TestSignaturesEnd_CountsWhatCannotBeMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSignedWorld(t, testSettings())
		signer := new(brittleSigner)
		soa := &dns.SOA{Hdr: dns.RR_Header{Name: "late.test.", Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: 60},
			Ns: "ns.late.test.", Mbox: "hostmaster.late.test.", Minttl: 60}
		view, err := zone.New([]*zone.Contents{{Apex: "late.test.", SOA: soa, Signer: signer, Denial: zone.NSEC}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.signing.view = func() *zone.View { return view }
		look := func() (int, time.Time) {
			w.signing.prepareAll(t.Context())
			return w.SignaturesEnd()
		}
		if count, _ := look(); count != 0 {
			t.Errorf("%d signatures are late at once", count)
		}
		made := time.Now()
		signer.broken = true
		time.Sleep(5 * 24 * time.Hour)
		if count, _ := look(); count != 0 {
			t.Errorf("%d signatures are late before others are due", count)
		}
		time.Sleep(2 * 24 * time.Hour)
		if count, first := look(); count == 0 || !first.Equal(made.Add(12*24*time.Hour)) {
			t.Errorf("%d signatures are late, the first ends %s", count, first)
		}
		signer.broken = false
		if count, first := look(); count != 0 || !first.IsZero() {
			t.Errorf("%d signatures are late although they were made", count)
		}
	})
}
