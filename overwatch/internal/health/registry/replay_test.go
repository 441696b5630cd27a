package registry // inside: it shares model_test.go

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// keptPins is a PinStore that outlives its Trust.
type keptPins map[string]store.Pin

func (k keptPins) LoadPins() (pins []store.Pin, err error) {
	for _, p := range k {
		pins = append(pins, p)
	}
	return pins, nil
}

func (k keptPins) PutPin(p store.Pin, _ ...store.Entry) error       { k[p.AgentID] = p; return nil }
func (k keptPins) ChangePins(store.PinChange, ...store.Entry) error { return nil }
func (k keptPins) LoadLocks() ([]store.TokenLock, error)            { return nil, nil }
func (k keptPins) LoadPin(string) (store.Pin, bool, error)          { return store.Pin{}, false, nil }

func (k keptPins) DeletePin(id string, _ ...store.Entry) error {
	delete(k, id)
	return nil
}

// process returns the Trust of one process of a node, with pins that persist.
func (k keptPins) process(t *testing.T) (*trust.Trust, identity.Nonce) {
	t.Helper()
	boot := identity.NewNonce()
	tr, err := trust.New(trust.Options{Tokens: map[string][]string{"a.example": {token}}, Boot: boot, Pins: k,
		Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	return tr, boot
}

// hear processes a message like gossip: Trust opens it, and the registry receives accepted content. It reports whether
// the message was accepted.
func (w *world) hear(tr *trust.Trust, raw []byte) (believed bool) {
	w.t.Helper()
	m, refusal := tr.Open(raw, netip.MustParseAddr("192.0.2.1"))
	if refusal != nil {
		return false
	}
	switch m.Type {
	case wire.TypeHeartbeat:
		var beat wire.Heartbeat
		w.must(beat.UnmarshalBinary(m.Payload))
		_, err := w.ApplyHeartbeat(w.t.Context(), m.Agent, &beat)
		w.must(err)
	case wire.TypeDeregister:
		w.must(w.ApplyGoodbye(w.t.Context(), m.Agent))
	}
	return true
}

// seen describes all state of the backends that readers receive, including every time.
func (w *world) seen() (all []string) {
	for b := range w.View().Backends() {
		state, _ := w.View().Agent("eu-1")
		all = append(all, fmt.Sprintf("%+v %+v %+v", *b, b.Report(), state))
	}
	slices.Sort(all)
	return all
}

// The messages of an agent for one day are 8640 heartbeats with changes and a leave message. An attacker who sends them
// again changes nothing: neither while the agent runs nor after its end, and neither at a later process of the node nor
// at another node.
func TestReplay_OfADayChangesNothing(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		pins := keptPins{}
		tr, boot := pins.process(t)
		who, epoch, seq := w.authority.identity("eu-1"), uint64(1), uint64(0)
		var recorded [][]byte
		say := func(kind wire.Type, payload []byte, err error) {
			t.Helper()
			w.must(err)
			seq++
			raw := who.Seal(identity.AgentToNode, identity.Envelope{
				Major: wire.Major, Type: uint8(kind), BootNonce: boot, Epoch: epoch, Seq: seq, SentAtMillis: time.Now().UnixMilli(),
				Payload: payload,
			})
			recorded = append(recorded, raw)
			if !w.hear(tr, raw) {
				t.Fatalf("%s %d is refused", kind, seq)
			}
		}
		enrol := func() {
			payload, err := (&wire.Enrol{AgentID: "eu-1", Region: "eu", Version: "1", Certificate: who.DER, Proofs: []wire.Proof{
				{Service: "a.example", MAC: identity.Proof(token, "a.example", who.KeyID, boot, epoch)}}}).MarshalBinary()
			say(wire.TypeEnrol, payload, err)
		}
		beat := func(sick bool) {
			m := &wire.Heartbeat{Region: "eu", Version: "1", IntervalMillis: 10_000, MissedThreshold: 3}
			for i := range 3 {
				b := wire.Backend{Service: "a.example", Address: netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), Port: 80,
					Weight: 100, Claim: wire.ClaimHealthy}
				if i == 0 && sick {
					b.Claim = wire.ClaimUnhealthy
				}
				m.Backends = append(m.Backends, b)
			}
			payload, err := m.MarshalBinary()
			say(wire.TypeHeartbeat, payload, err)
		}
		enrol()
		beats := 8640
		if testing.Short() {
			beats = 1440
		}
		for i := range beats {
			beat(i/360%3 == 1) // one hour in three
			w.pass(10 * time.Second)
		}
		payload, err := (&wire.Deregister{Reason: "agent stopped"}).MarshalBinary()
		say(wire.TypeDeregister, payload, err)
		day := slices.Clone(recorded)
		epoch, seq = 2, 0 // the agent is started again
		enrol()
		beat(false)

		replay := func(when string, tr *trust.Trust) {
			t.Helper()
			w.pass(0)
			before := w.seen()
			w.changed.forget()
			for i, raw := range day {
				if w.hear(tr, raw) {
					t.Fatalf("%s: message %d of the day is believed", when, i)
				}
			}
			w.pass(0)
			if after := w.seen(); !slices.Equal(before, after) || w.changed.count() != 0 {
				t.Errorf("%s: from\n%v\nto\n%v, told of %v", when, before, after, w.changed.sorted())
			}
		}
		if len(w.seen()) != 3 {
			t.Fatalf("seen are %v", w.seen())
		}
		replay("while the agent lives", tr)
		later, _ := pins.process(t)
		replay("at a later process of the node", later)
		elsewhere, _ := keptPins{}.process(t)
		replay("at another node", elsewhere)
		w.pass(2 * DefaultStaleThreshold)
		replay("while the agent is silent", tr)
		w.pass(2 * DefaultRemoveAfter)
		if len(w.seen()) != 0 {
			t.Fatalf("the silent agent's backends are still there: %v", w.seen())
		}
		replay("after the agent's end", tr)
	})
}
