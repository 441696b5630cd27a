package soak_test

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
)

// Random faults by a seed affect two nodes, four agents and four backends, and the test checks the invariants for every
// answer of a client. The flag -soak sets the duration (default 30s), with a new seed for each run. The flag -seed sets
// the seed.
//
// Fault 38.
func TestSoak_InvariantsHoldUnderRandomFaults(t *testing.T) {
	t.Parallel()
	length, random := soakOf(t, 30*time.Second)
	k := &soak{Site: testbed.StartSite(t, 2, 4), random: random}
	k.run(t, length)
}

var (
	soakLength = flag.Duration("soak", 0, "duration of a soak; 0: 30 s on one machine, and no soak between sites")
	soakSeed   = flag.Uint64("seed", 0, "seed of the faults; 0: 1, or a random seed with -soak")
)

// soakOf returns the duration of a soak test, from the argument or the flag -soak, and the random source of its faults.
func soakOf(t *testing.T, length time.Duration) (time.Duration, *rand.Rand) {
	t.Helper()
	seed := uint64(1)
	if *soakLength > 0 {
		length, seed = *soakLength, rand.Uint64()
	}
	seed = cmp.Or(*soakSeed, seed)
	t.Logf("to repeat this run: go test -run '^%s$' ./soak -seed=%d -soak=%s", t.Name(), seed, length)
	return length, rand.New(rand.NewPCG(seed, 0))
}

// run makes faults for the duration on a started site, and checks the answers.
func (k *soak) run(t *testing.T, length time.Duration) {
	t.Helper()
	k.up, k.judged = map[*harness.Node]time.Time{}, map[*harness.Node]time.Time{}
	k.lives = make([]life, len(k.Backends))
	for _, n := range k.Nodes {
		k.up[n], k.judged[n] = time.Time{}, k.Began // started long ago
		k.keys = append(k.keys, signed.KeysOf(t, n, testbed.ZoneName))
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
			testbed.Pause(t.Context(), time.Duration(k.random.IntN(1000))*time.Millisecond) // a fault at any moment
			k.judge(t)
		}
		k.heal(t)
		k.settle(t)
		k.judge(t)
	}
	k.weigh(t, size)
	for _, n := range k.Nodes {
		k.auditIsWhole(t, n)
		if k.ways == nil && length > time.Minute { // what flaps is told after a minute, and only long soaks wait for that
			testbed.Agree(t, n)
		}
	}
	t.Logf("%d faults, %d answers judged, %d signatures verified; %s", k.faults, k.answers, k.verified,
		strings.Join(k.done, " "))
}

// soakBackBound is the time limit for a node to answer after its start. On an idle machine, the limit is
// testbed.DNSBackBound, which row 10 tests. A soak test is long, and its machine may be busy.
const soakBackBound = 5 * time.Second

// soak is a site under random faults.
type soak struct {
	*testbed.Site
	random *rand.Rand
	lives  []life                      // of backends
	up     map[*harness.Node]time.Time // when it was started; absent while it does not run
	judged map[*harness.Node]time.Time // up to when its answers are judged
	keys   [][]*dns.DNSKEY             // by node
	ways   *soakWays                   // nil: all are on one machine
	// weights contains the initial memory size of each program.
	weights map[string]size

	faults, answers, verified int
	done                      []string
}

// life is the state of a backend and its agent after the faults so far.
type life struct {
	dead    bool
	since   time.Time // of that
	frozen  bool      // its agent
	ordered bool      // an operator's order keeps it out
}

// soakPatience is the tolerance for a busy machine. Other tests check the limits that are promised in seconds.
const soakPatience = 10 * time.Second

// serves returns the time from which a node must answer every query, for a start time.
func serves(started time.Time) time.Time {
	if started.IsZero() {
		return started
	}
	return started.Add(soakBackBound + soakPatience)
}

// bound returns the maximum time until a dead backend has left every answer, for any state of its agent.
func (k *soak) bound() time.Duration {
	if k.ways != nil { // a node that misses several regions at once believes what it last heard until that is stale
		return k.Timing.StaleThreshold + k.Timing.OwnDetection() + time.Second
	}
	return k.Timing.OwnDetection() + time.Second
}

// spared reports whether a backend may be taken away.
func (k *soak) spared(backend int) bool { return k.ways == nil || k.ways.spared(k, backend) }

// watchOf returns the client that asks a node.
func (k *soak) watchOf(n *harness.Node) *harness.Watch {
	if k.ways != nil {
		return k.ways.clients[n]
	}
	return k.Watch
}

// size is the memory of a process, in MiB, and the number of its open files.
type size struct{ memory, files int }

// weigh measures every process and compares the result with the initial size (I8).
func (k *soak) weigh(t *testing.T, before map[string]size) {
	k.weights = map[string]size{}
	measure := func(name string, pid int) {
		now := size{testbed.ResidentMiB(t, pid), testbed.OpenFiles(t, pid)}
		k.weights[name] = now
		k.done = append(k.done, fmt.Sprintf("%s %d MiB %d files;", name, now.memory, now.files))
		if was, known := before[name]; known && (now.memory > was.memory+64 || now.files > was.files+64) {
			t.Errorf("I8: %s had %+v and has %+v", name, was, now)
		}
	}
	for _, n := range k.Nodes {
		measure(n.Name, n.PID())
	}
	for _, a := range k.Agents {
		measure(a.Name, a.PID())
	}
}
