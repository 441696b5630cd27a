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

// MaxAgents is the maximum number of pins of a node, which limits its memory. It is six times the designed number of
// agents.
const MaxAgents = 1 << 16

// PinStore stores pins together with their audit entries. A write without an error survives a crash of the process.
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
	// Tokens contains the tokens of each service: first the token of agent_tokens, then the tokens of
	// previous_agent_tokens. Each of them is accepted as a proof for the service.
	Tokens map[string][]string
	// Policies contains the permitted networks of the backends of a service (agent_policies). A service without an entry
	// has no restriction.
	Policies map[string][]netip.Prefix
	// Host is this machine. With the zero value, backends on loopback are rejected.
	Host Host
	// Limits limits the pins of a service. A service without an entry has the defaults.
	Limits map[string]Limits
	// Boot is the boot nonce of this process, Node the key id of this node's certificate.
	Boot identity.Nonce
	Node identity.KeyID
	// Exchange is this process's key share for sessions with agents. With nil, agents sign all messages.
	Exchange *identity.Exchange
	// KnowsAll is called for each agent that knows all current tokens: at the start, after a proof, and after a change of
	// the tokens. It may be called several times for an agent, and concurrently. Optional.
	KnowsAll func(set TokenSet, agentID string)
	// Pins stores the pins.
	Pins PinStore
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Logger receives a line for each change and for the first rejection of an agent.
	Logger zerolog.Logger
}

// Trust has the pinned agents and the tokens.
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

	// changing serializes the changes of each agent's pin, including the disk writes. The agent id selects an element. An
	// element is locked before mu.
	changing [4096]sync.Mutex

	// judging has an element for each Enrol in verification: at most half of the cores, so that many agents do not delay
	// DNS answers.
	judging chan struct{}

	onKnowsAll func(TokenSet, string) // Options.KnowsAll

	mu       sync.RWMutex
	tokens   map[string][]string
	current  currentTokens
	policies map[string][]netip.Prefix
	byKey    map[identity.KeyID]*pinned
	byID     map[string]*pinned
	ordered  []*pinned                 // the values of byID, by id
	revoked  map[string][]string       // ids of revoked agents, by their public key
	replaced map[string]identity.KeyID // certificates rejected by Reissue, by agent id, which is not in byID
	left     departed
	windows  windows
	troubles troubles // has its own lock
	census   *census
	locks    map[string]store.TokenLock // by service
}

// New loads the pins and locks.
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
		onKnowsAll: o.KnowsAll, current: currentTokensOf(o.Tokens), tokens: usableTokens(o.Tokens),
		policies: canonical(o.Policies),
		byKey:    make(map[identity.KeyID]*pinned, len(stored)), byID: make(map[string]*pinned, len(stored)),
		revoked: make(map[string][]string), replaced: make(map[string]identity.KeyID), windows: make(windows),
		troubles: troubles{all: make(map[troubleKey]*Trouble)},
		census:   newCensus(o.Limits),
	}
	// Pins in sorted order are inserted at the end of t.ordered, so that no pin has to move.
	slices.SortFunc(stored, func(a, b store.Pin) int { return strings.Compare(a.AgentID, b.AgentID) })
	for _, pin := range stored {
		if pin.Superseded != [32]byte{} {
			t.replaced[pin.AgentID] = pin.Superseded
			continue
		}
		p := t.restorePin(pin)
		t.addPin(p)
		t.countPin(p, +1)
	}
	if err := t.loadLocks(); err != nil {
		return nil, err
	}
	t.reportHolders()
	return t, nil
}

// canonical returns a copy of m with canonical service names.
func canonical[V any](m map[string]V) map[string]V {
	c := make(map[string]V, len(m))
	for service, v := range m {
		c[wire.CanonicalService(service)] = v
	}
	return c
}

// usableTokens removes empty tokens, which any client knows.
func usableTokens(tokens map[string][]string) map[string][]string {
	c := canonical(tokens)
	for service, list := range c {
		c[service] = slices.DeleteFunc(slices.Clone(list), func(token string) bool { return token == "" })
	}
	maps.DeleteFunc(c, func(_ string, list []string) bool { return len(list) == 0 })
	return c
}

// restorePin returns a stored pin. An agent with a certificate that this version rejects stays pinned, like an agent
// with an expired certificate. No other certificate can enroll for its id until an operator deletes the pin.
func (t *Trust) restorePin(pin store.Pin) *pinned {
	certificate, err := identity.ReadCertificate(pin.CertificateDER)
	if err != nil {
		t.log.Warn().Err(err).Str("agent_id", pin.AgentID).Msg(
			"this version rejects the pinned certificate; delete the pin, then restart the agent")
		certificate = &identity.Certificate{DER: pin.CertificateDER, KeyID: identity.KeyIDOf(pin.CertificateDER),
			CommonName: pin.AgentID}
	}
	p := &pinned{id: pin.AgentID, certificate: certificate, pin: pin}
	p.isUnreported.Store(pin.Unreported)
	p.rights.Store(t.rightsOf(certificate.KeyID, pin))
	return p
}

// addPin adds a pinned agent. The caller holds mu, or is New.
func (t *Trust) addPin(p *pinned) {
	t.byKey[p.certificate.KeyID] = p
	t.byID[p.id] = p
	if at, found := t.indexOf(p.id); found {
		t.ordered[at] = p
	} else {
		t.ordered = slices.Insert(t.ordered, at, p)
	}
	delete(t.replaced, p.id)
	if key := string(p.certificate.PublicKey); p.rights.Load().revoked && !slices.Contains(t.revoked[key], p.id) {
		t.revoked[key] = append(t.revoked[key], p.id)
	}
}

// lockAgent serializes changes of an agent's pin. It returns the unlock function.
func (t *Trust) lockAgent(agentID string) (unlock func()) {
	m := &t.changing[maphash.String(t.seed, agentID)%uint64(len(t.changing))]
	m.Lock()
	return m.Unlock
}

// findByKey returns the agent with a pinned certificate, or the departure of an agent with a deleted pin. Both may be
// nil.
func (t *Trust) findByKey(key identity.KeyID) (*pinned, *departure) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if p := t.byKey[key]; p != nil {
		return p, nil
	}
	return nil, t.left.findDeparture(key)
}
