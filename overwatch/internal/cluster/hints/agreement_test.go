package hints_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gslb.internal/overwatch/internal/cluster/hints"
	"gslb.internal/overwatch/internal/cluster/replication"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/check"
)

var agreeTwo = status.Agreement{Nodes: 2, Within: 5 * time.Second}

// Real registries and exchanges in all partitions of 3 and 5 nodes, up to the names of the nodes: each graph of working
// links, with a backend for each subset of nodes that do not reach it. Before agree_within, a node removes a backend
// only if it reaches another such node: an isolated node removes nothing. Package status tests the rule in each graph.
func TestAgreement_NoPartitionLetsAnIsolatedNodeRemoveABackend(t *testing.T) {
	for _, nodes := range []int{3, 5} {
		for i, works := range graphs(nodes) {
			if testing.Short() && i%8 > 0 { // with the race detector; a run without it has all graphs
				continue
			}
			synctest.Test(t, func(t *testing.T) { partition(t, nodes, works) })
		}
	}
}

func partition(t *testing.T, nodes int, works [][]bool) {
	agree, w := status.Agreement{Nodes: 2, Within: time.Second}, newNetwork()
	w.cut = func(from, to string) bool {
		a, _ := strconv.Atoi(from)
		b, _ := strconv.Atoi(to)
		return !works[a][b]
	}
	ids := backends(1 << nodes)
	isBlind := func(node, backend int) bool { return backend>>node&1 == 1 }
	voters := startVoters(t, w, nodes, ids, agree)
	time.Sleep(time.Second)
	for n, v := range voters {
		for b, id := range ids {
			if isBlind(n, b) {
				v.result(id, check.Failure, check.StateUnhealthy)
			}
		}
	}
	time.Sleep(agree.Within - 200*time.Millisecond)
	lost := 0
	for n, v := range voters {
		for b, id := range ids {
			isConfirmed := false
			for other := range nodes {
				isConfirmed = isConfirmed || other != n && works[n][other] && isBlind(other, b)
			}
			if want := !isBlind(n, b) || !isConfirmed; v.serves(id) != want {
				t.Errorf("links %v, node %d, blind nodes %b: serves %t", works, n, b, !want)
			}
			if b == 1<<n && !v.serves(id) {
				lost++ // only this node does not reach the backend
			}
		}
	}
	if lost > 0 {
		t.Errorf("links %v: %d healthy backends are lost to an isolated node", works, lost)
	}
	time.Sleep(time.Second)
	for n, v := range voters {
		for b, id := range ids {
			if v.serves(id) == isBlind(n, b) {
				t.Errorf("links %v, node %d, blind nodes %b, after agree_within: serves %t", works, n, b, v.serves(id))
			}
		}
	}
}

// graphs returns the graphs of a number of nodes up to the names of the nodes, each as a matrix.
func graphs(nodes int) (list [][][]bool) {
	seen := map[string]bool{}
	order := make([]int, nodes)
	for i := range order {
		order[i] = i
	}
	for set := range 1 << (nodes * (nodes - 1) / 2) {
		works, bit := make([][]bool, nodes), 0
		for a := range works {
			works[a] = make([]bool, nodes)
			for b := range a {
				works[a][b] = set>>bit&1 == 1
				works[b][a] = works[a][b]
				bit++
			}
		}
		least := ""
		permute(order, 0, func(p []int) {
			var form strings.Builder
			for a := range works {
				for b := range a {
					form.WriteString(map[bool]string{true: "1", false: "0"}[works[p[a]][p[b]]])
				}
			}
			if s := form.String(); least == "" || s < least {
				least = s
			}
		})
		if !seen[least] {
			seen[least] = true
			list = append(list, works)
		}
	}
	return list
}

// permute calls visit with each permutation of list.
func permute(list []int, from int, visit func([]int)) {
	if from == len(list) {
		visit(list)
		return
	}
	for i := from; i < len(list); i++ {
		list[from], list[i] = list[i], list[from]
		permute(list, from+1, visit)
		list[from], list[i] = list[i], list[from]
	}
}

// detection returns the time from the death of a backend to its removal, for each node. Each check of the dead backend
// takes a duration.
func detection(t *testing.T, agree status.Agreement, latency, takes time.Duration) (times []time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork()
		w.latency = latency
		id := backends(1)[0]
		voters := startVoters(t, w, 3, []registry.ID{id}, agree)
		died := time.Now().Add(time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		var checking sync.WaitGroup
		for i, v := range voters { // the checks of the nodes are 10 s apart
			checking.Go(func() { v.checkUntil(ctx, id, time.Duration(i+1)*10*time.Second, died, takes) })
		}
		time.Sleep(time.Until(died))
		times = make([]time.Duration, len(voters))
		for slices.Contains(times, 0) && time.Since(died) < 2*time.Minute {
			for i, v := range voters {
				if times[i] == 0 && !v.serves(id) {
					times[i] = time.Since(died)
				}
			}
			time.Sleep(time.Millisecond)
		}
		cancel()
		checking.Wait()
	})
	return times
}

// Agreement adds little to the detection of a real failure: the hint of the first failed check makes the other nodes
// check too, so that they know the failure when the threshold decides. docs/configuration.md has these figures.
func TestAgreement_AddsLittleToTheDetectionOfRealFailures(t *testing.T) {
	for _, tc := range []struct {
		name           string
		latency, takes time.Duration
		most           time.Duration
	}{
		{"refused, 1 ms", time.Millisecond, time.Millisecond, 100 * time.Millisecond},
		{"refused, 150 ms", 150 * time.Millisecond, time.Millisecond, 500 * time.Millisecond},
		{"timeout 5 s, 1 ms", time.Millisecond, 5 * time.Second, 200 * time.Millisecond},
		{"timeout 5 s, 150 ms", 150 * time.Millisecond, 5 * time.Second, 600 * time.Millisecond},
	} {
		alone := detection(t, status.Agreement{}, tc.latency, tc.takes)
		agreed := detection(t, agreeTwo, tc.latency, tc.takes)
		for i := range alone {
			added := agreed[i] - alone[i]
			t.Logf("%s between nodes, node %d: %s alone, %s with agreement, added %s", tc.name, i, alone[i], agreed[i], added)
			if agreed[i] == 0 || added > tc.most {
				t.Errorf("%s, node %d: agreement adds %s, at most %s", tc.name, i, added, tc.most)
			}
		}
	}
}

// The registry calls RequestVotes before it publishes the dispute. A loaded registry publishes it later; the exchange
// then still requests votes, until the dispute has a decision.
func TestRequestVotes_WaitsForALatePublicationOfTheDispute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, id := newNetwork(), backends(1)[0]
		var mu sync.Mutex
		var dispute *status.Dispute // published
		votes := 0
		settings := hints.Settings{Secret: []byte(secret), Agreement: agreeTwo, Checks: true}
		asker := startWith(t, hints.Options{NodeID: "a", Settings: settings, Transport: w,
			Registerer: prometheus.NewRegistry(),
			Peers:      func() []replication.Reachable { return []replication.Reachable{{Node: "b", URL: "http://b"}} },
			Backend: func(id registry.ID) *registry.Backend {
				mu.Lock()
				defer mu.Unlock()
				return &registry.Backend{ID: id, Dispute: dispute}
			},
			Check: func(registry.ID) {},
			Votes: func(_ context.Context, list []registry.NodeVote) error {
				mu.Lock()
				defer mu.Unlock()
				votes += len(list)
				return nil
			}})
		start(t, w, "b", secret)
		publish := func(d *status.Dispute) {
			mu.Lock()
			defer mu.Unlock()
			dispute, votes = d, 0
		}
		received := func(during time.Duration) int {
			time.Sleep(during)
			mu.Lock()
			defer mu.Unlock()
			return votes
		}
		asker.RequestVotes(id)
		time.Sleep(time.Second + 50*time.Millisecond)
		open := &status.Dispute{Since: time.Now()}
		publish(open)
		if got := received(time.Second); got != 10 {
			t.Errorf("%d votes in a second after a late publication", got)
		}
		publish(open.Decide(agreeTwo, time.Now().Add(agreeTwo.Within)))
		if got := received(time.Second); got != 0 {
			t.Errorf("%d votes after the decision", got)
		}
		publish(nil)
		asker.RequestVotes(id) // the check succeeds before the dispute is published
		if got := received(agreeTwo.Within + time.Second); got != 50 {
			t.Errorf("%d votes about a dispute that is never published", got)
		}
	})
}

// After a delay, Trouble reports that agreement is not possible. The report ends when enough nodes answer and run their
// own checks.
func TestTrouble_ReportsThatAgreementIsNotPossible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork()
		var mu sync.Mutex
		isCut := true
		w.cut = func(string, string) bool {
			mu.Lock()
			defer mu.Unlock()
			return isCut
		}
		v := startVoters(t, w, 2, backends(1), agreeTwo)[0]
		time.Sleep(20 * time.Second)
		if got := v.exchange.Trouble(); got != "" {
			t.Errorf("at the start: %s", got)
		}
		time.Sleep(20 * time.Second)
		if got := v.exchange.Trouble(); !strings.Contains(got, "0 of 1 other nodes") || !strings.Contains(got, "5s after") {
			t.Errorf("without a peer: %q", got)
		}
		mu.Lock()
		isCut = false
		mu.Unlock()
		time.Sleep(15 * time.Second)
		if got := v.exchange.Trouble(); got != "" {
			t.Errorf("with a peer: %s", got)
		}
		settings := hints.Settings{Agreement: status.Agreement{Nodes: 2, Within: time.Second}, Checks: true}
		v.exchange.Reconfigure(settings)
		time.Sleep(time.Minute)
		if got := v.exchange.Trouble(); !strings.Contains(got, "requires overwatch.dnssec.key_sync.secret") {
			t.Errorf("without a secret: %q", got)
		}
		settings.Agreement = status.Agreement{}
		v.exchange.Reconfigure(settings)
		if got := v.exchange.Trouble(); got != "" {
			t.Errorf("without agreement: %s", got)
		}
	})
}
