// Package segment opens listeners with TCP segments that fit every network path. All TCP listeners of both programs use
// it.
package segment

import (
	"context"
	"net"
)

// Max is the largest segment, in octets. With the headers of IPv6 and TCP it fits the 1280 octets
// that every path carries (RFC 8200, section 5).
const Max = 1280 - 40 - 20

// Listen is net.Listen for TCP, but neither side of a connection sends segments of more than Max octets. If a path is
// narrower than its ends and a firewall drops "packet too big" messages, larger segments are lost and the connection
// hangs (RFC 2923, section 2.1). The segment size announced by the listening side applies to both directions. On
// systems other than Linux the system chooses the segment size.
func Listen(network, address string) (net.Listener, error) {
	config := net.ListenConfig{Control: limit}
	config.SetMultipathTCP(false) // multipath sockets do not support the option
	return config.Listen(context.Background(), network, address)
}
