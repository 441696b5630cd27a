package trust // inside: it uses answerEvery and lines

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

const (
	appToken = "token of the service app, 0123456789"
	dbToken  = "token of the service db, 0123456789."
)

// nodeKey is the key id of the node's certificate.
var nodeKey = identity.KeyID{31: 1}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// memory is a PinStore in memory that can return errors.
type memory struct {
	mu     sync.Mutex
	pins   map[string]store.Pin
	locks  map[string]store.TokenLock
	writes int
	full   bool

	meanwhile func() // is called once, before the next ChangePins writes; nil: nothing
}

func (m *memory) LoadPins() (pins []store.Pin, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.pins {
		pins = append(pins, p)
	}
	return pins, nil
}

func (m *memory) LoadPin(id string) (store.Pin, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, found := m.pins[id]
	return p, found, nil
}

func (m *memory) PutPin(p store.Pin, _ ...store.Entry) error {
	return m.write(func() { m.pins[p.AgentID] = p })
}

func (m *memory) DeletePin(id string, _ ...store.Entry) error {
	return m.write(func() { delete(m.pins, id) })
}

func (m *memory) ChangePins(c store.PinChange, _ ...store.Entry) error {
	if then := m.meanwhile; then != nil {
		m.meanwhile = nil
		then()
	}
	return m.write(func() {
		for _, p := range c.Put {
			m.pins[p.AgentID] = p
		}
		for _, id := range c.Drop {
			delete(m.pins, id)
		}
		for _, l := range c.Lock {
			if m.locks == nil {
				m.locks = make(map[string]store.TokenLock)
			}
			m.locks[l.Service] = l
		}
		for _, service := range c.Unlock {
			delete(m.locks, service)
		}
	})
}

func (m *memory) LoadLocks() (locks []store.TokenLock, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.locks)), nil
}

func (m *memory) write(f func()) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full {
		return fmt.Errorf("%w: disk full", store.ErrNotDurable)
	}
	m.writes++
	f()
	return nil
}

func (m *memory) setFull(full bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.full = full
}

func (m *memory) has(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, there := m.pins[id]
	return there
}

// rig is a Trust in an environment that the test controls.
type rig struct {
	t      testing.TB
	trust  *Trust
	boot   identity.Nonce
	half   *identity.Exchange
	pins   *memory
	host   Host
	tokens map[string][]string
	mu     sync.Mutex
	time   time.Time
	logged bytes.Buffer
	knows  []string // agents in the calls of KnowsAll
	sets   map[TokenSet]bool
}

// rigPolicies are the policies of every rig.
var rigPolicies = map[string][]netip.Prefix{"db.test": {netip.MustParsePrefix("10.0.0.0/8")}}

func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{t: t, pins: &memory{pins: make(map[string]store.Pin)}, time: noon,
		tokens: map[string][]string{"App.test.": {appToken}, "db.test": {dbToken}}}
	r.restart()
	return r
}

// restart replaces the Trust with the Trust of a new process on the same store.
func (r *rig) restart() {
	r.t.Helper()
	r.boot, r.half = identity.NewNonce(), identity.NewExchange()
	var err error
	r.trust, err = New(Options{
		Tokens: r.tokens, Policies: rigPolicies, Host: r.host, KnowsAll: r.knowsAll,
		Boot: r.boot, Node: nodeKey, Exchange: r.half, Pins: r.pins, Now: r.now,
		Logger: zerolog.New(zerolog.SyncWriter(&r.logged)),
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// knowsAll records the agents for which KnowsAll was called, each set of tokens once.
func (r *rig) knowsAll(set TokenSet, agentID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sets[set] {
		return
	}
	if r.sets == nil {
		r.sets = make(map[TokenSet]bool)
	}
	r.sets[set] = true
	r.knows = append(r.knows, agentID)
}

func (r *rig) now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.time
}

func (r *rig) advance(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.time = r.time.Add(d)
}

// lines counts the log lines with a text.
func (r *rig) lines(text string) int { return strings.Count(r.logged.String(), text) }

// sender is an agent process.
type sender struct {
	rig        *rig
	id         *identity.Identity
	epoch, seq uint64
}

// agent creates an agent with a new certificate.
func (r *rig) agent(id string) *sender { return r.agentAt(id, r.now()) }

func (r *rig) agentAt(id string, madeAt time.Time) *sender {
	r.t.Helper()
	return r.agentOf(r.t.TempDir(), id, madeAt)
}

// agentOf returns the agent whose certificate and key are in a directory, in the files crt and key.
func (r *rig) agentOf(dir, id string, madeAt time.Time) *sender {
	r.t.Helper()
	made, _, err := identity.LoadOrCreate(filepath.Join(dir, "crt"), filepath.Join(dir, "key"), id, madeAt)
	if err != nil {
		r.t.Fatal(err)
	}
	return &sender{rig: r, id: made, epoch: uint64(noon.UnixMilli())}
}

// again returns a new process of the agent.
func (s *sender) again() *sender {
	return &sender{rig: s.rig, id: s.id, epoch: s.epoch + 1000}
}

// seal creates the next message.
func (s *sender) seal(kind wire.Type, payload []byte) []byte {
	s.seq++
	return s.id.Seal(identity.AgentToNode, identity.Envelope{
		Major: wire.Major, Minor: wire.Minor, Type: uint8(kind), BootNonce: s.rig.boot, Epoch: s.epoch, Seq: s.seq,
		SentAtMillis: s.rig.now().UnixMilli(), Payload: payload,
	})
}

// enrolment creates an Enrol with a proof for each service and token.
func (s *sender) enrolment(services ...string) []byte {
	return s.enrolmentWith(func(*wire.Enrol) {}, services...)
}

func (s *sender) enrolmentWith(change func(*wire.Enrol), services ...string) []byte {
	s.rig.t.Helper()
	m := wire.Enrol{AgentID: s.id.CommonName, Region: "eu", Version: "1.0.0", Certificate: s.id.DER}
	for _, service := range services {
		service, token, given := strings.Cut(service, "=")
		if !given {
			token = map[string]string{"app.test": appToken, "db.test": dbToken}[service]
		}
		m.Proofs = append(m.Proofs, wire.Proof{Service: service,
			MAC: identity.Proof(token, service, s.id.KeyID, s.rig.boot, s.epoch)})
	}
	change(&m)
	payload, err := m.MarshalBinary()
	if err != nil {
		s.rig.t.Fatal(err)
	}
	return s.seal(wire.TypeEnrol, payload)
}

// enrol enrols the agent, which must succeed.
func (s *sender) enrol(services ...string) Message {
	s.rig.t.Helper()
	return s.rig.taken(s.enrolment(services...))
}

// beat creates a heartbeat. Its contents are not relevant.
func (s *sender) beat() []byte { return s.seal(wire.TypeHeartbeat, []byte("contents")) }

// taken opens a message that must be accepted.
func (r *rig) taken(raw []byte) Message {
	r.t.Helper()
	m, refusal := r.trust.Open(raw, netip.MustParseAddr("192.0.2.1"))
	if refusal != nil {
		r.t.Fatalf("refused: %v", refusal)
	}
	return m
}

// refused opens a message that must be refused for a reason, and checks that none of it was accepted.
func (r *rig) refused(raw []byte, reason Reason) *Refusal {
	r.t.Helper()
	m, refusal := r.trust.Open(raw, netip.MustParseAddr("192.0.2.1"))
	if refusal == nil {
		r.t.Fatalf("believed %s, must be refused: %s", m.Type, reason)
	}
	if refusal.Reason != reason {
		r.t.Errorf("refused: %v, want %s", refusal, reason)
	}
	if m.Agent != (Agent{}) || m.Payload != nil {
		r.t.Error("a refused message has an agent or a payload")
	}
	if refusal.Code == 0 && !refusal.Silent {
		r.t.Error("an answer without a code")
	}
	if refusal.Code != 0 && Reason(refusal.Code.String()) != refusal.Reason {
		r.t.Errorf("code %s with reason %s", refusal.Code, refusal.Reason)
	}
	return refusal
}

// told opens a message that must be refused with a code for the agent.
func (r *rig) told(raw []byte, code wire.RejectCode) *Refusal {
	r.t.Helper()
	r.advance(answerEvery)
	refusal := r.refused(raw, Reason(code.String()))
	if refusal.Silent {
		r.t.Errorf("the agent is not told: %v", refusal)
	}
	return refusal
}

// untold opens a message that must be refused without an answer.
func (r *rig) untold(raw []byte, reason Reason) *Refusal {
	r.t.Helper()
	refusal := r.refused(raw, reason)
	if !refusal.Silent {
		r.t.Errorf("is answered: %v", refusal)
	}
	return refusal
}

func (r *rig) services(id string) []string {
	r.t.Helper()
	record, there := r.trust.Get(id)
	if !there {
		r.t.Fatalf("%s is not pinned", id)
	}
	return record.Services
}

func (r *rig) speaks(a Agent, services ...string) {
	r.t.Helper()
	if got := a.Services(); !slices.Equal(got, services) && len(got)+len(services) > 0 {
		r.t.Errorf("speaks for %v, want %v", got, services)
	}
	for _, s := range services {
		if !a.MaySpeakFor(s) {
			r.t.Errorf("does not speak for %s", s)
		}
	}
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
