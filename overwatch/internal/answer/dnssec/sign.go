package dnssec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
)

// Window is the validity period of a signature.
type Window struct {
	Inception, Expiration time.Time
}

// rrsigFixed is the length of the data of an RRSIG record before the signer's name, in octets.
const rrsigFixed = 18

// signatureSize is the length of a signature in octets, for both algorithms (RFC 6605 section 4, RFC 8080 section 4).
const signatureSize = 64

// sign returns the data of the RRSIG record for set. signer is the apex in wire form. Equal key, set and window give
// equal signatures (RFC 6979, RFC 8032), so that nodes with one key send equal answers.
func (k *Key) sign(signer []byte, set zone.RRset, w Window) ([]byte, error) {
	rdata := make([]byte, 0, rrsigFixed+len(signer)+signatureSize)
	rdata = binary.BigEndian.AppendUint16(rdata, set.Type)
	rdata = append(rdata, uint8(k.Algorithm()), labels(set.Owner))
	rdata = binary.BigEndian.AppendUint32(rdata, set.TTL)
	rdata = binary.BigEndian.AppendUint32(rdata, uint32(w.Expiration.Unix()))
	rdata = binary.BigEndian.AppendUint32(rdata, uint32(w.Inception.Unix()))
	rdata = binary.BigEndian.AppendUint16(rdata, k.tag)
	rdata = append(rdata, signer...)

	signature, err := k.private.sign(appendCanonical(slices.Clone(rdata), set))
	if err != nil {
		return nil, fmt.Errorf("sign with key %d of %s: %w", k.tag, k.zone, err)
	}
	return append(rdata, signature...), nil
}

// appendCanonical appends the records of set in the canonical form for signing (RFC 4034 section 3.1.8.1).
func appendCanonical(to []byte, set zone.RRset) []byte {
	for _, rdata := range set.RData {
		to = append(to, set.Owner...)
		to = binary.BigEndian.AppendUint16(to, set.Type)
		to = binary.BigEndian.AppendUint16(to, dns.ClassINET)
		to = binary.BigEndian.AppendUint32(to, set.TTL)
		to = binary.BigEndian.AppendUint16(to, uint16(len(rdata)))
		to = append(to, rdata...)
	}
	return to
}

// labels returns the number of labels of a name in wire form, without the root and a leading asterisk (RFC 4034 section
// 3.1.3).
func labels(name []byte) byte {
	n := byte(0)
	for at := 0; at < len(name) && name[at] != 0; at += int(name[at]) + 1 {
		n++
	}
	if n > 0 && name[0] == 1 && name[1] == '*' {
		n--
	}
	return n
}

var errSignature = errors.New("signature is not two integers of 32 octets")

// appendSignature appends the two integers of an ASN.1 signature with 32 octets each.
func appendSignature(to, der []byte) ([]byte, error) {
	if len(der) < 2 || der[0] != 0x30 || int(der[1]) != len(der)-2 {
		return nil, errSignature
	}
	rest := der[2:]
	for range 2 {
		if len(rest) < 2 || rest[0] != 0x02 || int(rest[1]) > len(rest)-2 {
			return nil, errSignature
		}
		number := rest[2 : 2+rest[1]]
		rest = rest[2+len(number):]
		for len(number) > 0 && number[0] == 0 {
			number = number[1:]
		}
		if len(number) > 32 {
			return nil, errSignature
		}
		to = append(to, make([]byte, 32-len(number))...)
		to = append(to, number...)
	}
	return to, nil
}

func wireName(name string) ([]byte, error) {
	buf := make([]byte, 256)
	n, err := dns.PackDomainName(name, buf, 0, nil, false)
	if err != nil {
		return nil, fmt.Errorf("name %q: %w", name, err)
	}
	return buf[:n], nil
}
