package resolve

import (
	"context"
	"errors"
	"time"

	"github.com/miekg/dns"
)

// Patience is the timeout of a query to a server.
const Patience = 3 * time.Second

// payload is the UDP payload size of a query (EDNS), in octets.
const payload = 1232

// Ask sends a query to a server, an address with port, and repeats it over TCP if the answer is truncated. The message
// id is random, and Ask ignores answers with another id. It does not validate the question section of the answer.
func Ask(ctx context.Context, server, name string, kind uint16, recursive bool) (*dns.Msg, error) {
	q := new(dns.Msg).SetQuestion(dns.Fqdn(name), kind)
	q.RecursionDesired = recursive
	q.SetEdns0(payload, false)
	for _, network := range []string{"udp", "tcp"} {
		client := &dns.Client{Net: network, Timeout: Patience, UDPSize: payload}
		reply, _, err := client.ExchangeContext(ctx, q, server)
		if err != nil {
			return nil, err
		}
		if !reply.Truncated {
			return reply, nil
		}
	}
	return nil, errors.New("it answers truncated over TCP")
}
