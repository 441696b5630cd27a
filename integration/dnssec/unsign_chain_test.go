package dnssec_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// wayJudges are the validators of chainJudges. They count secure and provably insecure zones.
type wayJudges struct {
	*chainJudges
	mu   sync.Mutex
	seen map[string]int // by judge and verdict, since the last forget
}

func (j *wayJudges) note(verdict string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seen[verdict]++
}

func (j *wayJudges) forget() {
	j.mu.Lock()
	defer j.mu.Unlock()
	clear(j.seen)
}

// least returns the lowest number of verdicts of any judge.
func (j *wayJudges) least(verdict string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return min(j.seen["unbound "+verdict], j.seen["named "+verdict], j.seen["delv "+verdict])
}

// judge makes a validator send a query, and records its verdict. bogus distinguishes a rejected answer from a missing
// answer.
func (j *wayJudges) judge(who string, r *signed.Resolver, bogus func(string, uint16) (bool, error), name string,
	kind uint16) error {
	reply, err := r.Ask(name, kind)
	switch {
	case reply == nil: // the machine is busy
	case err == nil:
		j.note(who + " secure")
	case reply.Rcode == dns.RcodeServerFailure:
		if _, err := bogus(name, kind); err != nil {
			return fmt.Errorf("I4: %s: %w", who, err)
		}
	default:
		j.note(who + " insecure")
	}
	return nil
}

// look makes every validator query existing and missing names. The error names the validators that find an answer
// bogus.
func (j *wayJudges) look(ctx context.Context, zone string) error {
	j.asked++
	for name, kind := range map[string]uint16{zone: dns.TypeSOA, "ow-1." + zone: dns.TypeA, "nx." + zone: dns.TypeA,
		fmt.Sprintf("n%d.%s", j.asked, zone): dns.TypeA} {
		if err := errors.Join(j.judge("unbound", j.unbound, j.unbound.Bogus, name, kind),
			j.judge("named", j.named, j.named.Refuses, name, kind)); err != nil {
			return err
		}
	}
	name := []string{zone + ". SOA", "nx." + zone + ". A"}[j.asked%2]
	host, port, _ := strings.Cut(j.unbound.At, ":")
	out, _ := exec.CommandContext(ctx, j.delv, append([]string{"@" + host, "-p", port, "-a", j.anchors,
		"+root=" + chainParent, "+cdflag"}, strings.Fields(name)...)...).CombinedOutput()
	switch said := string(out); {
	case strings.Contains(said, "fully validated"):
		j.note("delv secure")
	case strings.Contains(said, "unsigned answer"):
		j.note("delv insecure")
	case ctx.Err() == nil && !strings.Contains(said, "timed out") && !strings.Contains(said, "SERVFAIL"):
		return fmt.Errorf("I4: delv %s: it says %q", name, said)
	}
	return nil
}

// A zone of three nodes becomes unsigned and is signed again. A further transition to unsigned is cancelled. Knot
// serves the signed parent zone, and a registry follows the CDS records. Two independent validators, unbound and BIND,
// with the parent's key as their only anchor, find the zone secure, then insecure, then secure, and never bogus. A node
// that is killed while the zone is unsigned restarts without signatures.
func TestWay_SecureThenInsecureThenSecureBelowKnotForUnboundAndDelv(t *testing.T) {
	t.Parallel()
	const zone = testbed.ZoneName
	parent, s := startBelowKnot(t, []string{zone})
	judges := &wayJudges{chainJudges: startChainJudges(t, parent, []string{zone}, s.Nodes), seen: map[string]int{}}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	all.Go(func() {
		for range testbed.Every(ctx, 100*time.Millisecond) { // the pace of the questions
			if err := judges.look(ctx, zone); err != nil && ctx.Err() == nil {
				r, _ := rollOf(ctx, s.Nodes[0], zone)
				t.Errorf("at stage %q of the way to be %s: %v", r.Stage, r.Way, err)
				return
			}
		}
	})
	all.Go(func() {
		turn := 0
		for range testbed.Every(ctx, 100*time.Millisecond) {
			turn++
			_ = parent.follow(ctx, s.Nodes[turn%len(s.Nodes)], zone) // an unsigned zone has no CDS records
		}
	})
	found := func(verdict string) {
		t.Helper()
		judges.forget()
		testbed.Until(t, rollBound, "the validators to find the zone "+verdict, func(context.Context) error {
			if n := judges.least(verdict); n < 4 {
				return fmt.Errorf("they did %d times", n)
			}
			return nil
		})
	}
	at := func(way api.RollWay, stage api.RollStage) {
		t.Helper()
		testbed.Until(t, rollBound, fmt.Sprintf("the zone to be %s on its way to be %s", stage, way),
			func(ctx context.Context) error {
				for _, n := range s.Nodes {
					r, err := rollOf(ctx, n, zone)
					if err != nil || r.Way != way || r.Stage != stage {
						return fmt.Errorf("%s: %+v, %w", n.Name, r, err)
					}
				}
				return nil
			})
	}
	turn := func(n *harness.Node, tell func(context.Context, string) (api.Roll, error), way api.RollWay) {
		t.Helper()
		if r, err := tell(t.Context(), zone); err != nil || r.Way != way {
			t.Fatalf("%s: %+v, %v", n.Name, r, err)
		}
	}
	found("secure")
	turn(s.Nodes[0], s.Nodes[0].Client.UnsignZone, api.RollToUnsigned)
	at(api.RollToUnsigned, api.RollDone)
	found("insecure")
	testbed.Kill(t, s.Nodes[2])
	s.StartNodes(t, s.Nodes[2])
	for _, n := range s.Nodes {
		for _, kind := range []uint16{dns.TypeDNSKEY, dns.TypeCDS, dns.TypeSOA} {
			reply, err := askTCP(t.Context(), n.DNS.String(), zone+".", kind)
			if err != nil || reply.Rcode != dns.RcodeSuccess || strings.Contains(reply.String(), "\tRRSIG\t") ||
				(len(reply.Answer) > 0) != (kind == dns.TypeSOA) {
				t.Errorf("%s, unsigned, answers %v, %v", n.Name, reply, err)
			}
		}
	}
	found("insecure")
	turn(s.Nodes[1], s.Nodes[1].Client.SignZone, api.RollToSigned)
	at(api.RollToSigned, api.RollDone)
	found("secure")
	turn(s.Nodes[2], s.Nodes[2].Client.UnsignZone, api.RollToUnsigned)
	testbed.Until(t, rollBound, "the parent to have no DS record", func(context.Context) error {
		if reply, err := askTCP(t.Context(), parent.at.String(), zone+".", dns.TypeDS); err != nil || len(reply.Answer) > 0 &&
			reply.Answer[0].Header().Rrtype == dns.TypeDS {
			return errors.New("it has one")
		}
		return nil
	})
	testbed.Until(t, rollBound, "another node to hear of it", func(ctx context.Context) error {
		if r, err := rollOf(ctx, s.Nodes[0], zone); err != nil || r.Way != api.RollToUnsigned {
			return fmt.Errorf("%+v, %w", r, err)
		}
		return nil
	})
	turn(s.Nodes[0], s.Nodes[0].Client.CancelRoll, api.RollToSigned)
	at(api.RollToSigned, api.RollDone)
	found("secure")

	// A node fails. If an operator forces each stage, the other nodes become unsigned without it.
	dead, alive := s.Nodes[2], s.Nodes[:2]
	testbed.Kill(t, dead)
	turn(alive[0], alive[0].Client.UnsignZone, api.RollToUnsigned)
	for _, stage := range []api.RollStage{api.RollOffered, api.RollUnsigned} {
		testbed.Until(t, rollBound, "the others to wait for it at "+string(stage), func(ctx context.Context) error {
			for _, n := range alive {
				r, err := rollOf(ctx, n, zone)
				if err == nil && r.Way == api.RollToUnsigned && r.Stage == api.RollDone {
					continue // told at this stage already, since the one before was short for it
				}
				if err != nil || r.Way != api.RollToUnsigned || r.Stage != stage || r.WaitsFor == nil ||
					!strings.Contains(*r.WaitsFor, dead.API.String()) {
					return fmt.Errorf("%s: %+v, %w", n.Name, r, err)
				}
			}
			return nil
		})
		for _, n := range alive {
			if r, err := rollOf(t.Context(), n, zone); err == nil && r.Stage != stage {
				continue
			}
			f, err := n.Client.ForceRoll(t.Context(), zone, false)
			if err != nil || len(f.Without) != 1 || !strings.Contains(f.Without[0].Peer, dead.API.String()) {
				t.Fatalf("%s, forced: %+v, %v", n.Name, f, err)
			}
		}
	}
	if err := os.RemoveAll(filepath.Join(dead.File.DataDir, "dnssec")); err != nil { // so that it asks first
		t.Fatal(err)
	}
	s.StartNodes(t, dead)
	at(api.RollToUnsigned, api.RollDone)
	found("insecure")
	stop()
	all.Wait()
	t.Logf("%d rounds", judges.asked)
	for _, n := range s.Nodes {
		keys, err := n.Client.DNSSECKeys(t.Context())
		if err != nil || len(keys.Keys) != 1 || keys.Keys[0].State != api.KeyRetired {
			t.Errorf("%s has the keys %+v, %v", n.Name, keys.Keys, err)
		}
	}
}
