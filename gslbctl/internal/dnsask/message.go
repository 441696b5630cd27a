package dnsask

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// Answer is a server's answer.
type Answer struct {
	Addresses []netip.Addr
	TTL       time.Duration // the shortest; 0 without addresses
	Failure   string        // such as SERVFAIL; empty for success, which may be without addresses
}

// question is one query for an address.
type question struct {
	id   uint16
	name string
	v6   bool
}

func (q question) kind() dnsmessage.Type {
	if q.v6 {
		return dnsmessage.TypeAAAA
	}
	return dnsmessage.TypeA
}

func (q question) message() ([]byte, error) {
	name, err := dnsmessage.NewName(strings.TrimSuffix(q.name, ".") + ".")
	if err != nil {
		return nil, fmt.Errorf("%q cannot be asked for: %w", q.name, err)
	}
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: q.id},
		Questions: []dnsmessage.Question{{Name: name, Type: q.kind(), Class: dnsmessage.ClassINET}},
	}
	packed, err := m.Pack()
	if err != nil {
		return nil, fmt.Errorf("%q cannot be asked for: %w", q.name, err)
	}
	return packed, nil
}

// failures are the names of response codes (RFC 1035 section 4.1.1).
var failures = map[dnsmessage.RCode]string{
	dnsmessage.RCodeFormatError: "FORMERR", dnsmessage.RCodeServerFailure: "SERVFAIL",
	dnsmessage.RCodeNameError:      "NXDOMAIN",
	dnsmessage.RCodeNotImplemented: "NOTIMP", dnsmessage.RCodeRefused: "REFUSED",
}

// answer parses a reply. A reply to another question is an error.
func (q question) answer(reply []byte) (Answer, error) {
	var p dnsmessage.Parser
	head, err := p.Start(reply)
	if err != nil {
		return Answer{}, fmt.Errorf("the answer cannot be read: %w", err)
	}
	if !head.Response || head.ID != q.id {
		return Answer{}, errors.New("the answer is about something else")
	}
	if head.RCode != dnsmessage.RCodeSuccess {
		name := failures[head.RCode]
		if name == "" {
			name = fmt.Sprintf("response code %d", head.RCode)
		}
		return Answer{Failure: name}, nil
	}
	if err := p.SkipAllQuestions(); err != nil {
		return Answer{}, fmt.Errorf("the answer cannot be read: %w", err)
	}
	var a Answer
	for {
		rr, err := p.Answer()
		if errors.Is(err, dnsmessage.ErrSectionDone) {
			return a, nil
		}
		if err != nil {
			return Answer{}, fmt.Errorf("the answer cannot be read: %w", err)
		}
		a.add(rr)
	}
}

func (a *Answer) add(rr dnsmessage.Resource) {
	var address netip.Addr
	switch body := rr.Body.(type) {
	case *dnsmessage.AResource:
		address = netip.AddrFrom4(body.A)
	case *dnsmessage.AAAAResource:
		address = netip.AddrFrom16(body.AAAA)
	default:
		return
	}
	ttl := time.Duration(rr.Header.TTL) * time.Second
	if len(a.Addresses) == 0 || ttl < a.TTL {
		a.TTL = ttl
	}
	a.Addresses = append(a.Addresses, address)
}
