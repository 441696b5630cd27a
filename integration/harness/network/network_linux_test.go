package network // inside: it uses routerHost

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"testing"
	"time"

	"gslb.internal/integration/harness"
)

// within runs the test with the right to create networks: in this process, or in a separate user namespace.
func within(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	err := Allowed()
	if err == nil {
		test(t)
		return
	}
	const inner = "NETWORK_TEST_INNER"
	self, _ := os.Executable()
	c := exec.Command(self, "-test.run", "^"+t.Name()+"$", "-test.v")
	Enter(c)
	c.Env = append(os.Environ(), inner+"=1")
	var said bytes.Buffer
	c.Stdout = io.MultiWriter(t.Output(), &said)
	c.Stderr = c.Stdout
	if os.Getenv(inner) == "" {
		ended, refused := harness.StartTied(c, nil)
		if refused == nil {
			<-ended
			if !c.ProcessState.Success() {
				t.Error(c.ProcessState)
			} else if bytes.Contains(said.Bytes(), []byte("--- SKIP")) {
				t.Skip("skipped in a user namespace too")
			}
			return
		}
		err = errors.Join(err, refused)
	}
	if os.Getenv("CI") == "true" {
		t.Fatal(err)
	}
	t.Skip(err)
}

func newNetwork(t *testing.T) *Network {
	t.Helper()
	n, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

func addSite(t *testing.T, n *Network, name string, delay time.Duration) (*Site, Host) {
	t.Helper()
	s, err := n.AddSite(name, delay)
	if err != nil {
		t.Fatal(err)
	}
	h, err := s.AddHost()
	if err != nil {
		t.Fatal(err)
	}
	return s, h
}

// echo answers each packet with its source address.
func echo(t *testing.T, s *Site, at netip.Addr) string {
	t.Helper()
	to := netip.AddrPortFrom(at, 7).String()
	var conn net.PacketConn
	if err := s.Inside(func() (err error) { conn, err = net.ListenPacket("udp", to); return err }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buf := make([]byte, 2000)
		for {
			_, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo([]byte(from.String()), from)
		}
	}()
	return to
}

// The time limit for an expected answer, the time after which a packet is treated as lost on a busy machine, and the
// time to wait for an unexpected answer.
const (
	patience = 10 * time.Second
	repeat   = time.Second
	silence  = 300 * time.Millisecond
)

// ask sends a packet of the given size and retries until an answer arrives. It returns the answer and its time.
func ask(t *testing.T, s *Site, to string, size int, wait time.Duration) (answer string, took time.Duration,
	err error) {
	t.Helper()
	conn, err := s.Dial(t.Context(), "udp", to)
	if err != nil {
		return "", 0, err
	}
	defer conn.Close()
	buf := make([]byte, 2000)
	for began := time.Now(); ; {
		if _, err := conn.Write(buf[:size]); err != nil {
			return "", 0, err
		}
		_ = conn.SetReadDeadline(time.Now().Add(min(repeat, wait)))
		n, err := conn.Read(buf)
		if took := time.Since(began); !errors.Is(err, os.ErrDeadlineExceeded) || took >= wait {
			return string(buf[:n]), took, err
		}
	}
}

func host(answer string) string {
	at, _ := netip.ParseAddrPort(answer)
	return at.Addr().String()
}

func TestNetwork_CarriesBothFamiliesAndWhatTheRulesLeave(t *testing.T) {
	t.Parallel()
	within(t, func(t *testing.T) {
		n := newNetwork(t)
		a, hostA := addSite(t, n, "a", 0)
		b, hostB := addSite(t, n, "b", 0)
		v4, v6 := echo(t, b, hostB.IPv4), echo(t, b, hostB.IPv6)
		for to, from := range map[string]netip.Addr{v4: hostA.IPv4, v6: hostA.IPv6} {
			if got, _, err := ask(t, a, to, 100, patience); err != nil || host(got) != from.String() {
				t.Errorf("from %s: %q %v", to, got, err)
			}
		}
		for name, rules := range map[string][]string{
			"cut": Cut(b), "one way": {Between(a, b, "drop")}, "the other way": {Between(b, a, "drop")},
			"by port": {Between(nil, b, "udp dport 7 drop")},
		} {
			if err := n.Rules(rules...); err != nil {
				t.Fatal(err)
			}
			if got, _, err := ask(t, a, v4, 100, silence); err == nil {
				t.Errorf("%s: %q came back", name, got)
			}
		}
		if err := n.Rules("nonsense"); err == nil {
			t.Error("a rule that is none was taken")
		}
		if err := n.Rules(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := ask(t, a, v6, 100, patience); err != nil {
			t.Errorf("after it healed: %v", err)
		}
	})
}

func TestNetwork_HidesASiteBehindANAT(t *testing.T) {
	t.Parallel()
	within(t, func(t *testing.T) {
		n := newNetwork(t)
		a, hostA := addSite(t, n, "a", 0)
		b, hostB := addSite(t, n, "b", 0)
		if err := n.Masquerade(a); err != nil {
			t.Fatal(err)
		}
		for _, h := range []struct{ server, router, hidden netip.Addr }{
			{hostB.IPv4, b.host(routerHost).IPv4, hostA.IPv4}, {hostB.IPv6, b.host(routerHost).IPv6, hostA.IPv6},
		} {
			if got, _, err := ask(t, a, echo(t, b, h.server), 100, patience); err != nil || host(got) != h.router.String() {
				t.Errorf("from %s: %q %v", h.server, got, err)
			}
			if got, _, err := ask(t, b, echo(t, a, h.hidden), 100, silence); err == nil {
				t.Errorf("%s is reached from outside: %s", h.hidden, got)
			}
		}
	})
}

// A site with two uplinks sends over the first while it is up, and otherwise over the second, with both families.
func TestSite_TakesItsSecondUplinkWhileTheFirstIsDead(t *testing.T) {
	t.Parallel()
	within(t, func(t *testing.T) {
		n := newNetwork(t)
		a, first := addSite(t, n, "a", 0)
		b, server := addSite(t, n, "b", 0)
		second, err := a.AddUplink("a2")
		if err != nil {
			t.Fatal(err)
		}
		four, six := echo(t, b, server.IPv4), echo(t, b, server.IPv6)
		for _, way := range []struct {
			up   bool
			from Host
		}{{true, first}, {false, second}, {true, first}} {
			if err := a.Uplink(way.up); err != nil {
				t.Fatal(err)
			}
			for at, from := range map[string]netip.Addr{four: way.from.IPv4, six: way.from.IPv6} {
				if got, _, err := ask(t, a, at, 100, patience); err != nil || host(got) != from.String() {
					t.Errorf("with the first uplink up: %t, %s hears %q, want %s: %v", way.up, at, got, from, err)
				}
			}
		}
	})
}

func TestNetwork_DelaysWhatItCarries(t *testing.T) {
	t.Parallel()
	within(t, func(t *testing.T) {
		const delay = 40 * time.Millisecond
		n := newNetwork(t)
		a, _ := addSite(t, n, "a", 0)
		b, hostB := addSite(t, n, "b", delay)
		for _, at := range []netip.Addr{hostB.IPv4, hostB.IPv6} {
			to := echo(t, b, at)
			for _, size := range []int{1, 1400} {
				if _, took, err := ask(t, a, to, size, patience); err != nil || took < 2*delay {
					t.Errorf("%d octets to %s and back took %s (%v)", size, to, took, err)
				}
			}
		}
		// Packets arrive intact if the sender leaves segmentation to its network card.
		var l net.Listener
		if err := b.Inside(func() (err error) {
			l, err = net.Listen("tcp",
				netip.AddrPortFrom(hostB.IPv4, 8).String())
			return err
		}); err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		const octets = 1 << 20
		got := make(chan error, 1)
		go func() {
			c, err := l.Accept()
			if err != nil {
				got <- err
				return
			}
			defer c.Close()
			buf, sum := make([]byte, 64<<10), 0
			for sum < octets {
				n, err := c.Read(buf)
				for i, v := range buf[:n] {
					if v != byte((sum+i)%251) {
						got <- fmt.Errorf("octet %d is %d", sum+i, v)
						return
					}
				}
				if sum += n; err != nil {
					break
				}
			}
			got <- nil
		}()
		c, err := a.Dial(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		all := make([]byte, octets)
		for i := range all {
			all[i] = byte(i % 251)
		}
		if _, err := c.Write(all); err != nil {
			t.Fatal(err)
		}
		if err := <-got; err != nil {
			t.Error(err)
		}
	})
}

func TestSite_CarriesNoMoreThanItsMTU(t *testing.T) {
	t.Parallel()
	within(t, func(t *testing.T) {
		n := newNetwork(t)
		a, _ := addSite(t, n, "a", 0)
		b, hostB := addSite(t, n, "b", 0)
		if err := b.MTU(1280); err != nil {
			t.Fatal(err)
		}
		to := echo(t, b, hostB.IPv6)
		if _, _, err := ask(t, a, to, 1232, patience); err != nil {
			t.Errorf("1232 octets: %v", err)
		}
		if _, _, err := ask(t, a, to, 1300, silence); err == nil {
			t.Error("1300 octets went through a way of 1280")
		}
	})
}
