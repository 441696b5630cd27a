package replication

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/cluster/peerauth"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/identity"
)

// Settings is the part of the configuration that a Replication uses. It is immutable.
type Settings struct {
	Enabled bool
	Peers   []string // base URLs of the nodes' API; this node may be included
	Secret  []byte   // nil: not set
	TLS     peerauth.TLSFiles
}

// SettingsOf returns the settings of a configuration.
func SettingsOf(c *config.Config) Settings {
	return Settings{Enabled: c.Overwatch.Replication.Enabled, Peers: c.Overwatch.ReplicationPeers(),
		Secret: peerauth.SecretFor(c, "replication"), TLS: peerauth.TLSFilesOf(c)}
}

// The reasons for disabled replication.
var (
	errDisabled = errors.New("overwatch.replication.enabled is false")
	errNoPeers  = errors.New("overwatch.dnssec.key_sync.peers and overwatch.peers name no other node")
	errNoSecret = errors.New("overwatch.dnssec.key_sync.secret is not set: set the same on all nodes; a secret that " +
		"is derived from tokens may be known to an agent")
)

// Off returns the reason for disabled replication; nil: it is enabled.
func (s *Settings) Off() error {
	switch {
	case !s.Enabled:
		return errDisabled
	case len(s.Peers) == 0:
		return errNoPeers
	case len(s.Secret) == 0:
		return errNoSecret
	}
	return nil
}

// Options configures a Replication.
type Options struct {
	NodeID   string
	Settings Settings
	Store    *store.Store
	// Follow applies objects in their stored state. It returns the reason for each object that it cannot apply.
	Follow func(context.Context, []replica.Key) map[replica.Key]error
	// LeftOut returns the objects that conflict with the configuration file and are therefore not applied.
	LeftOut func() []replica.Key
	// Unused returns the objects that refer to a missing object, or that the configuration file also declares.
	Unused func([]replica.Object) []api.ReplicationRefused
	// Certificate is the key id of this node's agent-facing certificate; zero: none.
	Certificate identity.KeyID
	// Serving returns the names with a backend that may serve; nil: none.
	Serving    func() []string
	Audit      func(audit.Change) store.Entry // creates an audit entry
	Transport  http.RoundTripper              // nil: the network
	PageSize   int                            // octets of objects in one answer; 0: 4 MiB
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
}

// Replication exchanges objects with the other nodes.
type Replication struct {
	o        Options
	instance string // id of this process, by which the node detects its own answers
	server   *peerauth.Server
	settings *peerauth.LiveSettings[Settings]
	settled  chan struct{} // contains a token after the clock has settled
	ended    chan struct{} // closes when Run ends, which ends waiting requests
	merging  sync.Mutex    // locked while an offer is merged and applied
	met      time.Time     // time at which the store last recorded a peer with equal objects; guarded by merging

	mu       sync.Mutex
	peers    map[string]*peer       // by base URL
	pollers  map[string]*poller     // by node id
	refused  map[replica.Key]string // reasons for objects that are not applied
	rejected map[replica.Key]rejection
	// impersonated is the time of the last request of another node that used the id of this node.
	impersonated time.Time
	heard        chan struct{} // closes at the next request of a poller or the next outcome of a peer
}

// New returns a Replication that answers peers. Run sends requests to peers.
func New(o Options) (*Replication, error) {
	if o.Store == nil || o.Follow == nil || o.LeftOut == nil || o.Audit == nil {
		return nil, errors.New("replication: Options.Store, Follow, LeftOut and Audit are needed")
	}
	o.PageSize = cmp.Or(o.PageSize, pageSize)
	r := &Replication{o: o, instance: rand.Text(), server: peerauth.NewServer(),
		settings: peerauth.NewLiveSettings(o.Settings), settled: make(chan struct{}, 1), ended: make(chan struct{}),
		peers: make(map[string]*peer), pollers: make(map[string]*poller),
		refused: make(map[replica.Key]string), rejected: make(map[replica.Key]rejection), heard: make(chan struct{})}
	r.logOff(&o.Settings)
	return r, o.Registerer.Register(newMetrics(r))
}

// Reconfigure replaces the settings.
func (r *Replication) Reconfigure(settings Settings) {
	r.settings.Set(settings)
	r.logOff(&settings)
	r.settings.Signal()
}

// logOff logs the reason for disabled replication if the configuration enables replication.
func (r *Replication) logOff(settings *Settings) {
	problem := settings.Off()
	if !errors.Is(problem, errNoSecret) {
		problem = nil
	}
	if r.settings.SetProblem(problem) && problem != nil {
		r.o.Logger.Error().Str("reason", problem.Error()).Msg("what operators decide here does not reach other nodes")
	}
}

// tendEvery is the pause between two calls of tend.
const tendEvery = time.Minute

// Run polls the peers until ctx ends. It returns nil. It must be called once.
func (r *Replication) Run(ctx context.Context) error {
	context.AfterFunc(ctx, func() { close(r.ended) })
	for ctx.Err() == nil {
		r.runSettings(ctx)
	}
	return nil
}

// runSettings polls the peers of the current settings until the settings change.
func (r *Replication) runSettings(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	settings := r.settings.Get()
	r.setPeers(&settings)
	if settings.Off() == nil {
		client, err := newHTTPClient(r.o.Transport, settings.TLS)
		if err != nil {
			r.o.Logger.Error().Err(err).Msg("changes of other nodes are not received")
		} else {
			for _, url := range settings.Peers {
				asking.Go(func() { r.watch(ctx, r.peer(url), client) })
				asking.Go(func() {
					r.pollPeer(ctx, r.peer(url), r.newClient(url, settings.Secret, client))
				})
			}
		}
	}
	tend := time.NewTicker(tendEvery)
	defer tend.Stop()
	for {
		r.maintainObjects(ctx)
		select {
		case <-ctx.Done():
			return
		case <-r.settings.Changed():
			return
		case <-r.settled:
		case <-tend.C:
		}
	}
}

// maintainObjects corrects versions in the future, deletes expired tombstones, and retries to apply rejected objects.
func (r *Replication) maintainObjects(ctx context.Context) {
	mended, err := r.o.Store.TendReplicas(r.answering())
	if err != nil {
		r.o.Logger.Error().Err(err).Msg("deleting old tombstones failed")
	}
	if len(mended) > 0 {
		r.o.Logger.Warn().Int("objects", len(mended)).Msg("objects had versions of the future: the clock of this " +
			"node was wrong when they were changed, and no other node has stored them; they have the present time now")
	}
	r.countLeft(time.Now())
	r.mu.Lock()
	keys := make([]replica.Key, 0, len(r.refused))
	for key := range r.refused {
		keys = append(keys, key)
	}
	r.mu.Unlock()
	if len(keys) > 0 {
		r.enforce(ctx, keys)
	}
}

// answering returns whether other nodes answer.
func (r *Replication) answering() replica.Peers {
	r.mu.Lock()
	defer r.mu.Unlock()
	if settings := r.settings.Get(); settings.Off() != nil {
		return replica.NoPeers
	}
	for _, p := range r.peers {
		if p.connected && !p.self {
			return replica.PeersAnswer
		}
	}
	return replica.PeersSilent
}

// enforce applies objects and records the reasons for objects that it cannot apply.
func (r *Replication) enforce(ctx context.Context, keys []replica.Key) {
	r.merging.Lock()
	defer r.merging.Unlock()
	r.enforceMerged(ctx, keys)
}

// enforceMerged is enforce for a caller that holds merging.
func (r *Replication) enforceMerged(ctx context.Context, keys []replica.Key) {
	failed := r.o.Follow(ctx, keys)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range keys {
		err := failed[key]
		if err == nil {
			delete(r.refused, key)
			continue
		}
		if r.refused[key] != err.Error() {
			r.o.Logger.Warn().Str("kind", key.Kind).Str("name", key.Name).Str("reason", err.Error()).
				Msg("an object of another node is stored and has no effect here")
		}
		r.refused[key] = err.Error()
	}
}
