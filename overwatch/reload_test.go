package overwatch // inside: it uses answer and node

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// The agent of a backend is lost for two minutes. The backend remains because of the removal time in the previous file
// and because of a declaration in the next file, or the reverse. The reload must remove neither the backend nor the
// time when it was last healthy.
func TestReload_NothingIsForgottenBetweenTwoFilesThatKeepIt(t *testing.T) {
	declares := serverFacts{address: "10.0.0.1", port: 80, weight: 1, service: "a.gslb.test"}
	never := serverFacts{address: "10.0.0.3", port: 80, weight: 1, service: "a.gslb.test"}
	file := func(remove, interval time.Duration, servers ...serverFacts) fileFacts {
		return fileFacts{
			ttl: 20, stale: 20 * time.Second, remove: remove, interval: interval,
			regions: []regionFacts{{name: "eu", servers: append(servers, never)}},
			domains: []domainFacts{{name: "a.gslb.test", algorithm: "weighted", onAllDown: "last_healthy", threshold: 1,
				maxAnswers: 1, smoothing: 0.3, slowest: time.Second, samples: 3}},
		}
	}
	const often, seldom = 10 * time.Second, 30 * time.Second
	for name, files := range map[string][2]fileFacts{
		"declared, and sooner removed":                 {file(5*time.Minute, often), file(time.Minute, often, declares)},
		"declared no more, but kept longer":            {file(time.Minute, often, declares), file(5*time.Minute, often)},
		"declared, and its verdict counts less long":   {file(time.Minute, seldom), file(time.Minute, often, declares)},
		"declared no more, but its verdict counts yet": {file(time.Minute, often, declares), file(time.Minute, seldom)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newChronicle(t, 1)
				defer func() {
					h.node.close()
					synctest.Wait()
				}()
				h.reloadTo(h.model.file, files[0])
				h.model.settle()
				who, s := h.agents[0], said{id: backendID("a.gslb.test", "10.0.0.1", 80), word: "healthy", weight: 1}
				_, err := h.node.registry.ApplyHeartbeat(t.Context(), who.agent,
					&wire.Heartbeat{Version: "test", IntervalMillis: 10_000, MissedThreshold: 3, Backends: []wire.Backend{s.wire()}})
				h.must(err)
				h.model.heartbeat(who, []said{s}, h.drainTime)
				h.model.settle()
				for _, wait := range []time.Duration{50 * time.Second, 70 * time.Second} {
					time.Sleep(wait)
					h.model.advance(wait)
					if wait == 50*time.Second {
						h.measure(check.Success, []registry.ID{s.id})
					}
				}
				h.settled()
				h.compare("two minutes", true, map[string]int{})
				h.reloadTo(files[0], files[1])
				h.model.settle()
				h.settled()
				h.compare("the reload", true, map[string]int{})
				want := h.model.answer("a.gslb.test", h.model.candidates("a.gslb.test"), false,
					h.model.client(0, "a.gslb.test"))
				if answers, wrong := ask(h.node.publisher.View(), "a.gslb.test", false, 0, want); wrong != "" ||
					answers[0] != "10.0.0.1" {
					t.Errorf("%v %s, want the backend that was healthy last", answers, wrong)
				}
			})
		})
	}
}

// After a change of tokens, the node removes agents without the new tokens, with all of their reports. After a change
// of peers, it requests keys from the new peers.
func TestReload_OtherTokensAndPeersCountAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newChronicle(t, 2) // a history with signing
		defer func() {
			h.node.close()
			synctest.Wait()
		}()
		who, s := h.agents[0], said{id: backendID("a.gslb.test", "10.0.0.1", 80), word: "healthy", weight: 1}
		_, err := h.node.registry.ApplyHeartbeat(t.Context(), who.agent,
			&wire.Heartbeat{Version: "test", IntervalMillis: 10_000, MissedThreshold: 3, Backends: []wire.Backend{s.wire()}})
		h.must(err)
		h.settled()
		if _, heard := h.node.registry.View().Agent(who.name); !heard {
			t.Fatal("the agent's heartbeat was not heard")
		}
		text, err := os.ReadFile(h.node.configPath)
		h.must(err)
		changed := strings.NewReplacer(
			historyToken, "another token of thirty-two characters",
			"dnssec: {enabled: true,", `dnssec: {enabled: true, key_sync: {peers: ["http://192.0.2.1:8080"]},`,
			"api: {enabled: false}", `api: {enabled: true, address: "192.0.2.2:8080"}`,
		).Replace(string(text))
		h.must(os.WriteFile(h.node.configPath, []byte(changed), 0o600))
		_, _, err = h.node.control.Reload(t.Context())
		h.must(err)
		if state, heard := h.node.registry.View().Agent(who.name); heard {
			t.Errorf("the agent is still known: %+v", state)
		}
		if sync := h.node.keySync.Status(); sync.PeerCount != 1 || sync.Peers[0].Peer != "http://192.0.2.1:8080" {
			t.Errorf("key synchronisation goes by other peers: %+v", sync)
		}
	})
}

// fading is a context that ends at a given call of Done.
type fading struct {
	context.Context
	end  func()
	left atomic.Int32
}

func (f *fading) Done() <-chan struct{} {
	if f.left.Add(-1) == 0 {
		f.end()
	}
	return f.Context.Done()
}

// The context of a reload may end at any time. The current configuration is then entirely the previous or the next
// file.
func TestReload_IsWholeOrNotAtAllWhereverItsContextEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "overwatch.yaml")
	write := func(more bool) {
		if more {
			namesWithServers(t, path, false, "81", "a.gslb.test", "b.gslb.test")
		} else {
			namesWithServers(t, path, false, "80", "a.gslb.test", "c.gslb.test")
		}
	}
	write(false)
	n, _ := running(t, path)
	more, completed := false, 0
	for last := int32(1); completed < 2; last++ {
		if last > 1000 {
			t.Fatal("no reload comes to its end")
		}
		write(!more)
		ctx, cancel := context.WithCancel(t.Context())
		f := &fading{Context: ctx, end: cancel}
		f.left.Store(last)
		_, _, err := n.control.Reload(f)
		cancel()
		var want, got []string
		for s := range n.state.Config().StaticServers() {
			want = append(want, registry.ID{Service: s.Service, Address: s.Address, Port: s.Port}.String())
		}
		for b := range n.registry.View().Backends() {
			got = append(got, b.ID.String())
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("after %d looks, error %v: the servers are %v, those of the file in force %v", last, err, got, want)
		}
		for _, name := range []string{"a.gslb.test", "b.gslb.test", "c.gslb.test"} {
			kind := n.publisher.View().Resolve(name+".", dns.TypeA, false, netip.Addr{}, zone.NewRotations(1, 1)).Kind
			if answered := kind == zone.Positive; answered != slices.Contains(n.state.Domains(), name) {
				t.Errorf("after %d looks, error %v: %s is answered %v, the names in force are %v", last, err, name, kind,
					n.state.Domains())
			}
		}
		if now := slices.Contains(n.state.Domains(), "b.gslb.test"); (now != more) != (err == nil) {
			t.Errorf("after %d looks, error %v: whether the file is in force is not what the reload said", last, err)
		}
		if more = slices.Contains(n.state.Domains(), "b.gslb.test"); err == nil {
			completed++
		}
	}
}
