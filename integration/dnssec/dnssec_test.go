package dnssec_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
)

var bothDenials = []string{"nsec", "nsec3"}

// I4: an independent validator with only the DS record accepts the answers of the node.
func TestDNSSEC_UnboundAndDelvFindEveryAnswerSecure(t *testing.T) {
	for _, denial := range bothDenials {
		t.Run(denial, func(t *testing.T) {
			s, n := signed.Site(t, denial)
			r := signed.Unbound(t, n, signed.DS(t, n).DSRecord)
			hasRecord(t, r, "_sip._tcp."+testbed.OtherName, dns.TypeSRV,
				fmt.Sprintf("0 100 %d %s.", s.Backends[0].At.Port(), testbed.OtherName))
			hasRecord(t, r, testbed.OtherName, dns.TypeHTTPS,
				fmt.Sprintf(`1 . alpn="h2,h3" ipv4hint="%s" ipv6hint="2001:db8::7"`, s.Backends[0].At.Addr()))
			for _, name := range signed.Names {
				for _, rtype := range signed.Types {
					if !signed.Askable(name, rtype) {
						continue
					}
					if _, err := r.Ask(name, rtype); err != nil {
						t.Error(err)
					}
				}
			}
			delvAll(t, n)
			drillChases(t, n)
		})
	}
}

// hasRecord waits until a resolver returns exactly one record of a type for a name, with the given data.
func hasRecord(t *testing.T, r *signed.Resolver, name string, rtype uint16, data string) {
	t.Helper()
	testbed.Until(t, time.Minute, data, func(context.Context) error {
		reply, err := r.Ask(name, rtype)
		if err == nil && (len(reply.Answer) != 2 || !strings.HasSuffix(reply.Answer[0].String(), "\t"+data)) {
			err = fmt.Errorf("%s %s: %v", name, dns.Type(rtype), reply.Answer)
		}
		return err
	})
}

// Validators with clocks that are wrong by hours in either direction accept every answer. This is equivalent to a jump
// of the node's clock before signing. unbound gets another time and no tolerance. With clocks that are wrong by days,
// no answer is accepted.
func TestDNSSEC_ValidatorsWhoseClocksAreOffBelieveEveryAnswer(t *testing.T) {
	t.Parallel()
	_, n := signed.Site(t, "nsec")
	ds := signed.DS(t, n).DSRecord
	for off, believes := range map[time.Duration]bool{
		time.Hour: true, -time.Hour: true, 11 * time.Hour: true, -11 * time.Hour: true, 20 * 24 * time.Hour: false,
		-2 * 24 * time.Hour: false,
	} {
		r := signed.UnboundWith(t, n, ds, fmt.Sprintf(
			"cache-max-ttl: 0\n  cache-max-negative-ttl: 0\n  val-sig-skew-min: 0\n  val-sig-skew-max: 0\n  "+
				"val-override-date: %q",
			time.Now().Add(off).UTC().Format("20060102150405")))
		for _, name := range signed.Names {
			for _, rtype := range []uint16{dns.TypeA, dns.TypeSOA, dns.TypeDNSKEY, dns.TypeMX} {
				if _, err := r.Ask(name, rtype); (err == nil) != believes {
					t.Errorf("by a clock that is off by %s: %s %s: %v", off, name, dns.Type(rtype), err)
				}
			}
		}
	}
}

// delvAll makes delv validate one name of each kind.
func delvAll(t *testing.T, n *harness.Node) {
	t.Helper()
	delv(t, n, "_sip._tcp."+testbed.OtherName+" SRV", testbed.OtherName+" HTTPS", testbed.AppName+" A",
		testbed.AppName+" TXT", "q.wild."+testbed.ZoneName+" A",
		"q.wild."+testbed.ZoneName+" MX", "ent."+testbed.ZoneName+" A", "nx."+testbed.ZoneName+" A",
		testbed.ZoneName+" SOA", testbed.ZoneName+" DNSKEY", testbed.ChildZone+" DS", "www."+testbed.ChildZone+" A",
		"nx."+testbed.ChildZone+" A")
}

// delv, which shares no code with unbound, queries the given names and types.
func delv(t *testing.T, n *harness.Node, questions ...string) {
	t.Helper()
	program, ds := testbed.Judge(t, "delv"), signed.DS(t, n)
	anchors := filepath.Join(t.TempDir(), "anchors")
	text := fmt.Sprintf("trust-anchors { %s static-ds %d %d %d \"%s\"; };\n", ds.Zone, ds.KeyTag, ds.Algorithm,
		ds.DigestType, ds.Digest)
	testbed.Write(t, anchors, 0o600, text)
	for _, question := range questions {
		args := append([]string{"@" + n.DNS.Addr().String(), "-p", fmt.Sprint(n.DNS.Port()), "-a", anchors,
			"+root=" + testbed.ZoneName}, strings.Fields(question)...)
		out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "fully validated") {
			t.Errorf("delv %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// drillChases makes ldns follow the signatures of an answer to the zone's key.
func drillChases(t *testing.T, n *harness.Node) {
	t.Helper()
	program, ds := testbed.Judge(t, "drill"), signed.DS(t, n)
	anchor := filepath.Join(t.TempDir(), "anchor")
	testbed.Write(t, anchor, 0o600, ds.DSRecord+"\n")
	out, err := exec.CommandContext(t.Context(), program, "-S", "-k", anchor, "-p", fmt.Sprint(n.DNS.Port()),
		"@"+n.DNS.Addr().String(), testbed.AppName, "A").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "No errors found, trust is") &&
		!strings.Contains(string(out), "trusted") {
		t.Errorf("drill -S: %v\n%s", err, out)
	}
}

// Answers stay secure while backends fail and recover, and while the node is killed and restarted.
func TestDNSSEC_AnswersStaySecureDuringFlapsAndARestart(t *testing.T) {
	t.Parallel()
	for _, denial := range bothDenials {
		t.Run(denial, func(t *testing.T) {
			s, n := signed.Site(t, denial)
			ds := signed.DS(t, n)
			r := signed.Unbound(t, n, ds.DSRecord)
			walk := func(what string, howLong time.Duration) {
				t.Helper()
				questions := 0
				for end := time.Now().Add(howLong); time.Now().Before(end); questions++ {
					name, rtype := signed.Names[rand.IntN(len(signed.Names))], signed.Types[rand.IntN(len(signed.Types))]
					if !signed.Askable(name, rtype) {
						continue
					}
					reply, err := r.Ask(name, rtype)
					if reply != nil && reply.Rcode == dns.RcodeServerFailure {
						_, err = r.Bogus(name, rtype) // no backend may be left: a check was late
					}
					if err != nil {
						t.Errorf("%s: %v", what, err)
						return
					}
				}
				t.Logf("%s: %d answers, all secure", what, questions)
			}
			testbed.Kill(t, s.Backends[1])
			walk("while a backend leaves", 3*time.Second)
			testbed.Start(t, s.Backends[1])
			walk("while it comes back", 3*time.Second)
			testbed.Kill(t, n)
			testbed.Start(t, n)
			testbed.Until(t, testbed.StartBound, "a secure answer after the restart", func(context.Context) error {
				_, err := r.Ask(testbed.AppName, dns.TypeA)
				return err
			})
			walk("after the restart", 2*time.Second)
			if after := signed.DS(t, n); after != ds {
				t.Errorf("the key after the restart is %+v, before %+v", after, ds)
			}
		})
	}
}

// The procedure of the specification for a new key: delete the files, restart, publish the new DS. With the old DS,
// answers are bogus; with the new DS, they are secure. A backup of the old key, restored while the node runs, makes
// them secure with either DS.
func TestDNSSEC_DeletedKeyFilesAndARestartMakeANewKey(t *testing.T) {
	t.Parallel()
	_, n := signed.Site(t, "nsec")
	before := signed.DS(t, n)
	b, backup := testbed.Binaries(t), filepath.Join(t.TempDir(), "keys.age")
	phrase := filepath.Join(t.TempDir(), "passphrase")
	testbed.Write(t, phrase, 0o600, "six words that nobody else has\n")
	keep := func(args ...string) {
		t.Helper()
		testbed.Command(t, append([]string{b.Control, "dnssec"}, append(args, backup, "--passphrase-file", phrase,
			"--keys", filepath.Join(n.File.DataDir, "dnssec"))...)...).Want(t, testbed.ExitOK)
	}
	keep("backup")
	testbed.Stop(t, n)
	files := signed.KeyFiles(t, n, testbed.ZoneName)
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
	after := signed.DS(t, n)
	if after.Digest == before.Digest {
		t.Fatal("the key is the old one")
	}
	secure := signed.Unbound(t, n, after.DSRecord)
	if _, err := secure.Ask(testbed.AppName, dns.TypeSOA); err != nil {
		t.Error(err)
	}
	bogus := signed.Unbound(t, n, before.DSRecord)
	if reply, err := bogus.Ask(testbed.AppName, dns.TypeSOA); err == nil || reply == nil ||
		reply.Rcode != dns.RcodeServerFailure {
		t.Errorf("with the old DS: %v, %v; want SERVFAIL", reply, err)
	}
	keep("restore")
	if _, err := n.Client.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, ds := range []string{before.DSRecord, after.DSRecord} {
		if _, err := signed.Unbound(t, n, ds).Ask(testbed.AppName, dns.TypeSOA); err != nil {
			t.Errorf("restored, with %s: %v", ds, err)
		}
	}
}
