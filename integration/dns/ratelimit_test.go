package dns_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"

	"gslb.internal/integration/harness/testbed"
)

// Addresses of the test's network namespace, on its loopback interface. The node treats them as non-loopback addresses.
const (
	limitedNode    = "203.0.113.1"
	limitedClient  = "198.51.100.77" // in the same /24 as limitedSecond
	limitedSecond  = "198.51.100.78"
	innocentClient = "192.0.2.7"
	exemptClient   = "198.18.0.7"
)

const limitedConfig = `mode: overwatch
data_dir: %[1]s/data
overwatch:
  identity: {node_id: limited, region: eu}
  gossip: {bind_address: "127.0.0.1:7946", encryption_key: "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s="}
  validation: {enabled: false}
dns:
  listen_address: "203.0.113.1:5353"
  zones: [{name: gslb.test, records: ["*.wild 60 A 192.0.2.99"]}]
  rate_limit: {responses_per_second: 50, slip: 2, exempt_cidrs: [198.18.0.0/24]}
metrics: {enabled: true, address: "127.0.0.1:9153"}
api: {enabled: false}
regions: [{name: eu, servers: [{address: 127.0.0.2, port: 80, service: app.gslb.test}]}]
domains: [{name: app.gslb.test, regions: [eu]}]
`

// For non-loopback addresses, a network receives the configured number of identical answers per second, from the whole
// node and over all of its sockets. Every second answer above the limit is empty and requests TCP, which has no limit.
// Another network and an exempt network are not affected.
func TestRateLimit_HoldsForStrangers(t *testing.T) {
	if os.Geteuid() != 0 {
		testbed.Missing(t, "this test makes a network namespace: run it as root")
	}
	// The namespace belongs to this thread and the programs that it starts. The thread ends with the test's goroutine.
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		testbed.Missing(t, "making a network namespace: "+err.Error())
	}
	orders := [][]string{{"link", "set", "lo", "up"}}
	for _, a := range []string{limitedNode, limitedClient, limitedSecond, innocentClient, exemptClient} {
		orders = append(orders, []string{"address", "add", a + "/32", "dev", "lo"})
	}
	for _, order := range orders {
		if out, err := exec.Command("ip", order...).CombinedOutput(); err != nil {
			testbed.Missing(t, fmt.Sprintf("ip %s: %v %s; run: apt-get install -y iproute2", strings.Join(order, " "), err, out))
		}
	}
	startLimited(t)

	const limit, flood = 50, 600
	same := func(int) string { return "app.gslb.test." }
	random := func(i int) string { return fmt.Sprintf("r%d.gslb.test.", i) }
	wild := func(i int) string { return fmt.Sprintf("r%d.wild.gslb.test.", i) }
	for _, c := range []struct {
		promise string
		from    []string
		names   func(int) string
		limited bool
	}{
		{"one name", []string{limitedClient}, same, true},
		{"from two addresses of one network", []string{limitedClient, limitedSecond}, same, true},
		{"names that do not exist", []string{limitedClient}, random, true},
		{"names that a wildcard answers for", []string{limitedClient}, wild, true},
		{"an exempt network", []string{exemptClient}, same, false},
	} {
		// t.Run would run in another thread. Each case uses a separate second, because the counts are then reset.
		next := time.Now().Truncate(time.Second).Add(time.Second + 50*time.Millisecond)
		testbed.Pause(t.Context(), time.Until(next)) // the node counts by the second
		began := time.Now()
		whole, empty := ask(t, c.from, c.names, flood, !c.limited)
		seconds := int(time.Since(began)/time.Second) + 2
		t.Logf("%s: %d whole answers, %d empty, %d none, in %d seconds at most", c.promise, whole, empty, flood-whole-empty,
			seconds)
		if !c.limited {
			if whole != flood {
				t.Errorf("%s: %d of %d answers", c.promise, whole, flood)
			}
			continue
		}
		// a client without CPU time may miss some answers
		if whole < limit*9/10 || whole > seconds*limit {
			t.Errorf("%s: %d whole answers, want %d to %d", c.promise, whole, limit*9/10, seconds*limit)
		}
		if over := flood - whole; empty < over/4 || empty > over*3/4 {
			t.Errorf("%s: %d of %d answers above the limit came back empty, want half", c.promise, empty, over)
		}
		if whole, _ := ask(t, []string{innocentClient}, same, 20, true); whole != 20 {
			t.Errorf("%s: another network got %d of 20 answers meanwhile", c.promise, whole)
		}
		tcp := &dns.Client{Net: "tcp", Timeout: testbed.Patience,
			Dialer: &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(limitedClient)}}}
		if m, _, err := tcp.Exchange(new(dns.Msg).SetQuestion("app.gslb.test.", dns.TypeA),
			limitedNode+":5353"); err != nil || len(m.Answer) != 1 {
			t.Errorf("%s: over TCP: %v %v", c.promise, m, err)
		}
	}
	for _, action := range []string{"dropped", "truncated"} {
		if n := limitedMetric(t, `gslb_dns_rate_limited_total{action="`+action+`"}`); n == "" || n == "0" {
			t.Errorf("%s answers are not counted: %q", action, n)
		}
	}
}

// startLimited starts a node with one socket per core and waits until it answers.
func startLimited(t *testing.T) {
	t.Helper()
	b := testbed.Binaries(t)
	config := filepath.Join(t.TempDir(), "overwatch.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, limitedConfig, filepath.Dir(config)), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(b.Overwatch, "--config", config)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	testbed.Start(t, cmd)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	testbed.Until(t, testbed.StartBound, "the node to answer", func(context.Context) error {
		if whole, _ := ask(t, []string{innocentClient}, func(int) string { return "app.gslb.test." }, 1, false); whole != 1 {
			return errors.New("it does not")
		}
		return nil
	})
}

// ask sends queries, each from a separate port, so that they spread over the node's sockets. It returns the number of
// complete answers and of empty answers with the TC flag. If all answers are expected, it waits for each answer, or
// else until no answer arrives for a while.
func ask(t *testing.T, from []string, names func(int) string, queries int, all bool) (whole, empty int) {
	t.Helper()
	var sockets []*net.UDPConn
	for i := range queries {
		conn, err := net.DialUDP("udp4", &net.UDPAddr{IP: net.ParseIP(from[i%len(from)])},
			&net.UDPAddr{IP: net.ParseIP(limitedNode), Port: 5353})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		sockets = append(sockets, conn)
		packet, err := new(dns.Msg).SetQuestion(names(i), dns.TypeA).Pack()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(packet); err != nil && queries > 1 { // before the node is there, the one query is refused
			t.Fatal(err)
		}
	}
	reply := make([]byte, 1500)
	const enough = time.Second // after the last query, for all answers that come at all
	waited := false
	for _, conn := range sockets {
		var n int
		err := os.ErrDeadlineExceeded
		for began := time.Now(); errors.Is(err, os.ErrDeadlineExceeded); {
			wait := testbed.Patience
			if waited {
				wait = time.Millisecond
			} else if !all {
				wait = enough
			}
			_ = conn.SetReadDeadline(time.Now().Add(wait))
			n, err = conn.Read(reply)
			if all || waited || time.Since(began) >= enough {
				break
			}
		}
		if err != nil {
			waited = !all
			continue
		}
		switch flags := binary.BigEndian.Uint16(reply[2:]); {
		case flags&0x0200 == 0:
			whole++
		case n > 12 && binary.BigEndian.Uint16(reply[6:]) == 0:
			empty++
		}
	}
	return whole, empty
}

// limitedMetric reads one metric inside the namespace.
func limitedMetric(t *testing.T, name string) string {
	t.Helper()
	// The default transport dials in other threads, which are in another namespace.
	conn, err := net.DialTCP("tcp4", nil, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9153})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	request, err := http.NewRequest(http.MethodGet, "http://127.0.0.1:9153/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Close = true
	if err := request.Write(conn); err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	if _, err := all.ReadFrom(conn); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(all.String()) {
		if value, found := strings.CutPrefix(strings.TrimSpace(line), name+" "); found {
			return value
		}
	}
	return ""
}
