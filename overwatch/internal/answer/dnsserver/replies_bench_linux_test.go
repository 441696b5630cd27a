package dnsserver // inside: it uses batch, hashes and replies

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// The benchmark measures the grouping of the answers of a batch that are sent in one message.
func BenchmarkReplies(b *testing.B) {
	for _, ports := range []int{1, 8, batch} {
		b.Run(fmt.Sprintf("%d ports", ports), func(b *testing.B) {
			r := &replies{}
			var address [batch][unix.SizeofSockaddrInet4]byte
			var to [batch]unix.Msghdr
			for i := range batch {
				address[i] = [unix.SizeofSockaddrInet4]byte{unix.AF_INET, 0, 150, byte(i % ports)}
				to[i] = unix.Msghdr{Name: &address[i][0], Namelen: unix.SizeofSockaddrInet4}
			}
			for b.Loop() {
				for i := range to {
					r.add(50, &to[i])
				}
				if n := r.groupMessages(); n != ports {
					b.Fatalf("%d messages, want %d", n, ports)
				}
				r.count, r.last = 0, [hashes]uint8{}
			}
		})
	}
}
