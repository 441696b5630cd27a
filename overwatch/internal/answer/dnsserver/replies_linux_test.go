package dnsserver // inside: it uses replies and udpSize

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"gslb.internal/overwatch/internal/answer/zone"
)

// Several clients have many queries in the socket. Their answers differ in length, so that only some answers are sent
// together. Every client receives an answer to each of its queries from the address that it queried.
func TestReplies_EachGetsItsOwn(t *testing.T) {
	for name, c := range map[string]struct {
		listen  string
		prepare func(t *testing.T, fd int)
	}{
		"one address":           {listen: "127.0.0.1:0"},
		"all addresses":         {listen: "0.0.0.0:0"},
		"IPv6":                  {listen: "[::1]:0"},
		"all of IPv6":           {listen: "[::]:0"},
		"the kernel cannot cut": {listen: "127.0.0.1:0", prepare: withoutChecksums},
		"it cannot on any":      {listen: "0.0.0.0:0", prepare: withoutChecksums},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.HasPrefix(c.listen, "[") {
				withIPv6(t)
			}
			v := testView(t)
			s, err := New(Options{Listen: []string{c.listen}, View: func() *zone.View { return v },
				Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()})
			if err != nil {
				t.Fatal(err)
			}
			for _, socket := range s.sockets {
				if c.prepare != nil {
					c.prepare(t, descriptorOf(t, socket))
				}
			}
			clients := queue(t, s.Addrs()[0])
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := s.Run(ctx); err != nil {
				t.Fatal(err)
			}
			for _, conn := range clients {
				collect(t, conn)
			}
			for _, counts := range s.counts {
				if n := counts.unsent.Load(); n > 0 {
					t.Errorf("%d replies were not sent", n)
				}
			}
		})
	}
}

// Answers to one port with the same length are sent together, at any position of the batch, and a shorter answer is the
// last of its message. Each answer is sent once.
func TestReplies_LeaveInFewMessages(t *testing.T) {
	for name, c := range map[string]struct {
		answers  [][2]int // port and length
		single   bool
		messages [][]int // which answers
	}{
		"one length":        {answers: [][2]int{{1, 50}, {1, 50}, {1, 50}}, messages: [][]int{{0, 1, 2}}},
		"two ports":         {answers: [][2]int{{1, 50}, {2, 50}, {1, 50}, {2, 50}}, messages: [][]int{{0, 2}, {1, 3}}},
		"two of one hash":   {answers: [][2]int{{1, 50}, {129, 50}, {1, 50}, {129, 50}}, messages: [][]int{{0, 2}, {1, 3}}},
		"two lengths":       {answers: [][2]int{{1, 50}, {1, 70}, {1, 50}, {1, 70}}, messages: [][]int{{0, 2}, {1, 3}}},
		"a shorter one":     {answers: [][2]int{{1, 70}, {1, 50}, {1, 70}, {1, 40}}, messages: [][]int{{0, 2, 1}, {3}}},
		"a shorter of else": {answers: [][2]int{{1, 70}, {2, 50}}, messages: [][]int{{0}, {1}}},
		"none can be cut":   {answers: [][2]int{{1, 50}, {1, 50}}, single: true, messages: [][]int{{0}, {1}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &replies{noSegmentation: c.single}
			for _, answer := range c.answers {
				address := &[unix.SizeofSockaddrInet4]byte{unix.AF_INET, 0, 0, byte(answer[0])}
				r.add(answer[1], &unix.Msghdr{Name: &address[0], Namelen: unix.SizeofSockaddrInet4})
			}
			var got [][]int
			for i := range r.groupMessages() {
				message := &r.messages[i].Hdr
				var members []int
				for _, part := range unsafe.Slice(message.Iov, message.Iovlen) {
					at := 0
					for part.Base != &r.octets[at][0] {
						at++
					}
					if int(part.Len) != c.answers[at][1] || int(unsafe.Slice(message.Name, 4)[3]) != c.answers[at][0] {
						t.Errorf("answer %d leaves with %d octets to port %d", at, part.Len, unsafe.Slice(message.Name, 4)[3])
					}
					members = append(members, at)
				}
				got = append(got, members)
			}
			if fmt.Sprint(got) != fmt.Sprint(c.messages) {
				t.Errorf("%v, want %v", got, c.messages)
			}
		})
	}
}

// withoutChecksums changes a socket so that the kernel refuses to split its messages.
func withoutChecksums(t *testing.T, fd int) {
	t.Helper()
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_NO_CHECK, 1); err != nil {
		t.Fatal(err)
	}
}

// asked contains the names that the clients of queue query, one after another. The id of a query is its number.
var asked = []string{"one.gslb.test.", "one.gslb.test.", "one.gslb.test.", "app.gslb.test.", "nx.gslb.test.",
	"big.gslb.test.", "one.gslb.test."}

const queued = 100

// queue has three clients ask, in turns of five.
func queue(t *testing.T, server netip.AddrPort) (clients []net.Conn) {
	t.Helper()
	host := "127.0.0.1"
	if server.Addr().Is6() {
		host = "::1"
	}
	for range 3 {
		conn, err := net.Dial("udp", net.JoinHostPort(host, strconv.Itoa(int(server.Port()))))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		clients = append(clients, conn)
	}
	for id := range queued {
		packet := query(t, asked[id%len(asked)], dns.TypeA)
		binary.BigEndian.PutUint16(packet, uint16(id))
		if _, err := clients[id/5%3].Write(packet); err != nil {
			t.Fatal(err)
		}
	}
	return clients
}

// collect reads the answers to the queries of a client of queue.
func collect(t *testing.T, conn net.Conn) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	seen := make(map[int]bool)
	first := -1
	for len(seen) == 0 || len(seen) < wanted(first) {
		room := make([]byte, udpSize)
		n, err := conn.Read(room)
		if err != nil {
			t.Fatalf("after %d answers: %v", len(seen), err)
		}
		m := read(t, room[:n])
		id := int(m.Id)
		if first < 0 {
			first = id / 5 % 3
		}
		if seen[id] || id/5%3 != first || m.Question[0].Name != asked[id%len(asked)] {
			t.Fatalf("answer %d about %s, for client %d: not asked for", id, m.Question[0].Name, first)
		}
		seen[id] = true
	}
}

// wanted returns the number of queries that a client of queue has sent.
func wanted(client int) (n int) {
	for id := range queued {
		if id/5%3 == client {
			n++
		}
	}
	return n
}
