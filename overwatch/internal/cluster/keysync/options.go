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
	Apply    func(context.Context) error // puts the present keys into the answers
	Audit    func(audit.Change) error
	About    func() About // describes this node to its peers; nil: nothing is sent
	// LongestTTL returns the longest TTL of all answers; nil: no roll begins by itself or goes on.
	LongestTTL func() time.Duration
	Transport  http.RoundTripper // nil: over the network
	Now        func() time.Time  // nil means time.Now
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
}

// maxLooks bounds the calls of Parent that ask the parent's servers at the same time.
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

	looks chan struct{} // bounds the concurrent calls of Parent that ask

	pendings map[string]*pending // by peer, those under way; of the goroutine that makes rounds
	asked    map[string]bool     // peers with which an exchange has ended since a key was made here; of the same goroutine

	mu     sync.Mutex
	status status
}

// order asks for a round now.
type order struct{ done chan []outcome }

// New makes a Sync that answers peers. It asks them from Bootstrap or Run on.
func New(o Options) (*Sync, error) {
	if o.Zones == nil || o.Apply == nil || o.Audit == nil || o.Holders == nil {
		return nil, errors.New("keysync: Options.Zones, Apply, Audit and Holders are needed")
	}
	if _, err := o.Settings.TLS.Config(); err != nil {
		return nil, err // else a node without keys would ask nobody and make its own
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

// Reconfigure puts other settings into force and begins a round with them.
func (s *Sync) Reconfigure(settings Settings) {
	s.settings.Set(settings)
	s.o.Zones.SetAlgorithm(settings.Algorithm)
	s.checkExchange()
	s.settings.Signal()
}
