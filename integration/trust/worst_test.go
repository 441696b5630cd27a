package trust_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"strings"
	"time"

	"gslb.internal/integration/harness/agent"
	"gslb.internal/shared/wire"
)

// worst is an agent that attacks a node in all possible ways, in a random order by a seed.
type worst struct {
	*agent.Agent
	service string
	others  []netip.AddrPort // backends of others
	random  *rand.Rand
	dir     string // for identities that it makes anew
	sent    int
}

// run attacks until ctx ends, about 40 times per second.
func (w *worst) run(ctx context.Context) {
	defer w.Close()
	for ctx.Err() == nil && w.Register() != nil { // the node is busy
	}
	ways := []func(){
		w.patterns, w.flap, w.flap, w.transitions, w.warn, w.drain, w.anew, w.garbage, w.garbage, w.lie, w.reach, w.leave,
		w.weigh,
		w.text, w.connect,
	}
	for ctx.Err() == nil {
		ways[w.random.IntN(len(ways))]()
		w.sent++
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(w.random.IntN(50)) * time.Millisecond):
		}
		if w.sent%100 == 0 {
			_ = w.Register() // the node may have started anew
		}
	}
}

// tell sends a message, and ignores the response of the node.
func (w *worst) tell(kind wire.Type, m interface{ MarshalBinary() ([]byte, error) }) {
	_ = w.Send(kind, m, w.random.IntN(4) == 0)
}

func (w *worst) beat(backends []wire.Backend) {
	w.tell(wire.TypeHeartbeat, &wire.Heartbeat{
		Region: "eu", Version: "worst", IntervalMillis: w.random.Uint32(), MissedThreshold: w.random.Uint32(),
		Backends:      backends,
		UptimeSeconds: w.random.Uint64(), Figures: wire.Figures{CPUPercent: math.MaxUint16, ChecksTotal: math.MaxUint64,
			Cores: math.MaxUint16},
	})
}

// all returns the maximum number of backends of the agent, which no server serves.
func (w *worst) all() []wire.Backend {
	backends := make([]wire.Backend, wire.MaxBackends)
	for i := range backends {
		backends[i] = report(w.service, netip.AddrPortFrom(w.Source, uint16(1+i)))
		backends[i].Claim = wire.Claim(w.random.IntN(3))
	}
	return backends
}

func (w *worst) patterns() {
	backends := w.all()
	for i := range backends {
		backends[i].Check.BodyMatches = bomb(w.random.IntN(1000))
	}
	w.beat(backends)
}

func (w *worst) flap() { w.beat(w.all()) }

func (w *worst) transitions() {
	for _, b := range w.all()[:20] {
		w.tell(wire.TypeTransition, &wire.Transition{Backend: b})
	}
}

func (w *worst) warn() {
	m := &wire.Signal{}
	for _, b := range w.all() {
		m.Backends = append(m.Backends, wire.Warned{Service: b.Service, Address: b.Address, Port: b.Port,
			Warnings: wire.Warnings{
				CPUMillis: math.MaxUint32, MemoryMillis: w.random.Uint32(), ErrorRateMillis: 1,
			}})
	}
	w.tell(wire.TypeSignal, m)
}

func (w *worst) drain() { w.tell(wire.TypeDrain, &wire.Drain{OverMillis: math.MaxUint32}) }

// anew enrols under a new name with a new certificate.
func (w *worst) anew() {
	a, err := agent.New(agent.Options{
		Dir: w.dir, Name: fmt.Sprintf("%s-%d", w.Name, w.sent), Cipher: w.Cipher, Node: w.Node, Source: w.Source,
		Tokens: w.Tokens,
	})
	if err != nil {
		return
	}
	defer a.Close()
	if a.Hello() == nil && a.Ping() == nil {
		_ = a.Enrol(false, 20*time.Millisecond)
	}
}

// garbage sends a payload that no codec produces: repeated fields, lengths beyond the end, random octets, or 48 KiB of
// zeros.
func (w *worst) garbage() {
	payload, _ := (&wire.Heartbeat{Region: "eu", Backends: w.all()[:4]}).MarshalBinary()
	switch w.random.IntN(4) {
	case 0:
		payload = append(payload, payload...)
	case 1:
		for range 10 {
			payload[w.random.IntN(len(payload))] = byte(w.random.Uint32())
		}
	case 2:
		payload = []byte(strings.Repeat("\xff\xff\xff\xff\x7f", 100))
	case 3:
		payload = make([]byte, 48<<10)
	}
	w.tell(wire.Type(w.random.IntN(12)), agent.Raw(payload))
}

// lie reports backends of other agents.
func (w *worst) lie() {
	var backends []wire.Backend
	for _, at := range w.others {
		b := report(w.service, at)
		b.Claim, b.Draining, b.DrainMillis = wire.ClaimUnhealthy, true, 1
		backends = append(backends, b)
		b.Service = goodName
		backends = append(backends, b)
	}
	w.beat(backends[:min(len(backends), wire.MaxBackends)])
}

// reach reports backends at addresses that only the node can reach.
func (w *worst) reach() {
	var backends []wire.Backend
	for i, at := range []string{"169.254.169.254", "127.0.0.1", "::1", "fe80::1", "100.100.100.200", "0.0.0.0",
		"224.0.0.1"} {
		b := report(w.service, netip.AddrPortFrom(netip.MustParseAddr(at), w.Node.Port()))
		b.Check.Headers, b.Check.Path = strings.Repeat("A: b\n", 200), "/"+strings.Repeat("../", i*20)
		backends = append(backends, b)
	}
	w.beat(backends)
}

func (w *worst) leave() {
	w.tell(wire.TypeDeregister, &wire.Deregister{Reason: strings.Repeat("so long ", 100)})
}

func (w *worst) weigh() {
	backends := w.all()
	for i := range backends {
		backends[i].Weight, backends[i].Claim = uint16(w.random.Uint32()), wire.ClaimHealthy
	}
	w.beat(backends)
}

// text has everything as long as it may be.
func (w *worst) text() {
	backends := w.all()[:8]
	for i := range backends {
		c := &backends[i].Check
		c.Path, c.Host, c.ServerName = "/"+strings.Repeat("\u00e9", 255), strings.Repeat("h", 255), strings.Repeat("s", 255)
		c.Type, c.Authorities, c.ExpectedStatus = "https", strings.Repeat("A", 4096), strings.Repeat("2", 128)
		c.BodyContains, c.GRPCService = strings.Repeat("c", 256), strings.Repeat("g", 256)
		c.IntervalMillis, c.TimeoutMillis, c.FailureThreshold = 1, 1, math.MaxUint16
		backends[i].LastError = strings.Repeat("\u202e", 66)
	}
	w.beat(backends)
}

// connect opens connections without sending requests.
func (w *worst) connect() {
	for range 4 {
		_ = w.Hello()
	}
	for range 20 {
		_ = w.Ping()
	}
}
