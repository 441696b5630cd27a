package trust

import (
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// MaxAgents bounds the pins of a node, and with them its memory: six times the agents that a node is meant for.
const MaxAgents = 1 << 16

// PinStore keeps pins, and the audit entries that go with their changes. A write that returned nil survives the end of
// the process, however it ends.
type PinStore interface {
	LoadPins() ([]store.Pin, error)
	LoadPin(agentID string) (p store.Pin, found bool, err error)
	PutPin(store.Pin, ...store.Entry) error
	DeletePin(agentID string, with ...store.Entry) error
	ChangePins(store.PinChange, ...store.Entry) error
	LoadLocks() ([]store.TokenLock, error)
}

// Options configures a Trust.
type Options struct {
	// Tokens are the service tokens by service name: first the one of agent_tokens, then those of previous_agent_tokens,
	// any of which proves the service as well.
	Tokens map[string][]string
	// Policies are the networks where a service's backends may be (agent_policies); a service without an entry, anywhere.
	Policies map[string][]netip.Prefix
	// Host is the machine that this node runs on. With the zero value, it listens nowhere and no backend may be on
	// loopback.
	Host Host
	// Limits bound the pins of a service; one without an entry has the defaults.
	Limits map[string]Limits
	// Boot is the boot nonce of this process, Node the key id of this node's certificate.
	Boot identity.Nonce
	Node identity.KeyID
	// Exchange is this process's half of the sessions with agents; nil is none, and everything is signed.
	Exchange *identity.Exchange
	// KnowsAll is called for each agent that has proved so many services that it knows every current token; also at the
	// start, and when the tokens change. It may be called twice for the same agent, and by several goroutines at once. It
	// may be nil.
	KnowsAll func(set TokenSet, agentID string)
	// Pins keeps the pins.
	Pins PinStore
	// Now tells the time; nil is time.Now.
	Now func() time.Time
	// Logger gets one line per change and per agent's first refusal, never one per message.
	Logger zerolog.Logger
}

// Trust knows the pinned agents and the tokens.
type Trust struct {
	boot     identity.Nonce
	node     identity.KeyID
	exchange *identity.Exchange
	host     Host // never changes
	pins     PinStore
	log      zerolog.Logger
	clock    *clock
	answers  *answers
	lines    *lines
	seed     maphash.Seed

	// changing serialises changes of one agent's pin, the disk included: agents that share an element wait for each other,
	// others do not. Taken before mu.
	changing [4096]sync.Mutex

	// judging holds a token for each Enrol that is being judged, so that a crowd of agents does not take the processor
	// from everything else: at most half of the cores, rounded up.
	judging chan struct{}

	onKnowsAll func(TokenSet, string) // Options.KnowsAll

	mu       sync.RWMutex
	tokens   map[string][]string
	current  current
	policies map[string][]netip.Prefix
	byKey    map[identity.KeyID]*pinned
	byID     map[string]*pinned
	ordered  []*pinned                 // those of byID, by id
	revoked  map[string][]string       // ids of revoked agents, by their public key
	replaced map[string]identity.KeyID // certificates that were taken from agents, by agent id; none of these is in byID
	left     departed
	windows  windows
	troubles troubles // has its own lock
	census   *census
	locks    map[string]store.TokenLock // by service
}

// New loads the pins.
func New(o Options) (*Trust, error) {
	if o.Pins == nil {
		return nil, errors.New("trust: Options.Pins is missing")
	}
	if o.Boot == (identity.Nonce{}) {
		return nil, errors.New("trust: Options.Boot is missing")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	stored, err := o.Pins.LoadPins()
	if err != nil {
		return nil, fmt.Errorf("loading pins: %w", err)
	}
	t := &Trust{
		boot: o.Boot, node: o.Node, exchange: o.Exchange, host: o.Host, pins: o.Pins, log: o.Logger, seed: maphash.MakeSeed(),
		clock: newClock(o.Now, o.Logger), answers: newAnswers(), lines: newLines(),
		judging:    make(chan struct{}, (runtime.GOMAXPROCS(0)+1)/2),
		onKnowsAll: o.KnowsAll, current: currentOf(o.Tokens), tokens: usableTokens(o.Tokens),
		policies: canonical(o.Policies),
		byKey:    make(map[identity.KeyID]*pinned, len(stored)), byID: make(map[string]*pinned, len(stored)),
		revoked: make(map[string][]string), replaced: make(map[string]identity.KeyID), windows: make(windows),
		troubles: troubles{all: make(map[troubleKey]*Trouble)},
		census:   newCensus(o.Limits),
	}
	// In order, each is added behind the others.
	slices.SortFunc(stored, func(a, b store.Pin) int { return strings.Compare(a.AgentID, b.AgentID) })
	for _, pin := range stored {
		if pin.Superseded != [32]byte{} {
			t.replaced[pin.AgentID] = pin.Superseded
			continue
		}
		p := t.restore(pin)
		t.add(p)
		t.countPin(p, +1)
	}
	if err := t.loadLocks(); err != nil {
		return nil, err
	}
	t.tellHolders()
	return t, nil
}

// canonical returns a copy of m with canonical service names as keys.
func canonical[V any](m map[string]V) map[string]V {
	c := make(map[string]V, len(m))
	for service, v := range m {
		c[wire.CanonicalService(service)] = v
	}
	return c
}

// usableTokens leaves out empty tokens, which everybody would know.
func usableTokens(tokens map[string][]string) map[string][]string {
	c := canonical(tokens)
	for service, list := range c {
		c[service] = slices.DeleteFunc(slices.Clone(list), func(token string) bool { return token == "" })
	}
	maps.DeleteFunc(c, func(_ string, list []string) bool { return len(list) == 0 })
	return c
}

// restore puts a stored pin into force. A certificate that this version does not accept stays pinned, like an expired
// one: nobody else gets the agent's id before an operator deletes the pin.
func (t *Trust) restore(pin store.Pin) *pinned {
	certificate, err := identity.ReadCertificate(pin.CertificateDER)
	if err != nil {
		t.log.Warn().Err(err).Str("agent_id", pin.AgentID).Msg(
			"pinned certificate is not acceptable any more: delete the pin so that the agent can enrol again")
		certificate = &identity.Certificate{DER: pin.CertificateDER, KeyID: identity.KeyIDOf(pin.CertificateDER),
			CommonName: pin.AgentID}
	}
	p := &pinned{id: pin.AgentID, certificate: certificate, pin: pin}
	p.silent.Store(pin.Unreported)
	p.standing.Store(t.stand(certificate.KeyID, pin))
	return p
}

// add makes a pinned agent known. The caller holds mu, or is New.
func (t *Trust) add(p *pinned) {
	t.byKey[p.certificate.KeyID] = p
	t.byID[p.id] = p
	if at, found := t.place(p.id); found {
		t.ordered[at] = p
	} else {
		t.ordered = slices.Insert(t.ordered, at, p)
	}
	delete(t.replaced, p.id)
	if key := string(p.certificate.PublicKey); p.standing.Load().revoked && !slices.Contains(t.revoked[key], p.id) {
		t.revoked[key] = append(t.revoked[key], p.id)
	}
}

// lock serialises changes of one agent's pin; the result unlocks.
func (t *Trust) lock(agentID string) (unlock func()) {
	m := &t.changing[maphash.String(t.seed, agentID)%uint64(len(t.changing))]
	m.Lock()
	return m.Unlock
}

// find returns the agent that is pinned with a certificate; failing that, the departure of one whose pin was deleted.
// Both may be nil.
func (t *Trust) find(key identity.KeyID) (*pinned, *departure) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if p := t.byKey[key]; p != nil {
		return p, nil
	}
	return nil, t.left.find(key)
}
