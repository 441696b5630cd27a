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
	// LongestTTL returns the longest TTL of all answers; nil: rolls neither begin automatically nor continue.
	LongestTTL func() time.Duration
	Transport  http.RoundTripper // nil: over the network
	Now        func() time.Time  // nil means time.Now
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
}

// maxLooks bounds the concurrent calls of Parent that query the servers of the parent.
const maxLooks = 4

// Sync exchanges keys with the other nodes.
type Sync struct {
	o        Options
	instance string
	server   *peerauth.Server
	metrics  *metrics
	orders   chan order
	settings *peerauth.LiveSettings[Settings]

	parents *delegation.Watch // of the goroutine that makes rounds

	looks chan struct{} // bounds the concurrent calls of Parent that query servers

	pendings map[string]*pending // by peer, the current exchanges; of the goroutine that makes rounds
	asked    map[string]bool     // peers with a completed exchange since this node made a key; same goroutine

	mu     sync.Mutex
	status status
}

// order requests a round now.
type order struct{ done chan []outcome }

// New returns a Sync that answers peers. Bootstrap and Run poll them.
func New(o Options) (*Sync, error) {
	if o.Zones == nil || o.Apply == nil || o.Audit == nil || o.Holders == nil {
		return nil, errors.New("keysync: Options.Zones, Apply, Audit and Holders are needed")
	}
	if _, err := o.Settings.TLS.Config(); err != nil {
		return nil, err // else a node without keys would make new keys without a request to its peers
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

// Reconfigure replaces the settings and begins a round with them.
func (s *Sync) Reconfigure(settings Settings) {
	s.settings.Set(settings)
	s.o.Zones.SetAlgorithm(settings.Algorithm)
	s.checkExchange()
	s.settings.Signal()
}
