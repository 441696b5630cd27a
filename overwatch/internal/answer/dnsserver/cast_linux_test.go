package dnsserver // inside: it uses dropped, success and isUnicast

import (
	"net"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"gslb.internal/overwatch/internal/answer/zone"
)

// A query to a broadcast address reaches every socket of the machine's address. Without the filter, each socket would
// answer from an address that the client did not query.
func TestServer_AnswersNoBroadcast(t *testing.T) {
	v := testView(t)
	s, err := New(Options{Listen: []string{"0.0.0.0:0"}, View: func() *zone.View { return v },
		Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	client, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ask := func(to net.IP) {
		t.Helper()
		if _, err := client.WriteTo(query(t, "one.gslb.test.", dns.TypeA),
			&net.UDPAddr{IP: to, Port: int(s.Addrs()[0].Port())}); err != nil {
			t.Fatal(err)
		}
	}
	// answered answers queries until the sockets have received the given number of queries in total.
	answered := func(want int) (answers, ignored uint64) {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); want > 0; {
			if time.Now().After(end) {
				t.Fatalf("%d queries did not come", want)
			}
			for _, socket := range s.sockets {
				n, errno := socket.answerBatch(descriptorOf(t, socket))
				if want -= n; errno != 0 && errno != unix.EAGAIN {
					t.Fatal(errno)
				}
			}
		}
		for _, counts := range s.counts {
			answers, ignored = answers+counts.queries[success].Load(), ignored+counts.queries[dropped].Load()
		}
		return answers, ignored
	}
	ask(net.IPv4(127, 255, 255, 255))
	if answers, ignored := answered(len(s.sockets)); answers != 0 || ignored != uint64(len(s.sockets)) {
		t.Errorf("%d sockets: %d answers, %d ignored", len(s.sockets), answers, ignored)
	}
	ask(net.IPv4(127, 0, 0, 5))
	if answers, _ := answered(1); answers != 1 {
		t.Errorf("%d answers to what was asked of one address", answers)
	}
	_ = client.SetReadDeadline(time.Now().Add(30 * time.Second))
	if _, from, err := client.ReadFrom(make([]byte, udpSize)); err != nil ||
		!from.(*net.UDPAddr).IP.Equal(net.IPv4(127, 0, 0, 5)) {
		t.Errorf("an answer from %v, %v", from, err)
	}
}

func TestToOneHost_IsNeitherBroadcastNorMulticast(t *testing.T) {
	for name, c := range map[string]struct {
		control []byte
		want    bool
	}{
		"unicast": {unix.PktInfo4(&unix.Inet4Pktinfo{Ifindex: 1, Spec_dst: [4]byte{192, 0, 2, 1},
			Addr: [4]byte{192, 0, 2, 1}}), true},
		"broadcast": {unix.PktInfo4(&unix.Inet4Pktinfo{Ifindex: 1, Spec_dst: [4]byte{192, 0, 2, 1},
			Addr: [4]byte{192, 0, 2, 255}}), false},
		"multicast": {unix.PktInfo4(&unix.Inet4Pktinfo{Ifindex: 1, Spec_dst: [4]byte{192, 0, 2, 1},
			Addr: [4]byte{224, 0, 0, 1}}), false},
		"unicast of IPv6": {unix.PktInfo6(&unix.Inet6Pktinfo{Addr: [16]byte{0x20, 1, 0x0d, 0xb8, 15: 1}, Ifindex: 1}),
			true},
		"link-local":          {unix.PktInfo6(&unix.Inet6Pktinfo{Addr: [16]byte{0xfe, 0x80, 15: 1}, Ifindex: 1}), true},
		"multicast of IPv6":   {unix.PktInfo6(&unix.Inet6Pktinfo{Addr: [16]byte{0xff, 2, 15: 1}, Ifindex: 1}), false},
		"nothing, as of none": {nil, true},
		"cut off":             {unix.PktInfo4(&unix.Inet4Pktinfo{})[:unix.CmsgLen(0)], true},
	} {
		if got := isUnicast(c.control); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
