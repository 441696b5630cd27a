package dnssec_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// unsigned returns the name of an RRset of a section without a valid signature by one of the keys, or "".
func unsigned(section []dns.RR, keys []*dns.DNSKEY) string {
	for _, rr := range section {
		h := rr.Header()
		if h.Rrtype == dns.TypeRRSIG || h.Rrtype == dns.TypeOPT {
			continue
		}
		same := func(other dns.RR) bool { return other.Header().Name == h.Name && other.Header().Rrtype == h.Rrtype }
		set := slices.DeleteFunc(slices.Clone(section), func(other dns.RR) bool { return !same(other) })
		if !slices.ContainsFunc(section, func(other dns.RR) bool {
			sig, ok := other.(*dns.RRSIG)
			return ok && sig.TypeCovered == h.Rrtype && sig.Hdr.Name == h.Name && sig.ValidityPeriod(time.Now()) &&
				slices.ContainsFunc(keys, func(k *dns.DNSKEY) bool {
					return k.KeyTag() == sig.KeyTag && k.Hdr.Name == sig.SignerName && sig.Verify(k, set) == nil
				})
		}) {
			return h.Name + " " + dns.Type(h.Rrtype).String()
		}
	}
	return ""
}

// Every RRset of every answer to a query with DO is signed; truncated answers are repeated over TCP. Without DO no
// RRset is signed. AD is never set.
func TestDNSSEC_EveryRRsetIsSignedWithDOAndNoneWithout(t *testing.T) {
	for _, denial := range bothDenials {
		t.Run(denial, func(t *testing.T) {
			_, n := signed.Site(t, denial)
			keys := append(signed.KeysOf(t, n, testbed.ZoneName), signed.KeysOf(t, n, testbed.ChildZone)...)
			if len(keys) != 2 {
				t.Fatalf("keys %v", keys)
			}
			truncated, seen := 0, map[string]int{}
			for _, name := range signed.Names {
				for _, rtype := range signed.Types {
					if !signed.Askable(name, rtype) {
						continue
					}
					signed := testbed.AskNode(t, n, "udp", name, rtype, 512, true)
					if signed.Truncated {
						truncated++
						if signed = testbed.AskNode(t, n, "tcp", name, rtype, 512, true); signed.Truncated {
							t.Errorf("%s %s is truncated over TCP", name, dns.Type(rtype))
						}
					}
					seen[fmt.Sprintf("%s, %t", dns.RcodeToString[signed.Rcode], len(signed.Answer) > 0)]++
					if missing := unsigned(signed.Answer, keys) + unsigned(signed.Ns, keys); missing != "" ||
						len(signed.Answer)+len(signed.Ns) == 0 {
						t.Errorf("%s %s: not signed: %s\n%s", name, dns.Type(rtype), missing, signed)
					}
					for _, network := range []string{"udp", "tcp"} {
						plain := testbed.AskNode(t, n, network, name, rtype, 1232, false)
						for _, rr := range slices.Concat(plain.Answer, plain.Ns, plain.Extra) {
							switch rr.Header().Rrtype {
							case dns.TypeRRSIG, dns.TypeNSEC, dns.TypeNSEC3:
								t.Errorf("%s %s without DO: %s", name, dns.Type(rtype), rr)
							}
						}
						if plain.AuthenticatedData || signed.AuthenticatedData {
							t.Errorf("%s %s: AD is set", name, dns.Type(rtype))
						}
					}
				}
			}
			t.Logf("%v, %d truncated over UDP", seen, truncated)
			if denial == "nsec3" && truncated == 0 || seen["NOERROR, true"] == 0 || seen["NOERROR, false"] == 0 ||
				seen["NXDOMAIN, false"] == 0 {
				t.Error("a kind of answer did not come up")
			}
		})
	}
}

// faultOf are the marks of dnsviz print for errors and warnings.
var faultOf = regexp.MustCompile(`(?m)^\s*([EW]:.*|.*\[[^]]*[!?-][^]]*\].*)$`)

// dnsviz validates the names with a zone's key as trust anchor, and lists the errors.
func dnsviz(t *testing.T, n *harness.Node, key string, names ...string) (faults []string, said string) {
	t.Helper()
	program, dir := testbed.Judge(t, "dnsviz"), t.TempDir()
	probe, anchor := filepath.Join(dir, "probe"), filepath.Join(dir, "anchor")
	testbed.Write(t, anchor, 0o600, key+"\n")
	server := fmt.Sprintf("ow-1.%s=%s", testbed.ZoneName, n.DNS)
	args := append([]string{"probe", "-A", "-4", "-a", testbed.ZoneName, "-x", testbed.ZoneName + "+:" + server, "-x",
		testbed.ChildZone + ":" + server, "-o", probe}, names...)
	for _, args := range [][]string{args, {"print", "-P", "-r", probe, "-t", anchor}} {
		out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("dnsviz %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		said = string(out)
	}
	return faultOf.FindAllString(said, -1), said
}

func TestDNSSEC_DNSVizFindsNothingWrong(t *testing.T) {
	t.Parallel()
	for _, denial := range bothDenials {
		t.Run(denial, func(t *testing.T) {
			_, n := signed.Site(t, denial)
			key := signed.KeysOf(t, n, testbed.ZoneName)[0]
			faults, said := dnsviz(t, n, key.String(), testbed.ZoneName, testbed.AppName, "q.wild."+testbed.ZoneName,
				"ent."+testbed.ZoneName, "a.b.ent."+testbed.ZoneName, "nx."+testbed.ZoneName,
				testbed.ChildZone, "www."+testbed.ChildZone, "nx."+testbed.ChildZone, "deep."+testbed.ChildZone)
			if len(faults) > 0 || strings.Count(said, "[.]") < 100 {
				t.Errorf("dnsviz finds\n%s\nin\n%s", strings.Join(faults, "\n"), said)
			}
			key.PublicKey = signed.KeysOf(t, n, testbed.ChildZone)[0].PublicKey
			if faults, said := dnsviz(t, n, key.String(), testbed.AppName); len(faults) == 0 {
				t.Errorf("with another trust anchor it finds nothing wrong:\n%s", said)
			}
		})
	}
}

// walkZone lists the names of a zone by walking the NSEC chain, and the types of each name's record.
func walkZone(t *testing.T, n *harness.Node, zone string) (records []dns.RR) {
	t.Helper()
	of := func(section []dns.RR, owner string, rtype uint16) (set []dns.RR) {
		for _, rr := range section {
			sig, ok := rr.(*dns.RRSIG)
			if rr.Header().Name == owner && (rr.Header().Rrtype == rtype ||
				ok && sig.TypeCovered == rtype && sig.SignerName == zone) {
				set = append(set, rr)
			}
		}
		return set
	}
	owner := zone
	for range 100 {
		proof := of(testbed.AskNode(t, n, "tcp", owner, dns.TypeNSEC, 1232, true).Answer, owner, dns.TypeNSEC)
		cut := owner != zone && owner == testbed.ChildZone+"."
		if cut { // the zone below answers for its apex; a name behind it is denied by what the zone above has
			label, rest, _ := strings.Cut(owner, ".")
			proof = of(testbed.AskNode(t, n, "tcp", label+"0."+rest, dns.TypeA, 1232, true).Ns, owner, dns.TypeNSEC)
		}
		if len(proof) != 2 {
			t.Fatalf("%s has no NSEC record: %v", owner, proof)
		}
		records = append(records, proof...)
		next := proof[0].(*dns.NSEC)
		for _, rtype := range next.TypeBitMap {
			if rtype == dns.TypeNSEC || rtype == dns.TypeRRSIG {
				continue
			}
			records = append(records, of(testbed.AskNode(t, n, "tcp", owner, rtype, 1232, true).Answer, owner, rtype)...)
		}
		if owner = next.NextDomain; owner == zone {
			return records
		}
	}
	t.Fatal("the chain of NSEC records does not end")
	return nil
}

// ldns-verify-zone requires the whole zone, which zone walking returns: each name with one of its possible answers.
func TestDNSSEC_LDNSVerifiesTheZoneThatAWalkFinds(t *testing.T) {
	program := testbed.Judge(t, "ldns-verify-zone")
	_, n := signed.Site(t, "nsec")
	for _, zone := range []string{testbed.ZoneName + ".", testbed.ChildZone + "."} {
		records := walkZone(t, n, zone)
		verify := func() ([]byte, error) {
			var text strings.Builder
			for _, rr := range records {
				fmt.Fprintln(&text, rr)
			}
			path := filepath.Join(t.TempDir(), "zone")
			testbed.Write(t, path, 0o600, text.String())
			return exec.CommandContext(t.Context(), program, "-V", "2", path).CombinedOutput()
		}
		if out, err := verify(); err != nil {
			t.Errorf("%s: %v\n%s\n%v", zone, err, out, records)
		}
		records = slices.DeleteFunc(records, func(rr dns.RR) bool {
			sig, ok := rr.(*dns.RRSIG)
			return ok && sig.TypeCovered == dns.TypeSOA
		})
		if out, err := verify(); err == nil {
			t.Errorf("%s without the signature of its SOA record is fine too: %s", zone, out)
		}
	}
}

// churnPause is the time between two changes of the random walk.
const churnPause = 30 * time.Millisecond

// churn changes a site at random until ctx ends, and counts the changes: backends fail and recover, admin states are
// set and cleared, names are added and removed.
func churn(ctx context.Context, t *testing.T, s *testbed.Site, n *harness.Node, changes *atomic.Int64) {
	down, names := make([]bool, len(s.Backends)), map[string]bool{}
	no := false
	for range testbed.Every(ctx, churnPause) {
		changes.Add(1)
		i := rand.IntN(len(s.Backends))
		var err error
		switch name := fmt.Sprintf("%s.%s", []string{"w1", "a.w1", "z.ent", "w2.child", "zz"}[rand.IntN(5)],
			testbed.ZoneName); rand.IntN(8) {
		case 0:
			if down[i] {
				err = s.Backends[i].Start()
			} else {
				_, err = s.Backends[i].Kill()
			}
			down[i] = !down[i]
		case 1:
			_, err = n.Client.SetOverride(ctx, testbed.AppName, s.Backends[i].At.String(),
				api.OverrideRequest{Healthy: &no, Reason: "the walk"})
		case 2:
			if err = n.Client.ClearOverride(ctx, testbed.AppName, s.Backends[i].At.String()); notThere(err) {
				err = nil
			}
		default:
			if names[name] {
				err = n.Client.DeleteDomain(ctx, name)
			} else {
				_, err = n.Client.CreateDomain(ctx, api.DomainChange{"name": name})
			}
			if err == nil {
				names[name] = !names[name]
			}
		}
		if err != nil && ctx.Err() == nil {
			t.Errorf("a change of the walk: %v", err)
			return
		}
	}
}

func notThere(err error) bool {
	answer, ok := errors.AsType[*api.Error](err)
	return ok && answer.Status == 404
}

// walk sends random queries to resolvers until meanwhile has returned and the given number of answers were validated.
// It fails for each bogus answer.
func walk(t *testing.T, what string, names []string, resolvers []*signed.Resolver, proofs int64, meanwhile func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), walkBound)
	defer cancel()
	var over atomic.Bool
	var questions, proven atomic.Int64
	var all sync.WaitGroup
	for _, r := range resolvers {
		all.Go(func() {
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			for ctx.Err() == nil && (!over.Load() || proven.Load() < proofs) {
				name, rtype := names[rand.IntN(len(names))], signed.Types[rand.IntN(len(signed.Types))]
				if rand.IntN(4) == 0 {
					name = fmt.Sprintf("n%x.%s", rand.Uint32(), name)
				}
				if !signed.Askable(name, rtype) {
					continue
				}
				secure, err := r.Bogus(name, rtype)
				if err != nil {
					t.Errorf("%s: %v", what, err)
					return
				}
				questions.Add(1)
				if secure {
					proven.Add(1)
				} else {
					<-tick.C // nobody may be there to answer
				}
			}
		})
	}
	meanwhile()
	over.Store(true)
	all.Wait()
	t.Logf("%s: %d of %d questions had a proven answer, none a bogus one", what, proven.Load(), questions.Load())
	if proven.Load() < proofs {
		t.Errorf("%s: only %d answers were proven", what, proven.Load())
	}
}

// walkBound is the time limit of a walk, on any machine.
const walkBound = 2 * time.Minute

// Thousands of random queries while health, admin states and names change at random. Then the same while a peer with
// its own keys starts, so that the keys are imported, and while the node is killed and restarted. Validators accept
// each answer: a validator that caches keys for their TTL, and a validator without a cache.
func TestDNSSEC_EveryAnswerOfARandomWalkIsBelieved(t *testing.T) {
	t.Parallel()
	const proofs = 1000
	names := append(slices.Clone(signed.Names), "w1."+testbed.ZoneName, "a.w1."+testbed.ZoneName,
		"q.a.w1."+testbed.ZoneName, "z.ent."+testbed.ZoneName, "w2."+testbed.ChildZone, "x.w2."+testbed.ChildZone,
		"zz."+testbed.ZoneName)
	for _, denial := range bothDenials {
		t.Run(denial, func(t *testing.T) {
			s, n := signed.Prepared(t, denial)
			peer := testbed.AddNode(t, s.Cluster, "ow-2", "eu", map[string][]harness.Server{"eu": nil})
			peer.File.DNS.Zones, peer.File.Overwatch.DNSSEC.Denial = n.File.DNS.Zones, denial
			for _, both := range [][2]*harness.Node{{n, peer}, {peer, n}} {
				both[0].File.Overwatch.DNSSEC.KeySync = &harness.KeySync{
					PollInterval: testbed.SyncPoll, Timeout: 5 * time.Second,
					Secret: "a secret of the nodes, in more than 32 characters", Peers: []string{"http://" + both[1].API.String()},
				}
				keygenFor(t, both[0], testbed.ZoneName, testbed.ChildZone)
			}
			s.StartAll(t)
			ds := signed.DS(t, n).DSRecord
			forgetful := signed.Unbound(t, n, ds)
			remembering := signed.UnboundWith(t, n, ds, "infra-host-ttl: 1\n  val-bogus-ttl: 1")
			resolvers := []*signed.Resolver{forgetful, forgetful, remembering}

			walk(t, "while everything changes", names, resolvers, proofs, func() {
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				var changes atomic.Int64
				churned := make(chan struct{})
				go func() {
					defer close(churned)
					churn(ctx, t, s, n, &changes)
				}()
				testbed.Until(t, testbed.StartBound, "some changes", func(context.Context) error {
					if n := changes.Load(); n < 60 {
						return fmt.Errorf("%d so far", n)
					}
					return nil
				})
				stop()
				<-churned
			})
			walk(t, "while keys come from a peer, and a kill", names, resolvers, proofs, func() {
				s.StartNodes(t, peer)
				syncNow(t, n)
				if keys := append(signed.KeysOf(t, n, testbed.ZoneName),
					signed.KeysOf(t, n, testbed.ChildZone)...); len(keys) != 4 {
					t.Errorf("keys %v", keys)
				}
				if _, err := n.Kill(); err != nil {
					t.Error(err)
				}
				s.StartNodes(t, n)
			})
			signed.SameKeysOf(t, 2, 4, n, peer)
			walk(t, "through the peer", []string{testbed.ZoneName, "nx." + testbed.ZoneName, testbed.ChildZone,
				"nx." + testbed.ChildZone}, []*signed.Resolver{signed.Unbound(t, peer, ds)}, 50, func() {})
		})
	}
}
