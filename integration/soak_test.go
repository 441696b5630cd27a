package integration_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/shared/api"
)

// Row 38 of the fault matrix: random faults from a seed against two nodes, four agents and four backends, with the invariants held
// against every answer that a client gets meanwhile. GSLB_SOAK is how long (30s), with a seed of its own each time; GSLB_SOAK_SEED says which.
func TestSoak_InvariantsHoldUnderRandomFaults(t *testing.T) {
	t.Parallel()
	length, random := soakOf(t, 30*time.Second)
	k := &soak{site: startSite(t, 2, 4), random: random}
	k.run(t, length)
}

// soakOf is how long a soak lasts, unless GSLB_SOAK says otherwise, and what it draws its faults from.
func soakOf(t *testing.T, length time.Duration) (time.Duration, *rand.Rand) {
	t.Helper()
	seed := uint64(1)
	if text := os.Getenv("GSLB_SOAK"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatalf("GSLB_SOAK: %v", err)
		}
		seed = rand.Uint64()
	}
	if text := os.Getenv("GSLB_SOAK_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("GSLB_SOAK_SEED: %v", err)
		}
	}
	t.Logf("to repeat this run: GSLB_SOAK_SEED=%d GSLB_SOAK=%s go test -run '^%s$' .", seed, length, t.Name())
	return length, rand.New(rand.NewPCG(seed, 0))
}

// run makes faults for so long on a site that was started, and judges.
func (k *soak) run(t *testing.T, length time.Duration) {
	t.Helper()
	k.up, k.judged = map[*harness.Node]time.Time{}, map[*harness.Node]time.Time{}
	k.lives = make([]life, len(k.backends))
	for _, n := range k.nodes {
		k.up[n], k.judged[n] = time.Time{}, k.began // started long ago
		k.keys = append(k.keys, keysOf(t, n))
	}
	k.settle(t)
	k.weigh(t, nil)
	size := k.weights
	for end := time.Now().Add(length); time.Now().Before(end) && !t.Failed(); {
		faults := 5 + k.random.IntN(10)
		if k.ways != nil {
			faults *= 5 // what is promised takes longer there, and is judged after a change of the ways only
		}
		for range faults {
			k.fault(t)
			time.Sleep(time.Duration(k.random.IntN(1000)) * time.Millisecond)
			k.judge(t)
		}
		k.heal(t)
		k.settle(t)
		k.judge(t)
	}
	k.weigh(t, size)
	for _, n := range k.nodes {
		k.auditIsWhole(t, n)
	}
	t.Logf("%d faults, %d answers judged, %d signatures verified; %s", k.faults, k.answers, k.verified, strings.Join(k.done, " "))
}

// soakBackBound is when a node that was started is to answer. On a machine at rest it does within dnsBackBound, which row 10 holds; a
// soak is long, and its machine may be busy.
const soakBackBound = 5 * time.Second

// soak is a site under random faults.
type soak struct {
	*site
	random *rand.Rand
	lives  []life                      // of backends
	up     map[*harness.Node]time.Time // when it was started; absent while it does not run
	judged map[*harness.Node]time.Time // up to when its answers are judged
	keys   [][]*dns.DNSKEY             // by node
	ways   *soakWays                   // nil: all are on one machine
	// weights is the size of each program at the beginning.
	weights map[string]size

	faults, answers, verified int
	done                      []string
}

// life is what a backend is and was.
type life struct {
	dead    bool
	since   time.Time // of that
	frozen  bool      // its agent
	ordered bool      // an operator's order keeps it out
}

// soakStart is the time after a start in which it counts by how much the machine is late. By later on, on a machine that is busy all the
// time, nothing would be judged at all.
const soakStart = time.Minute

// serves is from when a node that was started at a time must have answered every query that came up to another.
func serves(started, at time.Time) time.Time {
	if started.IsZero() {
		return started
	}
	if end := started.Add(soakStart); at.After(end) {
		at = end
	}
	return started.Add(clock.Allowed(soakBackBound, started, at))
}

// bound is when a backend that has died is out of every answer, whatever else happens to its agent.
func (k *soak) bound() time.Duration {
	if k.ways != nil { // a node that misses several regions at once believes what it last heard until that is stale
		return k.Timing.StaleThreshold + k.Timing.OwnDetection() + time.Second
	}
	return k.Timing.OwnDetection() + time.Second
}

// spared says whether a backend may be taken away.
func (k *soak) spared(backend int) bool { return k.ways == nil || k.ways.spared(k, backend) }

// watchOf is who asks a node.
func (k *soak) watchOf(n *harness.Node) *harness.Watch {
	if k.ways != nil {
		return k.ways.clients[n]
	}
	return k.watch
}

// auditIsWhole has gslbctl verify a node's audit log, on its own machine.
func (k *soak) auditIsWhole(t *testing.T, n *harness.Node) {
	t.Helper()
	c := exec.CommandContext(t.Context(), binaries(t).Control, "--api", n.API.String(), "audit", "verify")
	var out []byte
	err := onMachineOf(n, func() (err error) { out, err = c.CombinedOutput(); return err })
	if err != nil {
		t.Errorf("the audit log of %s: %v: %s", n.Name, err, out)
	}
}

// onMachineOf calls f where a node runs.
func onMachineOf(n *harness.Node, f func() error) error {
	if n.Inside == nil {
		return f()
	}
	return n.Inside(f)
}

// disturbed is how many backends may be missing from the answers. Two of four are left alone.
func (k *soak) disturbed() (count int) {
	for _, l := range k.lives {
		if l.dead || l.ordered {
			count++
		}
	}
	return count
}

// fault makes one thing go wrong, or right again.
func (k *soak) fault(t *testing.T) {
	i := k.random.IntN(len(k.backends))
	n := k.nodes[k.random.IntN(len(k.nodes))]
	b, a, l := k.backends[i], k.agents[i], &k.lives[i]
	k.faults++
	what := ""
	kinds := 8
	if k.ways != nil {
		kinds += 4
	}
	switch k.random.IntN(kinds) {
	case 0, 1: // a backend dies or returns
		switch {
		case l.dead:
			start(t, b)
			*l = life{since: time.Now(), frozen: l.frozen, ordered: l.ordered}
			what = b.Name + " returns"
		case (k.disturbed() < 2 || l.ordered) && k.spared(i):
			killed, err := b.Kill()
			if err != nil {
				t.Fatal(err)
			}
			l.dead, l.since = true, killed
			what = b.Name + " dies"
		}
	case 2: // an agent dies or returns
		if a.Running() {
			if _, err := a.Kill(); err != nil {
				t.Fatal(err)
			}
			l.frozen = false
			what = a.Name + " dies"
		} else {
			start(t, a)
			what = a.Name + " returns"
		}
	case 3: // an agent hangs or goes on
		if a.Running() {
			signal := syscall.SIGSTOP
			if l.frozen {
				signal = syscall.SIGCONT
			}
			if err := a.Signal(signal); err != nil {
				t.Fatal(err)
			}
			l.frozen = !l.frozen
			what = fmt.Sprintf("%s %s", a.Name, map[bool]string{true: "hangs", false: "goes on"}[l.frozen])
		}
	case 4: // a node dies and is started again
		k.judge(t)
		if _, err := n.Kill(); err != nil {
			t.Fatal(err)
		}
		delete(k.up, n)
		start(t, n)
		k.up[n] = time.Now()
		what = n.Name + " is killed and restarted"
	case 5:
		speaks(t, n.Unit, k.up[n])
		if err := n.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		what = n.Name + " reloads"
	case 6: // an operator's order, on both nodes
		healthy := l.ordered
		if l.ordered || k.disturbed() < 2 && !l.dead && k.spared(i) {
			for _, n := range k.nodes {
				k.order(t, n, b, healthy)
			}
			l.ordered = !l.ordered
			what = fmt.Sprintf("%s ordered %s", b.Name, map[bool]string{true: "out", false: "back"}[l.ordered])
		}
	case 7: // a domain comes and goes
		name := fmt.Sprintf("new-%d.test.gslb.test", k.random.IntN(3))
		if _, err := n.Client.CreateDomain(t.Context(), api.DomainChange{Name: name, Regions: &[]string{"eu"}}); err != nil {
			_ = n.Client.DeleteDomain(t.Context(), name) // it was there, or the node is just starting
		}
		what = name + " comes or goes"
	default:
		k.judge(t)
		what = k.ways.fault(t, k)
	}
	if what != "" {
		k.Story.Event("%s", what)
	}
}

// order puts a backend out of the answers or lifts that. A node that is just starting is asked until it answers.
func (k *soak) order(t *testing.T, n *harness.Node, b *harness.Backend, lift bool) {
	t.Helper()
	k.ready(t, n)
	no := false
	address := b.At.String()
	until(t, startBound, fmt.Sprintf("%s to take the order about %s", n.Name, address), func(ctx context.Context) error {
		if !lift {
			_, err := n.Client.SetOverride(ctx, appName, address, api.OverrideRequest{Healthy: &no, Reason: "the soak test"})
			return err
		}
		err := n.Client.ClearOverride(ctx, appName, address)
		if refused, is := errors.AsType[*api.Error](err); is && refused.Status == http.StatusNotFound {
			return nil // it was taken when it was asked before, and the answer came too late
		}
		return err
	})
}

// heal makes everything well.
func (k *soak) heal(t *testing.T) {
	if k.ways != nil {
		k.ways.heal(t)
	}
	for i, b := range k.backends {
		l := &k.lives[i]
		if l.frozen {
			if err := k.agents[i].Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
		}
		if l.ordered {
			for _, n := range k.nodes {
				k.order(t, n, b, true)
			}
		}
		if l.dead {
			start(t, b)
			l.since = time.Now()
		}
		*l = life{since: l.since}
		if !k.agents[i].Running() {
			start(t, k.agents[i])
		}
	}
	k.Story.Event("everything is made well")
}

// settle waits until every node has everything well, and verifies signatures.
func (k *soak) settle(t *testing.T) {
	for _, n := range k.nodes {
		k.ready(t, n)
		for _, b := range k.backends {
			k.status(t, n, b, heardAgainBound, wantSound)
		}
	}
	k.verify(t)
}

// judge holds the invariants against what clients were answered since the last time.
func (k *soak) judge(t *testing.T) {
	for _, n := range k.nodes {
		up, running := k.up[n]
		if !running {
			continue
		}
		answers := k.watchOf(n).Since(n, appName, k.judged[n])
		last := k.judged[n]
		for _, a := range answers {
			last = a.At.Add(1)
			if a.At.Add(-a.Took).Before(serves(up, a.At)) {
				continue // it was starting when it was asked
			}
			if k.excused(a) {
				continue
			}
			k.answers++
			if !a.Good() { // two backends are always well
				t.Errorf("I1: %s failed a lookup at %s: %+v", n.Name, a.At.Format("15:04:05.000"), a)
				continue
			}
			for _, addr := range a.Addrs {
				k.judgeAddress(t, n, a, addr)
			}
		}
		k.judged[n] = last
	}
	k.verify(t)
}

// judgeAddress holds I2 and I3 against one address of one answer.
func (k *soak) judgeAddress(t *testing.T, n *harness.Node, a harness.Answer, addr netip.Addr) {
	for i, b := range k.backends {
		if b.At.Addr() != addr {
			continue
		}
		l := k.lives[i]
		from := l.since
		if up := serves(k.up[n], a.At); up.After(from) {
			from = up // it has to find out again
		}
		if k.ways != nil && k.ways.changed.After(from) {
			from = k.ways.changed // so has one that has lost its way, or has it again
		}
		if l.dead && a.At.Sub(from) > clock.Allowed(k.bound(), from, a.At) {
			t.Errorf("I3: %s answered %s at %s, %s after its death, allowed are %s", n.Name, b.Name, a.At.Format("15:04:05.000"), a.At.Sub(l.since), k.bound())
		}
		return
	}
	t.Errorf("I2: %s answered %s, which no backend has", n.Name, addr)
}

// verify asks every node that runs once for a name that exists and one that does not, and verifies all signatures (I4).
func (k *soak) verify(t *testing.T) {
	for i, n := range k.nodes {
		if now := time.Now(); now.Before(serves(k.up[n], now)) {
			continue
		}
		for _, name := range []string{appName, fmt.Sprintf("nx-%d.test.gslb.test", k.random.IntN(1000))} {
			q := new(dns.Msg).SetQuestion(dns.Fqdn(name), dns.TypeA)
			q.SetEdns0(1232, true)
			r, err := verified(q, n)
			if err != nil {
				t.Errorf("I1: %s over TCP: %v", n.Name, err)
				continue
			}
			count, err := signed(r, k.keys[i], time.Now())
			if err != nil {
				t.Errorf("%s: %v", n.Name, err)
			}
			k.verified += count
		}
	}
}

// verified asks over TCP, again for as long as a machine that is busy may take for an answer: who answers when is judged over UDP.
func verified(q *dns.Msg, n *harness.Node) (r *dns.Msg, err error) {
	const bound = 2 * time.Second
	for began := time.Now(); ; {
		r, err = exchangeAt(q, n, bound)
		if now := time.Now(); err == nil || now.Sub(began) >= min(clock.Allowed(bound, began, now), 10*bound) {
			return r, err
		}
		time.Sleep(pace)
	}
}

// exchangeAt asks a node over TCP, on its own machine.
func exchangeAt(q *dns.Msg, n *harness.Node, bound time.Duration) (*dns.Msg, error) {
	var conn net.Conn
	if err := onMachineOf(n, func() (err error) { conn, err = net.DialTimeout("tcp", n.DNS.String(), bound); return err }); err != nil {
		return nil, err
	}
	defer conn.Close()
	r, _, err := (&dns.Client{Net: "tcp", Timeout: bound}).ExchangeWithConn(q, &dns.Conn{Conn: conn})
	return r, err
}

// signed verifies that each RRset of an answer, and there is at least one, has a signature by one of the keys that holds at a time. It says
// how many signatures do.
func signed(r *dns.Msg, keys []*dns.DNSKEY, at time.Time) (verified int, err error) {
	type set struct {
		name string
		kind uint16
	}
	for _, section := range [][]dns.RR{r.Answer, r.Ns} {
		sets, holds := map[set][]dns.RR{}, map[set]bool{}
		for _, rr := range section {
			if h := rr.Header(); h.Rrtype != dns.TypeRRSIG {
				sets[set{dns.CanonicalName(h.Name), h.Rrtype}] = append(sets[set{dns.CanonicalName(h.Name), h.Rrtype}], rr)
			}
		}
		for _, rr := range section {
			sig, ok := rr.(*dns.RRSIG)
			if !ok {
				continue
			}
			of := set{dns.CanonicalName(sig.Header().Name), sig.TypeCovered}
			for _, key := range keys {
				if key.KeyTag() == sig.KeyTag && sig.ValidityPeriod(at) && sig.Verify(key, sets[of]) == nil {
					holds[of] = true
					verified++
				}
			}
		}
		for of := range sets {
			if !holds[of] {
				err = errors.Join(err, fmt.Errorf("I4: no signature over %s %s holds at %s:\n%s", of.name, dns.TypeToString[of.kind], at.Format(time.DateTime), r))
			}
		}
	}
	if len(r.Answer)+len(r.Ns) == 0 {
		return 0, fmt.Errorf("I4: it is empty:\n%s", r)
	}
	return verified, err
}

// keysOf is the keys of the zone as the node shows them.
func keysOf(t *testing.T, n *harness.Node) (keys []*dns.DNSKEY) {
	t.Helper()
	r, err := exchangeAt(new(dns.Msg).SetQuestion("test.gslb.test.", dns.TypeDNSKEY), n, patience)
	if err != nil {
		t.Fatal(err)
	}
	for _, rr := range r.Answer {
		if key, ok := rr.(*dns.DNSKEY); ok {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		t.Fatalf("%s shows no key:\n%s", n.Name, r)
	}
	return keys
}

// size is what a process has.
type size struct{ memory, files int }

// weigh measures every process, and compares with what it had (I8).
func (k *soak) weigh(t *testing.T, before map[string]size) {
	k.weights = map[string]size{}
	measure := func(name string, pid int) {
		now := size{residentMiB(t, pid), openFiles(t, pid)}
		k.weights[name] = now
		k.done = append(k.done, fmt.Sprintf("%s %d MiB %d files;", name, now.memory, now.files))
		if was, known := before[name]; known && (now.memory > was.memory+64 || now.files > was.files+64) {
			t.Errorf("I8: %s had %+v and has %+v", name, was, now)
		}
	}
	for _, n := range k.nodes {
		measure(n.Name, n.PID())
	}
	for _, a := range k.agents {
		measure(a.Name, a.PID())
	}
}
