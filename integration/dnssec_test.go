package integration_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// steeredNames are names that make every shape a zone can have: wildcards and empty non-terminals, in both zones.
var steeredNames = []string{testbed.AppName, testbed.OtherName, "*.wild." + testbed.ZoneName,
	"a.b.ent." + testbed.ZoneName, "www." + testbed.ChildZone, "x.under.deep." + testbed.ChildZone}

// asked are the names to ask for: those that exist, and others around and below them.
var asked = []string{
	testbed.ZoneName, testbed.AppName, testbed.OtherName, "wild." + testbed.ZoneName, "q.wild." + testbed.ZoneName,
	"q.r.s.wild." + testbed.ZoneName, "*.wild." + testbed.ZoneName, "ent." + testbed.ZoneName, "b.ent." + testbed.ZoneName,
	"a.b.ent." + testbed.ZoneName, "c.ent." + testbed.ZoneName, "z.a.b.ent." + testbed.ZoneName, "nx." + testbed.ZoneName,
	"0." + testbed.ZoneName, "zzzz." + testbed.ZoneName, "a.b.c.d.nx." + testbed.ZoneName, "x." + testbed.AppName,
	"ow-1." + testbed.ZoneName, testbed.ChildZone, "www." + testbed.ChildZone, "nx." + testbed.ChildZone,
	"deep." + testbed.ChildZone, "x.under.deep." + testbed.ChildZone, "y.deep." + testbed.ChildZone, "APP.test.GSLB.test",
}

var askedTypes = []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeTXT, dns.TypeMX, dns.TypeSOA, dns.TypeNS, dns.TypeDNSKEY,
	dns.TypeDS, dns.TypeCDS, dns.TypeCDNSKEY, dns.TypeCAA}

// server is a judge that serves.
type server struct {
	*exec.Cmd
	ended <-chan struct{}
	said  bytes.Buffer // to be read once it has ended
}

// startServer starts a judge that serves until the test is over.
func startServer(t *testing.T, program string, args ...string) *server {
	t.Helper()
	s := &server{Cmd: exec.Command(program, args...)}
	s.Stdout, s.Stderr = &s.said, &s.said
	ended, err := harness.StartTied(s.Cmd, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.ended = ended
	t.Cleanup(func() {
		s.stop()
		if t.Failed() {
			t.Logf("%s said:\n%s", program, &s.said)
		}
	})
	return s
}

func (s *server) stop() {
	_ = s.Process.Kill()
	<-s.ended
}

// signedSite is a site with one node that signs the zones with the given denial.
func signedSite(t *testing.T, denial string) (*site, *harness.Node) {
	t.Helper()
	s, n := stillSignedSite(t, denial)
	s.StartAll(t)
	return s, n
}

// stillSignedSite is signedSite before anything is started.
func stillSignedSite(t *testing.T, denial string) (*site, *harness.Node) {
	t.Helper()
	s := newSite(t, 1, 2)
	n := s.Nodes[0]
	n.File.DNS.Zones = []string{testbed.ZoneName, testbed.ChildZone}
	n.File.Overwatch.DNSSEC.Denial = denial
	domain := n.File.Domains[0]
	n.File.Domains = nil
	for _, name := range steeredNames {
		domain.Name = name
		n.File.Domains = append(n.File.Domains, domain)
	}
	for i := range n.File.Regions {
		for _, name := range steeredNames[1:] {
			n.File.Regions[i].Servers = append(n.File.Regions[i].Servers, harness.Server{
				Service: name, Address: s.Backends[0].At.Addr(), Port: s.Backends[0].At.Port(), Weight: 100,
				HealthCheck: s.Timing.Check(),
			})
		}
	}
	return s, n
}

// dsOf is the DS record of the zone, as the node's API tells it.
func dsOf(t *testing.T, n *harness.Node) api.DSRecord {
	t.Helper()
	list, err := n.Client.DSRecords(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, ds := range list.DSRecords {
		if ds.Zone == testbed.ZoneName+"." {
			return ds
		}
	}
	t.Fatalf("no DS record of %s among %+v", testbed.ZoneName, list.DSRecords)
	return api.DSRecord{}
}

// resolver is an unbound that validates with the node's DS as its trust anchor and remembers next to nothing.
type resolver struct {
	at     string
	client dns.Client
}

// unboundTries is how often unbound is started when it ends at once, on another port each time: its port is free when
// it is chosen, and may be anybody's when unbound comes to bind it.
const unboundTries = 5

func startUnbound(t *testing.T, n *harness.Node, anchor string) *resolver {
	t.Helper()
	return startUnboundWith(t, n, anchor, "cache-max-ttl: 0\n  cache-max-negative-ttl: 0")
}

// startUnboundWith is startUnbound with other options about its cache.
func startUnboundWith(t *testing.T, n *harness.Node, anchor, cache string) *resolver {
	t.Helper()
	var err error
	for range unboundTries {
		var r *resolver
		if r, err = tryUnbound(t, n, anchor, cache); err == nil {
			return r
		}
		t.Logf("unbound did not start: %v", err)
	}
	t.Fatal(err)
	return nil
}

func tryUnbound(t *testing.T, n *harness.Node, anchor, cache string) (*resolver, error) {
	t.Helper()
	program, dir := testbed.Judge(t, "unbound"), t.TempDir()
	at := freePort(t)
	config := fmt.Sprintf(`
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
`, at.Addr(), at.Port(), dir, anchor, cache)
	// A stub for each zone, since what the NS records of the zones lead to is port 53.
	for _, zone := range []string{testbed.ZoneName, testbed.ChildZone} {
		config += fmt.Sprintf("stub-zone:\n  name: %q\n  stub-addr: %s@%d\n  stub-no-cache: yes\n", zone, n.DNS.Addr(),
			n.DNS.Port())
	}
	path := filepath.Join(dir, "unbound.conf")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	unbound := startServer(t, program, "-c", path)
	r := &resolver{at: at.String(), client: dns.Client{Timeout: testbed.Patience}}
	ctx, cancel := context.WithTimeout(t.Context(), testbed.StartBound+testbed.Patience)
	defer cancel()
	err := harness.Until(ctx, "unbound", func(context.Context) error {
		select {
		case <-unbound.ended:
			cancel()
			return fmt.Errorf("it has ended: %s", &unbound.said)
		default:
		}
		if reply, err := r.ask(testbed.ZoneName, dns.TypeSOA); reply == nil {
			return err
		}
		return nil
	})
	if err != nil {
		unbound.stop()
	}
	return r, err
}

func freePort(t *testing.T) netip.AddrPort {
	t.Helper()
	return netip.MustParseAddrPort(testbed.UnusedAddress(t))
}

// askable says whether the question is one for the node: what is above its zones, it does not know.
func askable(name string, rtype uint16) bool { return name != testbed.ZoneName || rtype != dns.TypeDS }

// ask returns what a validating resolver says, an error if that is not secure. It asks again where there is no answer.
func (r *resolver) ask(name string, rtype uint16) (*dns.Msg, error) {
	q := new(dns.Msg).SetQuestion(dns.Fqdn(name), rtype)
	q.SetEdns0(1232, true)
	ctx, cancel := context.WithTimeout(context.Background(), testbed.Patience)
	defer cancel()
	var reply *dns.Msg
	err := harness.Until(ctx, fmt.Sprintf("an answer about %s %s", name, dns.Type(rtype)),
		func(context.Context) (err error) {
			reply, _, err = r.client.Exchange(q, r.at)
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

var bothDenials = []string{"nsec", "nsec3"}

// I4: what the node answers, a stranger's validator believes, knowing nothing but the DS record.
func TestDNSSEC_UnboundAndDelvFindEveryAnswerSecure(t *testing.T) {
	for _, denial := range bothDenials {
		t.Run(denial, func(t *testing.T) {
			_, n := signedSite(t, denial)
			r := startUnbound(t, n, dsOf(t, n).DSRecord)
			for _, name := range asked {
				for _, rtype := range askedTypes {
					if !askable(name, rtype) {
						continue
					}
					if _, err := r.ask(name, rtype); err != nil {
						t.Error(err)
					}
				}
			}
			delvAll(t, n)
			drillChases(t, n)
		})
	}
}

// Validators whose clocks are off by hours either way, or the node's clock jumped before it signed, which is the same,
// believe every answer: unbound is told another time and to allow for no skew. By clocks that are off by days, nothing
// is believed.
func TestDNSSEC_ValidatorsWhoseClocksAreOffBelieveEveryAnswer(t *testing.T) {
	t.Parallel()
	_, n := signedSite(t, "nsec")
	ds := dsOf(t, n).DSRecord
	for off, believes := range map[time.Duration]bool{
		time.Hour: true, -time.Hour: true, 11 * time.Hour: true, -11 * time.Hour: true, 20 * 24 * time.Hour: false,
		-2 * 24 * time.Hour: false,
	} {
		r := startUnboundWith(t, n, ds, fmt.Sprintf(
			"cache-max-ttl: 0\n  cache-max-negative-ttl: 0\n  val-sig-skew-min: 0\n  val-sig-skew-max: 0\n  "+
				"val-override-date: %q",
			time.Now().Add(off).UTC().Format("20060102150405")))
		for _, name := range asked {
			for _, rtype := range []uint16{dns.TypeA, dns.TypeSOA, dns.TypeDNSKEY, dns.TypeMX} {
				if _, err := r.ask(name, rtype); (err == nil) != believes {
					t.Errorf("by a clock that is off by %s: %s %s: %v", off, name, dns.Type(rtype), err)
				}
			}
		}
	}
}

// delvAll has delv, which shares no code with unbound, look at one name of each kind.
func delvAll(t *testing.T, n *harness.Node) {
	t.Helper()
	program, ds := testbed.Judge(t, "delv"), dsOf(t, n)
	anchors := filepath.Join(t.TempDir(), "anchors")
	text := fmt.Sprintf("trust-anchors { %s static-ds %d %d %d \"%s\"; };\n", ds.Zone, ds.KeyTag, ds.Algorithm,
		ds.DigestType, ds.Digest)
	if err := os.WriteFile(anchors, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, question := range []string{
		testbed.AppName + " A", testbed.AppName + " TXT", "q.wild." + testbed.ZoneName + " A",
		"q.wild." + testbed.ZoneName + " MX", "ent." + testbed.ZoneName + " A", "nx." + testbed.ZoneName + " A",
		testbed.ZoneName + " SOA", testbed.ZoneName + " DNSKEY", testbed.ChildZone + " DS", "www." + testbed.ChildZone + " A",
		"nx." + testbed.ChildZone + " A",
	} {
		args := append([]string{"@" + n.DNS.Addr().String(), "-p", fmt.Sprint(n.DNS.Port()), "-a", anchors,
			"+root=" + testbed.ZoneName}, strings.Fields(question)...)
		out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "fully validated") {
			t.Errorf("delv %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// drillChases has ldns follow the signatures of an answer up to the zone's key.
func drillChases(t *testing.T, n *harness.Node) {
	t.Helper()
	program, ds := testbed.Judge(t, "drill"), dsOf(t, n)
	anchor := filepath.Join(t.TempDir(), "anchor")
	if err := os.WriteFile(anchor, []byte(ds.DSRecord+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), program, "-S", "-k", anchor, "-p", fmt.Sprint(n.DNS.Port()),
		"@"+n.DNS.Addr().String(), testbed.AppName, "A").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "No errors found, trust is") &&
		!strings.Contains(string(out), "trusted") {
		t.Errorf("drill -S: %v\n%s", err, out)
	}
}

// Answers stay secure while backends come and go, and while the node is killed and started again.
func TestDNSSEC_AnswersStaySecureDuringFlapsAndARestart(t *testing.T) {
	t.Parallel()
	for _, denial := range bothDenials {
		t.Run(denial, func(t *testing.T) {
			s, n := signedSite(t, denial)
			ds := dsOf(t, n)
			r := startUnbound(t, n, ds.DSRecord)
			walk := func(what string, howLong time.Duration) {
				t.Helper()
				questions := 0
				for end := time.Now().Add(howLong); time.Now().Before(end); questions++ {
					name, rtype := asked[rand.IntN(len(asked))], askedTypes[rand.IntN(len(askedTypes))]
					if !askable(name, rtype) {
						continue
					}
					reply, err := r.ask(name, rtype)
					if reply != nil && reply.Rcode == dns.RcodeServerFailure {
						_, err = r.bogus(name, rtype) // no backend may be left: a check was late
					}
					if err != nil {
						t.Errorf("%s: %v", what, err)
						return
					}
				}
				t.Logf("%s: %d answers, all secure", what, questions)
			}
			if _, err := s.Backends[1].Kill(); err != nil {
				t.Fatal(err)
			}
			walk("while a backend leaves", 3*time.Second)
			testbed.Start(t, s.Backends[1])
			walk("while it comes back", 3*time.Second)
			if _, err := n.Kill(); err != nil {
				t.Fatal(err)
			}
			testbed.Start(t, n)
			testbed.Until(t, testbed.StartBound, "a secure answer after the restart", func(context.Context) error {
				_, err := r.ask(testbed.AppName, dns.TypeA)
				return err
			})
			walk("after the restart", 2*time.Second)
			if after := dsOf(t, n); after != ds {
				t.Errorf("the key after the restart is %+v, before %+v", after, ds)
			}
		})
	}
}

// The specification's way to a new key: delete the files, restart, publish the new DS. With the old DS, answers are
// bogus; with the new one, secure.
func TestDNSSEC_DeletedKeyFilesAndARestartMakeANewKey(t *testing.T) {
	t.Parallel()
	_, n := signedSite(t, "nsec")
	before := dsOf(t, n)
	if err := n.Stop(); err != nil {
		t.Fatal(err)
	}
	files := keyFiles(t, n, testbed.ZoneName)
	if len(files) != 2 {
		t.Fatalf("key files %v, want two", files)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	testbed.Start(t, n)
	testbed.Until(t, testbed.StartBound, "the node's API", func(ctx context.Context) error {
		_, err := n.Client.DSRecords(ctx)
		return err
	})
	after := dsOf(t, n)
	if after.Digest == before.Digest {
		t.Fatal("the key is the old one")
	}
	secure := startUnbound(t, n, after.DSRecord)
	if _, err := secure.ask(testbed.AppName, dns.TypeSOA); err != nil {
		t.Error(err)
	}
	bogus := startUnbound(t, n, before.DSRecord)
	if reply, err := bogus.ask(testbed.AppName, dns.TypeSOA); err == nil || reply == nil ||
		reply.Rcode != dns.RcodeServerFailure {
		t.Errorf("with the old DS: %v, %v; want SERVFAIL", reply, err)
	}
}

func keyFiles(t *testing.T, n *harness.Node, zone string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(n.File.DataDir, "dnssec", "K"+zone+".+*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}
