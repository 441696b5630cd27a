package hints

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/cluster/peerauth"
	"gslb.internal/overwatch/internal/cluster/replication"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/tokenbucket"
)

// Path is the API's path for peers, below a node's base URL.
const Path = "/api/v1/replication/hints"

const (
	// hintRate and hintBurst bound the backends in hints: the mean number per second, and the largest burst. Each node
	// applies the bound to the hints that it sends, and to the received hints of each node id.
	hintRate  = 100
	hintBurst = 1000
	// totalRate and totalBurst bound the received hints of all node ids together, since each holder of the secret can
	// state any id.
	totalRate  = 2 * hintRate
	totalBurst = 2 * hintBurst
	// hintGap is the time after a hint in which further hints about the same backend are ignored.
	hintGap = time.Second
	// maxRecent bounds the backends for which a node stores the time of the last hint.
	maxRecent = 4096
	// maxPeers bounds the node ids for which a node stores a rate. Rates of ids without recent hints make room for others.
	maxPeers = 256
	// sendTimeout bounds a request to a peer. A later hint is useless, since the peer's own checks are then due.
	sendTimeout = 3 * time.Second
	// maxAnswer bounds the body of an answer, in octets.
	maxAnswer = 64 << 10
)

// Settings is the part of the configuration that an Exchange uses. It must not be changed afterwards.
type Settings struct {
	Secret    []byte // nil: not set, so no hints are exchanged
	TLS       peerauth.TLSFiles
	Agreement status.Agreement
	Checks    bool // this node makes own checks, so that it can vote
}

// SettingsOf returns the settings of a configuration.
func SettingsOf(c *config.Config) Settings {
	return Settings{Secret: peerauth.SecretFor(c, "hints"), TLS: peerauth.TLSFilesOf(c), Agreement: AgreementOf(c),
		Checks: c.Overwatch.Validation.Enabled}
}

// AgreementOf returns the settings of agreement of a configuration.
func AgreementOf(c *config.Config) status.Agreement {
	return status.Agreement{Nodes: c.Overwatch.Validation.Agree, Within: c.Overwatch.Validation.AgreeWithin}
}

// Options configures an Exchange. All functions and Registerer are required.
type Options struct {
	NodeID   string
	Settings Settings
	// Peers lists the nodes that answer at present. replication.Replication.Reachable implements it.
	Peers func() []replication.Reachable
	// Backend returns a backend, nil for an unknown id. registry.View.Get implements it.
	Backend func(registry.ID) *registry.Backend
	// Check makes the own check of a backend urgent. It must not block. validation.Hints.Add implements it.
	Check func(registry.ID)
	// Votes receives the votes of a peer. registry.Registry.ApplyVotes implements it.
	Votes      func(context.Context, []registry.NodeVote) error
	Transport  http.RoundTripper // nil: over the network
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
}

// Exchange sends and receives hints.
type Exchange struct {
	o        Options
	server   *peerauth.Server
	settings *peerauth.LiveSettings[Settings]
	metrics  *metrics
	wake     chan struct{} // has an element while hints are queued

	mu       sync.Mutex
	queue    map[registry.ID]struct{}
	sent     tokenbucket.Bucket
	received *tokenbucket.Keyed[string] // by the node id in the request
	total    tokenbucket.Bucket         // of all received hints
	recent   map[registry.ID]time.Time  // last accepted hint about a backend
	asked    map[registry.ID]asking     // failures that wait for votes
	voters   map[string]time.Time       // last answer of a node that can vote
	possible time.Time                  // when enough nodes could vote
}

// New returns an Exchange that answers peers. Run sends hints.
func New(o Options) (*Exchange, error) {
	if o.Peers == nil || o.Backend == nil || o.Check == nil || o.Votes == nil || o.Registerer == nil {
		return nil, errors.New("hints: Options.Peers, Backend, Check, Votes and Registerer are needed")
	}
	e := &Exchange{o: o, server: peerauth.NewServer(), settings: peerauth.NewLiveSettings(o.Settings),
		metrics: newMetrics(), wake: make(chan struct{}, 1), queue: make(map[registry.ID]struct{}),
		sent: tokenbucket.New(nodeLimit()), received: tokenbucket.NewKeyed[string](maxPeers),
		total:  tokenbucket.New(tokenbucket.PerSecond(totalRate, totalBurst)),
		recent: make(map[registry.ID]time.Time), asked: make(map[registry.ID]asking),
		voters: make(map[string]time.Time), possible: time.Now()}
	return e, o.Registerer.Register(e.metrics.hints)
}

// nodeLimit returns the limit of the hints of a node.
func nodeLimit() tokenbucket.Limit { return tokenbucket.PerSecond(hintRate, hintBurst) }

// Reconfigure replaces the settings.
func (e *Exchange) Reconfigure(settings Settings) {
	if e.settings.Get().Agreement != settings.Agreement {
		e.mu.Lock()
		e.possible = time.Now() // peers have the time of a start to answer
		e.mu.Unlock()
	}
	e.settings.Set(settings)
	e.settings.Signal()
}

// Hint queues a hint about a backend to all peers. It does not block. It drops the hint if the rate of hints is
// exceeded.
func (e *Exchange) Hint(id registry.ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, isQueued := e.queue[id]; isQueued {
		return
	}
	if !e.sent.Take(time.Now()) {
		e.metrics.dropped.Inc()
		return
	}
	e.queue[id] = struct{}{}
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// takeQueue empties the queue and returns its contents.
func (e *Exchange) takeQueue() map[registry.ID]struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	queue := e.queue
	e.queue = make(map[registry.ID]struct{})
	return queue
}
