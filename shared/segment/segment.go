// Package segment keeps what goes by TCP small enough for every way.
package segment

import (
	"context"
	"net"
)

// Max is how many octets a segment has at most: beside the headers of IPv6 and TCP they fit the 1280 that every way carries (RFC 8200,
// section 5).
const Max = 1280 - 40 - 20

// Listen is net.Listen for TCP, with connections in which neither side sends segments of more than Max octets. Where a way is narrower
// than its ends and the "too big" that says so is filtered, larger ones vanish, and the connection hangs (RFC 2923, section 2.1). What the
// side that listens says of itself is enough for both directions. On systems other than Linux segments are as large as the system makes them.
func Listen(network, address string) (net.Listener, error) {
	config := net.ListenConfig{Control: limit}
	config.SetMultipathTCP(false) // such sockets do not take the option
	return config.Listen(context.Background(), network, address)
}
