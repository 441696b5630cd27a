package dnssec_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"go.yaml.in/yaml/v3"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
)

// rivalZone has every possible shape of our zones, and unusual types.
const rivalZone = "d.test."

var rivalRecords = append([]string{
	"@ 300 MX 10 mail", "@ 300 MX 10 MAIL", "@ 300 MX 20 Mail.Example.ORG.", "@ 300 TXT \"v=spf1 -all\"",
	"@ 300 CAA 0 issue \"ca.example.net\"",
	"ns1 300 A 192.0.2.1", "ns1 300 AAAA 2001:db8::1", "app 60 A 192.0.2.10", "app 60 A 192.0.2.11",
	"app 60 AAAA 2001:db8::10", "v6 60 AAAA 2001:db8::12",
	"www 300 CNAME app", "out 300 CNAME target.example.org.", "dangling 300 CNAME nx", "cent 300 CNAME ent",
	"cwild 300 CNAME x.wild",
	"c1 300 CNAME c2", "c2 300 CNAME c3", "c3 300 CNAME app",
	"*.wild 60 A 192.0.2.20", "*.wild 60 TXT \"wild\"", "x.under.wild 60 A 192.0.2.21", "*.walias 60 CNAME app",
	"*.wout 60 CNAME out.example.org.",
	"a.b.ent 60 A 192.0.2.30", "*.ent2.x 60 A 192.0.2.44", "sub.app 60 A 192.0.2.43",
	"_sip._tcp 60 SRV 10 20 5060 app", "_sip._tcp 60 SRV 20 20 5060 Mail.Example.ORG.",
	"_443._tcp.app 60 TLSA 3 1 1 0b9fa5a59eed715c26c1020c711b4f6ec42d58b0015e14337a39dad301c5afc3",
	"h 60 HTTPS 1 . alpn=\"h2,h3\" ipv4hint=192.0.2.1", "h 60 SVCB 2 app alpn=\"h2\"",
	"n 60 NAPTR 100 10 \"S\" \"SIP+D2U\" \"\" _sip._tcp", "n 60 URI 10 1 \"https://example.org/\"",
	"n 60 SSHFP 4 2 123456789ABCDEF67890123456789ABCDEF67890123456789ABCDEF123456789", "unk 60 TYPE65400 \\# 4 deadbeef",
	"unk 60 TYPE731 \\# 0",
	"ptr 60 PTR App.D.test.", `ptr 60 PTR \077ail`, "rp 60 RP admin txt.Admin", "rp 60 AFSDB 1 afs.EXAMPLE.org.",
	"MiXed 60 A 192.0.2.40", "MiXed 60 TXT \"Mixed Case\"",
	`esc\.dot 60 TXT "a dot"`, `bin\000\255\032x 60 A 192.0.2.41`,
	"long 60 TXT \"" + strings.Repeat("a", 255) + "\" \"" + strings.Repeat("b", 255) + "\"", "empty 60 TXT \"\"",
	strings.Repeat("l", 63) + "." + strings.Repeat("l", 63) + "." + strings.Repeat("l", 50) + ".lbl 60 A 192.0.2.42",
}, addresses("mid", 20, "10.2.0.%d", "A")...)

// addresses returns count records of one name.
func addresses(name string, count int, format, rtype string) (lines []string) {
	for i := range count {
		lines = append(lines, fmt.Sprintf("%s 60 %s "+format, name, rtype, i+1))
	}
	return lines
}

var rivalTypes = []uint16{
	dns.TypeA, dns.TypeA, dns.TypeAAAA, dns.TypeCNAME, dns.TypeTXT, dns.TypeMX, dns.TypeNS, dns.TypeSOA, dns.TypeSRV,
	dns.TypeCAA, dns.TypeHTTPS, dns.TypeSVCB, dns.TypeNAPTR,
	dns.TypeURI, dns.TypeSSHFP, dns.TypeTLSA, dns.TypePTR, dns.TypeRP, dns.TypeAFSDB, dns.TypeDNSKEY, dns.TypeCDS,
	dns.TypeCDNSKEY, dns.TypeDS, dns.TypeNSEC3PARAM, 65400, 731, 1234,
}

// startKnot serves a zone file with Knot, which signs like gslb: one key, and the same method of denial.
func startKnot(t *testing.T, zoneFile, denial string) netip.AddrPort {
	t.Helper()
	at, _ := startKnotOf(t, rivalZone, zoneFile, denial)
	return at
}

// startKnotOf is startKnot for any zone. It also returns the path of Knot's configuration for knotc.
func startKnotOf(t *testing.T, zone, zoneFile, denial string) (at netip.AddrPort, config string) {
	t.Helper()
	// short, because the path of a socket is limited
	program, dir := testbed.Judge(t, "knotd"), testbed.NewCluster(t, harness.Fast()).Dir
	file := filepath.Join(dir, "zone")
	testbed.Write(t, file, 0o600, zoneFile)
	for range signed.Tries {
		at := signed.FreePort(t)
		config := fmt.Sprintf(`
server:
  rundir: %[1]q
  listen: %[2]s@%[3]d
  udp-workers: 1
  tcp-workers: 1
  background-workers: 1
  udp-max-payload: 1232
database:
  storage: %[1]q
log:
  - target: stderr
    any: warning
policy:
  - id: ours
    algorithm: ecdsap256sha256
    single-type-signing: on
    nsec3: %[4]s
    nsec3-iterations: 0
    nsec3-salt-length: 0
    cds-cdnskey-publish: always
zone:
  - domain: %[5]s
    file: %[6]q
    storage: %[1]q
    zonefile-sync: -1
    zonefile-load: difference-no-serial
    journal-content: all
    dnssec-signing: on
    dnssec-policy: ours
`, dir, at.Addr(), at.Port(), map[bool]string{true: "on", false: "off"}[denial == "nsec3"], zone, file)
		path := filepath.Join(dir, "knot.conf")
		testbed.Write(t, path, 0o600, config)
		knot := signed.StartServer(t, program, "-c", path)
		if knotServes(t, at, zone, knot.Ended) {
			return at, path
		}
		t.Logf("knotd ended: %s", &knot.Said)
	}
	t.Fatal("knotd does not start")
	return at, ""
}

// knotServes waits until Knot returns signed answers. It returns false if the program has ended.
func knotServes(t *testing.T, at netip.AddrPort, zone string, ended <-chan struct{}) (alive bool) {
	t.Helper()
	testbed.Until(t, testbed.StartBound, "knotd", func(ctx context.Context) error {
		select {
		case <-ended:
			return nil
		default:
		}
		q := new(dns.Msg).SetQuestion(zone, dns.TypeSOA)
		q.SetEdns0(1232, true)
		reply, _, err := (&dns.Client{Timeout: testbed.Patience}).ExchangeContext(ctx, q, at.String())
		switch {
		case err != nil:
			return err
		case len(reply.Answer) != 2:
			return fmt.Errorf("not signed yet: %s", reply)
		}
		alive = true
		return nil
	})
	return alive
}

// comparable returns the parts of a response in which two servers with different keys agree: the code, AA, and the
// records of the answer and authority sections, without NS records, which a server may add to a positive answer.
func comparable(m *dns.Msg) string {
	lines := []string{fmt.Sprintf("%s aa=%t tc=%t", dns.RcodeToString[m.Rcode], m.Authoritative, m.Truncated)}
	for prefix, section := range map[string][]dns.RR{"": m.Answer, "| ": m.Ns} {
		for _, rr := range section {
			h := rr.Header()
			sig, signature := rr.(*dns.RRSIG)
			if prefix != "" && len(m.Answer) > 0 && (h.Rrtype == dns.TypeNS || signature && sig.TypeCovered == dns.TypeNS) {
				continue
			}
			line := fmt.Sprintf("%s%s %d %s", prefix, strings.ToLower(h.Name), h.Ttl, dns.Type(h.Rrtype))
			switch rr := rr.(type) {
			case *dns.RRSIG:
				line = fmt.Sprintf("%s%s RRSIG %s %d %s", prefix, strings.ToLower(h.Name), dns.Type(rr.TypeCovered), rr.Labels,
					rr.SignerName)
			case *dns.NSEC3PARAM, *dns.CDS, *dns.CDNSKEY: // nobody keeps these: any TTL will do
				line = fmt.Sprintf("%s%s %s", prefix, strings.ToLower(h.Name), dns.Type(h.Rrtype))
			case *dns.SOA, *dns.DNSKEY:
			default:
				line += strings.ToLower(strings.TrimPrefix(rr.String(), h.String()))
			}
			lines = append(lines, line)
		}
	}
	slices.Sort(lines[1:])
	return strings.Join(lines, "\n")
}

// rivalNames returns the names of the zone, all names above them, and missing names.
func rivalNames(random *rand.Rand) (names []string) {
	there := map[string]bool{}
	for _, line := range rivalRecords {
		owner, _, _ := strings.Cut(line, " ")
		name := dns.Fqdn(owner + "." + rivalZone)
		if owner == "@" {
			name = rivalZone
		}
		for ; len(name) >= len(rivalZone) && !there[name]; name = name[dns.Split(name)[1]:] {
			there[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		names = append(names, name, name, "x."+name, "*."+name, "x.y."+name, strings.ToUpper(name))
		if name != rivalZone {
			names = append(names, "z"+name)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { _, ok := dns.IsDomainName(name); return !ok })
	random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names
}

var manyQuestions = flag.Int("questions", 1500, "number of questions to both servers")

// An independent DNS server returns the same answers for the same zone: every kind of name and type, wildcards, empty
// non-terminals, aliases, with and without DO, with NSEC, and with NSEC3 after `gslbctl import bind` of the same zone
// file. comparable omits permitted differences. -questions increases the number of queries.
func TestDNS_AnswersAsKnotDoes(t *testing.T) {
	t.Parallel()
	questions := *manyQuestions
	for _, denial := range bothDenials {
		t.Run(denial, func(t *testing.T) {
			t.Parallel()
			zone := fmt.Sprintf("$ORIGIN %s\n$TTL 30\n@ 3600 SOA ns1 hostmaster 1 3600 600 604800 5\n@ 3600 NS ns1\n%s\n",
				rivalZone, strings.Join(rivalRecords, "\n"))
			knot := startKnot(t, zone, denial)
			s := testbed.NewSite(t, 1, 0)
			n := s.Nodes[0]
			path := filepath.Join(s.Dir, strings.TrimSuffix(rivalZone, ".")+".yaml")
			if denial == "nsec3" { // from the very file that Knot has
				file := filepath.Join(s.Dir, "rival.zone")
				testbed.Write(t, file, 0o600, zone)
				testbed.Command(t, testbed.Binaries(t).Control, "import", "bind", file, "--zone", rivalZone, "--into", s.Dir).
					Want(t, 0, " imported, 0 omitted")
			} else {
				text, err := yaml.Marshal(map[string]any{"dns": map[string]any{"default_ttl": 5, "zones": []any{map[string]any{
					"name": rivalZone, "nameservers": []string{"ns1." + rivalZone}, "records": rivalRecords}}}})
				if err != nil {
					t.Fatal(err)
				}
				testbed.Write(t, path, 0o600, string(text))
			}
			n.File.Includes, n.File.Overwatch.DNSSEC.Denial = []string{path}, denial
			s.StartPrograms(t)

			random := rand.New(rand.NewPCG(1, uint64(len(denial))))
			names, seen := rivalNames(random), map[string]int{}
			for i := range questions {
				name, rtype, do := names[i%len(names)], rivalTypes[random.IntN(len(rivalTypes))], random.IntN(4) > 0
				if name == rivalZone && rtype == dns.TypeDS {
					continue // of the zone above, which neither has
				}
				network := []string{"udp", "udp", "udp", "tcp"}[random.IntN(4)]
				ask := func(at netip.AddrPort) *dns.Msg {
					q := new(dns.Msg).SetQuestion(name, rtype)
					q.RecursionDesired = false
					q.SetEdns0(1232, do)
					reply, _, err := (&dns.Client{Net: network, Timeout: testbed.Patience}).ExchangeContext(t.Context(), q,
						at.String())
					if err != nil {
						t.Fatalf("%s %s over %s at %s: %v", name, dns.Type(rtype), network, at, err)
					}
					return reply
				}
				ours, theirs := ask(n.DNS), ask(knot)
				if ours.Truncated != theirs.Truncated {
					network = "tcp" // a few octets more or less
					ours, theirs = ask(n.DNS), ask(knot)
				}
				if got, want := comparable(ours), comparable(theirs); got != want && !ours.Truncated {
					t.Errorf("%s %s, DO %t, over %s\n%s\nand Knot\n%s", name, dns.Type(rtype), do, network, got, want)
				}
				seen[fmt.Sprintf("%s, %t", dns.RcodeToString[ours.Rcode], len(ours.Answer) > 0)]++
			}
			t.Logf("%d questions: %v", questions, seen)
			if seen["NOERROR, true"] == 0 || seen["NOERROR, false"] == 0 || seen["NXDOMAIN, false"] == 0 ||
				seen["NXDOMAIN, true"] == 0 {
				t.Error("a kind of answer did not come up")
			}
		})
	}
}
