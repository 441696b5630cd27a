package chain

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/miekg/dns"
)

// payload is the UDP payload size announced in queries (EDNS), in octets.
const payload = 1232

// ask sends one question with the DO bit to one server. It repeats a truncated answer over TCP.
func ask(ctx context.Context, server, name string, rtype uint16, recursion bool) (*dns.Msg, error) {
	q := new(dns.Msg).SetQuestion(name, rtype)
	q.RecursionDesired = recursion
	q.CheckingDisabled = recursion // the caller validates the answer
	q.SetEdns0(payload, true)
	for _, network := range []string{"udp", "tcp"} {
		client := dns.Client{Net: network, UDPSize: payload}
		reply, _, err := client.ExchangeContext(ctx, q, server)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, errors.New("does not answer in time")
		case err != nil:
			return nil, fmt.Errorf("does not answer: %s", reason(err))
		case len(reply.Question) != 1 || reply.Question[0].Qtype != rtype || !strings.EqualFold(reply.Question[0].Name,
			name):
			return nil, errors.New("answers another question")
		case !reply.Truncated:
			return reply, nil
		}
	}
	return nil, errors.New("answers truncated over TCP")
}

func reason(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return err.Error()
}

// AskDS queries a resolver for the DS records of a zone in its parent. An answer without records is not an error.
func AskDS(ctx context.Context, resolver, zone string) ([]*dns.DS, error) {
	reply, err := ask(ctx, resolver, dns.Fqdn(zone), dns.TypeDS, true)
	if err != nil {
		return nil, fmt.Errorf("the resolver %s %w", resolver, err)
	}
	if reply.Rcode != dns.RcodeSuccess && reply.Rcode != dns.RcodeNameError {
		return nil, fmt.Errorf("the resolver %s answers %s for the DS records of %s", resolver,
			dns.RcodeToString[reply.Rcode], zone)
	}
	return all[*dns.DS](reply.Answer), nil
}

// ParseDS parses a DS record: a line of a zone file, or only its data, such as "34505 13 2
// <digest>".
func ParseDS(zone, text string) (*dns.DS, error) {
	wrong := fmt.Errorf("%q is no DS record: give one such as %q", text, "34505 13 2 <digest in hexadecimal>")
	line := text
	if fields := strings.Fields(text); len(fields) > 0 && !strings.Contains(strings.ToUpper(text), "DS") {
		line = dns.Fqdn(zone) + " IN DS " + text
	}
	rr, err := dns.NewRR(line)
	if err != nil {
		return nil, wrong
	}
	ds, ok := rr.(*dns.DS)
	if !ok || ds.Digest == "" {
		return nil, wrong
	}
	digest, err := hex.DecodeString(ds.Digest)
	if size := digestSizes[ds.DigestType]; err != nil || size != 0 && len(digest) != size {
		return nil, fmt.Errorf("%w: a digest of type %d has %d hexadecimal digits", wrong, ds.DigestType, 2*size)
	}
	if !strings.EqualFold(ds.Hdr.Name, dns.Fqdn(zone)) {
		return nil, fmt.Errorf("%q is the DS record of another zone than %s", text, zone)
	}
	return ds, nil
}

// digestSizes are the lengths of a DS record's digest in octets, by digest type.
var digestSizes = map[uint8]int{dns.SHA1: 20, dns.SHA256: 32, dns.SHA384: 48}

// all returns the records of type T in a section.
func all[T dns.RR](section []dns.RR) (found []T) {
	for _, rr := range section {
		if one, ok := rr.(T); ok {
			found = append(found, one)
		}
	}
	return found
}
