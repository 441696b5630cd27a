package dns_test

import (
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
)

// targetBound is the promised time until a node uses a change of its resolver's data.
const targetBound = time.Minute

// knot is a real Knot that serves one zone with changing records.
type knot struct {
	at         netip.AddrPort
	conf, zone string
	program    string
	serial     int
	running    *signed.Server
}

const targetZone = "backends.test."

func startKnotZone(t *testing.T, dir string, records ...string) *knot {
	t.Helper()
	k := &knot{program: testbed.Judge(t, "knotd"), conf: filepath.Join(dir, "knot.conf"),
		zone: filepath.Join(dir, "zone")}
	k.write(t, records...)
	for range signed.Tries {
		k.at = signed.FreePort(t)
		testbed.Write(t, k.conf, 0o600, fmt.Sprintf(`
server:
  rundir: %[1]q
  listen: %[2]s@%[3]d
  udp-workers: 1
  tcp-workers: 1
  background-workers: 1
database:
  storage: %[1]q
zone:
  - domain: %[4]s
    file: %[5]q
    zonefile-sync: -1
    zonefile-load: whole
    journal-content: none
`, dir, k.at.Addr(), k.at.Port(), targetZone, k.zone))
		k.running = signed.StartServer(t, k.program, "-c", k.conf)
		if k.serves(t) {
			return k
		}
	}
	t.Fatal("knotd does not start")
	return nil
}

// write writes the zone with records of a single name.
func (k *knot) write(t *testing.T, records ...string) {
	t.Helper()
	k.serial++
	text := fmt.Sprintf("%[1]s 1 SOA ns.%[1]s h.%[1]s %[2]d 60 60 600 1\n%[1]s 1 NS ns.%[1]s\nns.%[1]s 1 A 127.0.0.1\n",
		targetZone, k.serial)
	for _, r := range records {
		text += "app." + targetZone + " 1 " + r + "\n"
	}
	testbed.Write(t, k.zone, 0o600, text)
}

// change makes Knot serve other records, and returns when Knot serves them.
func (k *knot) change(t *testing.T, records ...string) {
	t.Helper()
	k.write(t, records...)
	testbed.Command(t, testbed.Judge(t, "knotc"), "-c", k.conf, "-b", "zone-reload", targetZone).Want(t, 0)
	k.serves(t)
}

func (k *knot) serves(t *testing.T) (alive bool) {
	t.Helper()
	testbed.Until(t, testbed.StartBound, "knotd", func(ctx context.Context) error {
		select {
		case <-k.running.Ended:
			return nil
		default:
		}
		q := new(dns.Msg).SetQuestion(targetZone, dns.TypeSOA)
		reply, _, err := (&dns.Client{Timeout: testbed.Patience}).ExchangeContext(ctx, q, k.at.String())
		if err != nil {
			return err
		}
		if len(reply.Answer) != 1 || reply.Answer[0].(*dns.SOA).Serial != uint32(k.serial) {
			return fmt.Errorf("not this zone yet: %v", reply.Answer)
		}
		alive = true
		return nil
	})
	return alive
}

// A server with a host name has the addresses that a real Knot returns: added and removed addresses, 1 000 addresses,
// no new address while Knot is down, and no address that is forbidden for a backend.
func TestTarget_FollowsTheAddressesOfAHostName(t *testing.T) {
	c := testbed.NewCluster(t, harness.Fast(), harness.Domain{Name: testbed.AppName, RoutingAlgorithm: "weighted",
		Regions: []string{"eu"}, TTL: 1})
	k := startKnotZone(t, c.Dir, "A 192.0.2.1", "A 192.0.2.2", "AAAA 2001:db8::1")
	n := testbed.AddNode(t, c, "ow-1", "eu", map[string][]harness.Server{"eu": {{Service: testbed.AppName, Port: 80,
		Weight: 90, Target: "App." + targetZone, HealthCheck: c.Timing.Check()}}})
	n.File.Overwatch.AgentTokens = nil
	n.File.DNS.Resolver = harness.Resolver{Servers: []string{k.at.String()}, MinTTL: time.Second}
	testbed.Start(t, n)
	backends := func(what string, want ...string) {
		t.Helper()
		testbed.Until(t, targetBound, what, func(ctx context.Context) error {
			list, err := n.Client.Servers(ctx)
			if err != nil {
				return err
			}
			var got []string
			for _, s := range list.Servers {
				if s.Target != "app.backends.test" || s.Weight != 90 {
					return fmt.Errorf("target %q, weight %d", s.Target, s.Weight)
				}
				got = append(got, s.Address)
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				return fmt.Errorf("%d: %v", len(got), got)
			}
			return nil
		})
	}
	backends("the addresses", "192.0.2.1", "192.0.2.2", "2001:db8::1")
	k.change(t, "A 192.0.2.2", "A 192.0.2.3", "A 127.0.0.1", "A 169.254.169.254",
		fmt.Sprintf("A %s", n.DNS.Addr()))
	backends("others, without the lies", "192.0.2.2", "192.0.2.3")
	var many, most []string
	for i := range 1000 {
		a := netip.AddrFrom4([4]byte{198, 18, byte(i >> 8), byte(i)}).String()
		if many = append(many, "A "+a); i < 30 {
			most = append(most, a)
		}
	}
	k.change(t, append(many, "A 192.0.2.2", "A 192.0.2.3")...)
	want := append([]string{"192.0.2.2", "192.0.2.3"}, most...)
	slices.Sort(want)
	backends("32 of 1 002, those before among them", want...)
	k.change(t, "A 192.0.2.3")
	backends("one", "192.0.2.3")
	k.change(t)
	k.running.Stop()
	testbed.Until(t, targetBound, "word that it is not resolved", func(context.Context) error {
		if !slices.ContainsFunc(n.Output(), func(l harness.Line) bool {
			return strings.Contains(l.Text,
				"it is not resolved")
		}) {
			return fmt.Errorf("not yet")
		}
		return nil
	})
	backends("what was good last", "192.0.2.3")
}
