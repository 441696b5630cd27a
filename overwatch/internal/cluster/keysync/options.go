package keysync

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/cluster/delegation"
	"gslb.internal/overwatch/internal/cluster/peerauth"
	"gslb.internal/overwatch/internal/state/audit"
)

// Options configures a Sync.
type Options struct {
	NodeID   string
	Settings Settings
	Holders  *Holders
	Zones    *dnssec.Zones
	Apply    func(context.Context) error // applies the current keys to the answers
	Audit    func(audit.Change) error
	About    func() About // describes this node to its peers; nil: no description is sent
	// LongestTTL returns the longest TTL of all answers. If it is nil, rollovers neither start automatically nor continue.
	LongestTTL func() time.Duration
	Transport  http.RoundTripper // nil: the network
	Now        func() time.Time  // nil means time.Now
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
}

// maxLooks is the maximum number of concurrent calls of Parent that query the parent servers.
const maxLooks = 4

// Sync exchanges keys with the other nodes.
type Sync struct {
	o        Options
	instance string
	server   *peerauth.Server
	metrics  *metrics
	orders   chan order
	settings *peerauth.LiveSettings[Settings]

	parents *delegation.Watch // owned by the goroutine of the rounds

	looks chan struct{} // limits the concurrent calls of Parent that query servers

	pendings map[string]*pending // current exchanges by peer; owned by the goroutine of the rounds
	asked    map[string]bool     // peers with a completed exchange since this node created a key; same owner

	mu     sync.Mutex
	status status
}

// order requests a round immediately.
type order struct{ done chan []outcome }

// New returns a Sync that answers peers. Bootstrap and Run send requests to peers.
func New(o Options) (*Sync, error) {
	if o.Zones == nil || o.Apply == nil || o.Audit == nil || o.Holders == nil {
		return nil, errors.New("keysync: Options.Zones, Apply, Audit and Holders are needed")
	}
	if _, err := o.Settings.TLS.Config(); err != nil {
		return nil, err // otherwise a node without keys would create keys without a request to its peers
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Sync{
		o: o, instance: rand.Text(), server: peerauth.NewServer(), orders: make(chan order),
		parents: delegation.NewWatch(), looks: make(chan struct{}, maxLooks),
		settings: peerauth.NewLiveSettings(o.Settings),
		pendings: make(map[string]*pending), asked: make(map[string]bool),
	}
	s.checkExchange()
	s.metrics = newMetrics(s)
	return s, s.metrics.register(o.Registerer)
}

// Reconfigure replaces the settings and starts a round with them.
func (s *Sync) Reconfigure(settings Settings) {
	s.settings.Set(settings)
	s.o.Zones.SetAlgorithm(settings.Algorithm)
	s.checkExchange()
	s.settings.Signal()
}
