package observability_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

var dnstapVersion = flag.String("dnstap", "", "version of the dnstap consumer to build and run")

// ownName is the load-balanced name in the queries of this test. Queries of others have it in lower case.
var ownName = strings.ToUpper(testbed.AppName)

// tapped is a message in the JSON output of dnstap.
type tapped struct {
	Identity, Version string
	Message           struct {
		Type            string
		SocketFamily    string `json:"socket_family"`
		SocketProtocol  string `json:"socket_protocol"`
		QueryAddress    string `json:"query_address"`
		ResponseAddress string `json:"response_address"`
		QueryPort       int    `json:"query_port"`
		ResponsePort    int    `json:"response_port"`
		QueryTime       string `json:"query_time"`
		ResponseTime    string `json:"response_time"`
		QueryMessage    string `json:"query_message"`
		ResponseMessage string `json:"response_message"`
	}
}

// consumer is the dnstap program, with the messages that it has printed.
type consumer struct {
	cmd *exec.Cmd

	mu   sync.Mutex
	list []tapped
}

func startConsumer(t *testing.T, program string, listen ...string) *consumer {
	t.Helper()
	c := &consumer{cmd: exec.Command(program, listen...)}
	c.cmd.WaitDelay = time.Second
	output, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	testbed.Start(t, c.cmd)
	go func() {
		for lines := bufio.NewScanner(output); lines.Scan(); {
			var one tapped
			if json.Unmarshal(lines.Bytes(), &one) == nil {
				c.mu.Lock()
				c.list = append(c.list, one)
				c.mu.Unlock()
			}
		}
	}()
	t.Cleanup(c.kill)
	return c
}

func (c *consumer) kill() {
	_ = c.cmd.Process.Signal(syscall.SIGKILL)
	_ = c.cmd.Wait()
}

// of returns the messages about a name.
func (c *consumer) of(name string) (about []tapped) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.list {
		if strings.Contains(one.Message.QueryMessage+one.Message.ResponseMessage, ";"+name+".\t") {
			about = append(about, one)
		}
	}
	return about
}

// The real dnstap program receives queries and responses over a unix socket and over TCP. The node answers without a
// consumer, and reconnects to it. It sends only the selected queries. -dnstap is the version of the program, which is
// built first. The JSON output of the program lacks the field `extra`, which the tests of the node cover.
func TestDnstap_RealConsumer(t *testing.T) {
	if *dnstapVersion == "" {
		t.Skip("-dnstap=v0.4.0 builds and runs it, as make test-long does")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "dnstap")
	build := exec.CommandContext(t.Context(), "go", "install", "-ldflags=-s -w",
		"github.com/dnstap/golang-dnstap/dnstap@"+*dnstapVersion)
	build.Env = append(os.Environ(), "GOBIN="+dir, "GOWORK=off", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	socket, port := filepath.Join(dir, "tap.sock"), testbed.UnusedAddress(t)
	s := testbed.NewSite(t, 2, 1)
	for i, address := range []string{"unix:" + socket, port} {
		n := s.Nodes[i]
		n.File.DNS.Dnstap = &harness.Dnstap{Address: address}
		n.File.DNS.ListenAddress = net.JoinHostPort("0.0.0.0", fmt.Sprint(n.DNS.Port()))
	}
	s.Nodes[1].File.DNS.Dnstap.Types = []string{"TXT"}
	s.Nodes[1].File.DNS.Dnstap.Outcomes = []string{"nxdomain"}
	consumers := []*consumer{startConsumer(t, program, "-u", socket, "-j"), startConsumer(t, program, "-l", port, "-j")}
	s.StartAll(t)
	for i := range s.Nodes {
		connected(t, s.Nodes[i], 1)
	}
	t.Run("messages", func(t *testing.T) { messagesAreComplete(t, s.Nodes[0], consumers[0]) })
	t.Run("filter", func(t *testing.T) {
		n := s.Nodes[1]
		testbed.Exchange(t, "udp", n, testbed.AppName, dns.TypeA)
		testbed.Exchange(t, "udp", n, "no."+testbed.AppName, dns.TypeA)
		testbed.Exchange(t, "tcp", n, "no."+testbed.AppName, dns.TypeTXT)
		testbed.Until(t, testbed.Patience, "the messages", func(context.Context) error {
			if got := len(consumers[1].of("no." + testbed.AppName)); got != 2 {
				return fmt.Errorf("%d messages", got)
			}
			return nil
		})
		if got := consumers[1].of(testbed.AppName); len(got) != 0 {
			t.Errorf("the filter passed %+v", got)
		}
	})
	t.Run("restart", func(t *testing.T) {
		n := s.Nodes[0]
		consumers[0].kill()
		connected(t, n, 0)
		testbed.Exchange(t, "udp", n, testbed.AppName, dns.TypeA)
		if got := testbed.Metric(t, n, `gslb_dnstap_messages_dropped_total{reason="unconnected"}`); got == 0 {
			t.Error("no message was counted as dropped")
		}
		_ = os.Remove(socket)
		again := startConsumer(t, program, "-u", socket, "-j")
		connected(t, n, 1)
		testbed.Exchange(t, "udp", n, ownName, dns.TypeA)
		testbed.Stop(t, n) // the node sends the messages of its buffers before it ends
		testbed.Until(t, testbed.Patience, "the messages", func(context.Context) error {
			if got := len(again.of(ownName)); got != 2 {
				return fmt.Errorf("%d messages", got)
			}
			return nil
		})
	})
}

// connected waits until the metric reports a connection, or none.
func connected(t *testing.T, n *harness.Node, want float64) {
	t.Helper()
	testbed.Until(t, testbed.StartBound, "the connection of dnstap", func(context.Context) error {
		if got := testbed.Metric(t, n, "gslb_dnstap_connected"); got != want {
			return fmt.Errorf("connected is %v", got)
		}
		return nil
	})
}

// messagesAreComplete compares the messages of a query over UDP and of a query over TCP with the exchange.
func messagesAreComplete(t *testing.T, n *harness.Node, c *consumer) {
	t.Helper()
	for i, network := range []string{"udp", "tcp"} {
		r := testbed.Exchange(t, network, n, ownName, dns.TypeA)
		var pair []tapped
		testbed.Until(t, testbed.Patience, "the messages", func(context.Context) error {
			if pair = c.of(ownName); len(pair) != 2*i+2 {
				return fmt.Errorf("%d messages", len(pair))
			}
			return nil
		})
		query, response := pair[2*i], pair[2*i+1]
		for _, one := range []tapped{query, response} {
			m := one.Message
			if one.Identity != n.Name || !strings.HasPrefix(one.Version, "gslb-overwatch ") || m.SocketFamily != "INET" ||
				m.SocketProtocol != strings.ToUpper(network) || m.QueryAddress != "127.0.0.1" ||
				m.ResponseAddress != "127.0.0.1" || m.QueryPort == 0 || m.ResponsePort != int(n.DNS.Port()) || m.QueryTime == "" {
				t.Errorf("%+v", one)
			}
		}
		if query.Message.Type != "AUTH_QUERY" || response.Message.Type != "AUTH_RESPONSE" ||
			response.Message.ResponseTime < response.Message.QueryTime ||
			!strings.Contains(response.Message.ResponseMessage, r.Answer[0].(*dns.A).A.String()) {
			t.Errorf("%+v, %+v, the answer is %v", query, response, r.Answer)
		}
	}
}
