package dnssec_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
)

// elsewhere serves addresses of host names outside the node, over UDP.
func elsewhere(t *testing.T, addresses map[string]string) net.Addr {
	t.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &dns.Server{PacketConn: socket, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		reply := new(dns.Msg).SetReply(q)
		reply.Authoritative = true
		name := strings.ToLower(q.Question[0].Name)
		if a := addresses[name]; a != "" && q.Question[0].Qtype == dns.TypeA {
			reply.Answer = []dns.RR{&dns.A{Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeA,
				Class: dns.ClassINET, Ttl: 1}, A: net.ParseIP(a)}}
		}
		_ = w.WriteMsg(reply)
	})}
	ended := make(chan error, 1)
	go func() { ended <- server.ActivateAndServe() }()
	t.Cleanup(func() {
		_ = socket.Close()
		<-ended
	})
	return socket.LocalAddr()
}

// Answers with target names follow the health of the targets' addresses. Validators find them secure, for targets
// inside and outside the zone.
func TestDNSSEC_AnswersThatAreNamesAreSecure(t *testing.T) {
	for _, denial := range bothDenials {
		t.Run(denial, func(t *testing.T) {
			s, r := aliasSite(t, denial)
			n := s.Nodes[0]
			goes := func(what string, targets ...string) {
				t.Helper()
				testbed.Until(t, time.Minute, what, func(context.Context) error {
					seen := map[string]bool{}
					for range 4 {
						reply, err := r.Ask(testbed.AppName, dns.TypeCNAME)
						if err != nil {
							return err
						}
						for _, rr := range reply.Answer {
							if alias, is := rr.(*dns.CNAME); is {
								seen[alias.Target] = true
							}
						}
					}
					for _, target := range targets {
						if !seen[target] || len(seen) != len(targets) {
							return fmt.Errorf("%v", seen)
						}
					}
					return nil
				})
			}
			goes("both targets", "a.cdn.test.", "b.cdn.test.")
			for _, c := range []struct {
				name   string
				rtype  uint16
				secure bool
				want   []uint16 // of the answer but for signatures
			}{
				{testbed.AppName, dns.TypeA, false, []uint16{dns.TypeCNAME, dns.TypeA}}, // the CDN's address is not signed
				{testbed.AppName, dns.TypeTXT, false, []uint16{dns.TypeCNAME}},
				{testbed.OtherName, dns.TypeA, true, []uint16{dns.TypeCNAME, dns.TypeA}},
				{testbed.OtherName, dns.TypeTXT, true, []uint16{dns.TypeCNAME}},
				{"q.wild." + testbed.ZoneName, dns.TypeCNAME, true, []uint16{dns.TypeCNAME}},
				{"x." + testbed.AppName, dns.TypeA, true, nil},
			} {
				testbed.Until(t, time.Minute, c.name+" "+dns.Type(c.rtype).String(), func(context.Context) error {
					reply, err := r.Ask(c.name, c.rtype)
					if reply == nil || (err == nil) != c.secure {
						return fmt.Errorf("secure: %t: %v", err == nil, reply)
					}
					var got []uint16
					for _, rr := range reply.Answer {
						if rr.Header().Rrtype != dns.TypeRRSIG {
							got = append(got, rr.Header().Rrtype)
						}
					}
					if fmt.Sprint(got) != fmt.Sprint(c.want) {
						return fmt.Errorf("types %v, want %v", got, c.want)
					}
					return nil
				})
			}
			delv(t, n, testbed.AppName+" CNAME", testbed.OtherName+" A", "q.wild."+testbed.ZoneName+" CNAME",
				"x."+testbed.AppName+" A")
			testbed.Kill(t, s.Backends[0])
			goes("the target that serves", "b.cdn.test.")
			if denial == "nsec" {
				refusesBeside(t, n)
			}
		})
	}
}

// refusesBeside adds a record at the name of an alias to the configuration, and checks that --validate reports it.
func refusesBeside(t *testing.T, n *harness.Node) {
	t.Helper()
	testbed.Write(t, n.Path+".zone", 0o600, "app TXT beside\n")
	nameFile(t, n, n.Path+".zone")
	testbed.Command(t, testbed.Binaries(t).Overwatch, "--config", n.Path, "--validate").Want(t, 2,
		"dns.zones[0].file", "overwatch.yaml.zone:1", "is a domain with answer: cname", "remove the record")
}

// aliasSite returns a node with names that answer with host names outside the node and with the name of the node, and a
// validator.
func aliasSite(t *testing.T, denial string) (*testbed.Site, *signed.Resolver) {
	t.Helper()
	s := testbed.NewSite(t, 1, 2)
	n, own := s.Nodes[0], "ow-1."+testbed.ZoneName+"."
	at := elsewhere(t, map[string]string{"a.cdn.test.": s.Backends[0].At.Addr().String(),
		"b.cdn.test.": s.Backends[1].At.Addr().String(), own: s.Backends[1].At.Addr().String()})
	n.File.DNS.Resolver = harness.Resolver{Servers: []string{at.String()}, MinTTL: time.Second}
	n.File.Overwatch.DNSSEC.Denial, n.File.Overwatch.AgentTokens = denial, nil
	d := n.File.Domains[0]
	d.Answer, d.MaxAnswers, n.File.Domains = "cname", 2, nil
	for _, name := range []string{testbed.AppName, testbed.OtherName, "*.wild." + testbed.ZoneName} {
		d.Name = name
		n.File.Domains = append(n.File.Domains, d)
	}
	var servers []harness.Server
	for _, c := range []struct {
		service, target string
		backend         int
	}{
		{testbed.AppName, "a.cdn.test", 0},
		{testbed.AppName, "B.cdn.test", 1},
		{testbed.OtherName, own, 1},
		{"*.wild." + testbed.ZoneName, "b.cdn.test", 1},
	} {
		servers = append(servers, harness.Server{Service: c.service, Target: c.target, Allowed: []string{"127.0.3.0/24"},
			Port: s.Backends[c.backend].At.Port(), Weight: 100, HealthCheck: s.Timing.Check()})
	}
	n.File.Regions[0].Servers = servers
	for _, b := range s.Backends {
		testbed.Start(t, b)
	}
	testbed.Start(t, n)
	s.Ready(t, n)
	host, port, err := net.SplitHostPort(at.String())
	if err != nil {
		t.Fatal(err)
	}
	return s, signed.UnboundWith(t, n, signed.DS(t, n).DSRecord, fmt.Sprintf("cache-max-ttl: 0\n  "+
		"cache-max-negative-ttl: 0\nstub-zone:\n  name: cdn.test\n  stub-addr: %s@%s\nserver:\n", host, port))
}
