// Package segment owns the listeners whose TCP segments fit every network path. Every TCP listener of
// both programs is one of them. It never touches UDP.
package segment

import (
	"context"
	"net"
)

// Max is the largest segment, in octets. With the headers of IPv6 and TCP it fits the 1280 octets
// that every path carries (RFC 8200, section 5).
const Max = 1280 - 40 - 20

// Listen does the same as net.Listen for TCP, but neither side of a connection sends segments of
// more than Max octets. If a path is narrower than its ends and "packet too big" messages are
// filtered, larger segments vanish and the connection hangs (RFC 2923, section 2.1). The segment
// size announced by the listening side is enough for both directions. On systems other than Linux
// the system chooses the segment size.
func Listen(network, address string) (net.Listener, error) {
	config := net.ListenConfig{Control: limit}
	config.SetMultipathTCP(false) // such sockets do not take the option
	return config.Listen(context.Background(), network, address)
}
