package settings_test

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"gslb.internal/shared/settings"
)

// listening is a configuration of a listener.
type listening struct {
	host      string
	oneFamily bool
}

func (l listening) open(port int) (net.Listener, error) {
	at := fmt.Sprintf("%s:%d", l.host, port)
	if l.oneFamily {
		return net.Listen(settings.FamilyNetwork("tcp", at), at)
	}
	return net.Listen(settings.ListenNetwork("tcp", at), at)
}

func (l listening) parsed(t *testing.T, port int) settings.Listener {
	t.Helper()
	parsed, remedy := settings.ParseListener(fmt.Sprintf("%s:%d", l.host, port))
	if remedy != "" {
		t.Fatal(remedy)
	}
	parsed.OneFamily = l.oneFamily
	return parsed
}

// For each pair of listeners, the kernel rejects the second exactly if Overlaps returns true.
func TestListener_OverlapsWhereASecondOneCannotBeOpened(t *testing.T) {
	hosts := []string{"", "0.0.0.0", "127.0.0.1", "127.0.0.2", "[::ffff:127.0.0.1]", "[::ffff:0.0.0.0]", "[::]", "[::1]"}
	if l, err := net.Listen("tcp6", "[::1]:0"); err == nil {
		_ = l.Close()
	} else {
		t.Logf("without IPv6: %v", err)
		hosts = hosts[:6]
	}
	var all []listening
	for _, host := range hosts {
		all = append(all, listening{host, false}, listening{host, true})
	}
	for _, first := range all {
		for _, second := range all {
			refused, want := both(t, first, second)
			for tries := 0; refused && !want && tries < 20; tries++ { // another program may have used the port
				refused, want = both(t, first, second)
			}
			if refused != want {
				t.Errorf("%+v, then %+v: refused %t, and they overlap %t", first, second, refused, want)
			}
		}
	}
}

// both opens two listeners on a port. It returns whether the second is refused because of the first, and whether they
// overlap.
func both(t *testing.T, first, second listening) (refused, overlap bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range 1000 {
		var taken bool
		if refused, overlap, taken = bothOnce(t, first, second); !taken {
			return refused, overlap
		}
		<-tick.C // waits for a free port, since other programs may use many
	}
	t.Fatalf("no port is free for %+v, then %+v", first, second)
	return false, false
}

// bothOnce opens both listeners on a port. refused reports whether the second was rejected, overlap the result of
// Overlaps, and taken whether another program may use the port.
func bothOnce(t *testing.T, first, second listening) (refused, overlap, taken bool) {
	t.Helper()
	a, err := first.open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	port := a.Addr().(*net.TCPAddr).Port
	x, y := first.parsed(t, port), second.parsed(t, port)
	if x.Overlaps(y) != y.Overlaps(x) {
		t.Errorf("%+v overlaps %+v, but not the other way", x, y)
	}
	b, err := second.open(port)
	if err == nil {
		_ = b.Close()
		return false, x.Overlaps(y), false
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		t.Fatal(err)
	}
	_ = a.Close()
	if b, err = second.open(port); err == nil {
		_ = b.Close()
	}
	return true, x.Overlaps(y), err != nil
}

func TestListener_OtherPortsNeverOverlap(t *testing.T) {
	for _, pair := range [][2]string{{"127.0.0.1:1", "127.0.0.1:2"}, {":1", "[::]:2"}, {"127.0.0.1:0", "127.0.0.1:0"}} {
		a, _ := settings.ParseListener(pair[0])
		b, _ := settings.ParseListener(pair[1])
		if a.Overlaps(b) {
			t.Errorf("%s and %s overlap", pair[0], pair[1])
		}
	}
}

// A listener of an IPv4 address leaves IPv6 free, and an IPv6-only listener of "[::]" leaves IPv4 free.
func TestListenNetwork_KeepsFamiliesApart(t *testing.T) {
	for address, want := range map[string][2]string{
		"0.0.0.0:0": {"tcp4", "tcp4"}, "127.0.0.1:0": {"tcp4", "tcp4"}, "[::ffff:0.0.0.0]:0": {"tcp4",
			"tcp4"}, "[::]:0": {"tcp", "tcp6"},
		":0": {"tcp", "tcp"}, "[::1]:0": {"tcp", "tcp6"}, "nonsense": {"tcp", "tcp"},
	} {
		if got := [2]string{settings.ListenNetwork("tcp", address), settings.FamilyNetwork("tcp", address)}; got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
	for _, address := range []string{"0.0.0.0:0", "[::ffff:0.0.0.0]:0"} {
		l, err := net.Listen(settings.ListenNetwork("tcp", address), address)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if got := l.Addr().String(); !strings.HasPrefix(got, "0.0.0.0:") {
			t.Errorf("%s listens on %s", address, got)
		}
	}
}
