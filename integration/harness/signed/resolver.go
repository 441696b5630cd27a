package signed

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

// Server is a running DNS server that judges a node's answers, such as unbound.
type Server struct {
	*exec.Cmd
	Ended <-chan struct{}
	Said  bytes.Buffer // output; readable after the end
}

// StartServer starts such a server until the end of the test. It logs the output if the test fails.
func StartServer(t *testing.T, program string, args ...string) *Server {
	t.Helper()
	s := &Server{Cmd: exec.Command(program, args...)}
	s.Stdout, s.Stderr = &s.Said, &s.Said
	ended, err := harness.StartTied(s.Cmd, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Ended = ended
	t.Cleanup(func() {
		s.Stop()
		if t.Failed() {
			t.Logf("%s said:\n%s", program, &s.Said)
		}
	})
	return s
}

// Stop kills the server and waits for its end.
func (s *Server) Stop() {
	_ = s.Process.Kill()
	<-s.Ended
}

// Resolver is a validating resolver with one trust anchor: an unbound, or a BIND by Named.
type Resolver struct {
	At     string
	client dns.Client
}

// Tries is the number of attempts to start a server, each on another port: another program may bind a port between its
// selection and the start.
const Tries = 5

// Unbound starts an unbound with stubs for the zones of a node and one trust anchor. It caches almost nothing.
func Unbound(t *testing.T, n *harness.Node, anchor string) *Resolver {
	t.Helper()
	return UnboundWith(t, n, anchor, "cache-max-ttl: 0\n  cache-max-negative-ttl: 0")
}

// UnboundWith is Unbound with other options about its cache.
func UnboundWith(t *testing.T, n *harness.Node, anchor, cache string) *Resolver {
	t.Helper()
	stubs := ""
	// Each zone needs a stub, because the NS records of the zones lead to port 53.
	for _, zone := range []string{testbed.ZoneName, testbed.ChildZone} {
		stubs += Stub(zone, n.DNS) + "  stub-no-cache: yes\n"
	}
	return UnboundOver(t, testbed.ZoneName, stubs, anchor, cache)
}

// Stub returns the part of unbound's configuration that names the servers of a zone.
func Stub(zone string, servers ...netip.AddrPort) string {
	text := fmt.Sprintf("stub-zone:\n  name: %q\n", zone)
	for _, s := range servers {
		text += fmt.Sprintf("  stub-addr: %s@%d\n", s.Addr(), s.Port())
	}
	return text
}

// UnboundOver starts an unbound with the given stubs, and returns when it answers about a zone.
func UnboundOver(t *testing.T, zone, stubs, anchor, options string) *Resolver {
	t.Helper()
	program := testbed.Judge(t, "unbound")
	return started(t, zone, false, func(dir string, at netip.AddrPort) *Server {
		path := filepath.Join(dir, "unbound.conf")
		testbed.Write(t, path, 0o600, fmt.Sprintf(`
server:
  interface: %s@%d
  outgoing-port-avoid: 0-32767 # where the ports of programs are that are started again
  do-daemonize: no
  use-syslog: no
  chroot: ""
  username: ""
  directory: %q
  pidfile: ""
  val-log-level: 2
  do-not-query-localhost: no
  module-config: "validator iterator"
  trust-anchor: %q
  local-zone: "test." nodefault
  ede: yes
  %s
  aggressive-nsec: no
remote-control:
  control-enable: no
`, at.Addr(), at.Port(), dir, anchor, options)+stubs)
		return StartServer(t, program, "-c", path)
	})
}

// started starts a resolver in a new directory and at a new address. It returns when the resolver answers about a zone,
// with a validated answer if secure is set.
func started(t *testing.T, zone string, secure bool, start func(dir string, at netip.AddrPort) *Server) *Resolver {
	t.Helper()
	var err error
	for range Tries {
		at := FreePort(t)
		server := start(t.TempDir(), at)
		r := &Resolver{At: at.String(), client: dns.Client{Timeout: testbed.Patience}}
		if err = r.answers(t.Context(), server, zone, secure); err == nil {
			return r
		}
		server.Stop()
		t.Logf("%s did not start: %v", server.Path, err)
	}
	t.Fatal(err)
	return nil
}

// answers waits until a resolver, started as server, answers about a zone.
func (r *Resolver) answers(ctx context.Context, server *Server, zone string, secure bool) error {
	ctx, cancel := context.WithTimeout(ctx, testbed.StartBound+testbed.Patience)
	defer cancel()
	return harness.Until(ctx, server.Path, func(context.Context) error {
		select {
		case <-server.Ended:
			cancel()
			return fmt.Errorf("it has ended: %s", &server.Said)
		default:
		}
		reply, err := r.Ask(zone, dns.TypeSOA)
		if reply != nil && !secure {
			return nil
		}
		return err
	})
}

// FreePort returns a loopback address with a port that is free over UDP and TCP.
func FreePort(t *testing.T) netip.AddrPort {
	t.Helper()
	return netip.MustParseAddrPort(testbed.UnusedAddress(t))
}

// Ask returns the resolver's answer, and an error if it is not secure. It retries if no answer arrives.
func (r *Resolver) Ask(name string, rtype uint16) (*dns.Msg, error) {
	q := new(dns.Msg).SetQuestion(dns.Fqdn(name), rtype)
	q.SetEdns0(1232, true)
	ctx, cancel := context.WithTimeout(context.Background(), testbed.Patience)
	defer cancel()
	var reply *dns.Msg
	err := harness.Until(ctx, fmt.Sprintf("an answer about %s %s", name, dns.Type(rtype)),
		func(context.Context) (err error) {
			reply, _, err = r.client.Exchange(q, r.At)
			return err
		})
	if err != nil {
		return nil, err
	}
	if !reply.AuthenticatedData {
		return reply, fmt.Errorf("%s %s: %s, not secure", name, dns.Type(rtype), dns.RcodeToString[reply.Rcode])
	}
	return reply, nil
}

// Bogus queries the resolver and returns an error, with its reason, if the node's answer does not validate or is not
// secure. A missing answer is no error, and neither is a SERVFAIL of the node, its answer for a name without backends.
// secure reports whether the answer was validated.
func (r *Resolver) Bogus(name string, rtype uint16) (secure bool, err error) {
	reply, err := r.Ask(name, rtype)
	switch {
	case err == nil:
		return true, nil
	case reply == nil: // the machine is busy, or the node is restarting
		return false, nil
	case reply.Rcode != dns.RcodeServerFailure:
		return false, err
	case reply.IsEdns0() == nil:
		return false, nil
	}
	for _, o := range reply.IsEdns0().Option {
		if ede, ok := o.(*dns.EDNS0_EDE); ok && slices.Contains(BogusCodes, ede.InfoCode) {
			return false, fmt.Errorf("%w: %s %s", err, dns.ExtendedErrorCodeToString[ede.InfoCode], ede.ExtraText)
		}
	}
	return false, nil
}

// BogusCodes are the Extended DNS Errors of unbound for an answer that does not validate (RFC 8914).
var BogusCodes = []uint16{dns.ExtendedErrorCodeDNSBogus, dns.ExtendedErrorCodeSignatureExpired,
	dns.ExtendedErrorCodeSignatureNotYetValid,
	dns.ExtendedErrorCodeDNSKEYMissing, dns.ExtendedErrorCodeRRSIGsMissing, dns.ExtendedErrorCodeNoZoneKeyBitSet,
	dns.ExtendedErrorCodeNSECMissing}
