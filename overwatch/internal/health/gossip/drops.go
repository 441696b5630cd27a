package gossip

import (
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/shared/frame"
)

// Reasons why the transport or a queue drops something, beside those of package frame. They are label values.
const (
	dropKind         frame.Fault = "kind"          // a message type that nobody sends to an overwatch node
	dropEnvelope     frame.Fault = "envelope"      // a user message that is not sealed
	dropAddressLimit frame.Fault = "address_limit" // too many streams from one address
	dropStreamLimit  frame.Fault = "stream_limit"  // too many streams in all
	dropEvicted      frame.Fault = "evicted"       // an unfinished stream that gave way to a newer one
	dropQueueFull    frame.Fault = "queue_full"
	dropAgentLimit   frame.Fault = "agent_limit" // too many messages of one sender waiting
	dropAgentRate    frame.Fault = "agent_rate"  // too many messages of one believed agent in a short time
	dropBusy         frame.Fault = "busy"        // memberlist did not keep up
)

var dropReasons = []frame.Fault{
	frame.Size, frame.Label, frame.Cipher, frame.Key, frame.Malformed, frame.Incomplete,
	dropKind, dropEnvelope, dropAddressLimit, dropStreamLimit, dropEvicted, dropQueueFull, dropAgentLimit, dropAgentRate,
	dropBusy,
}

// strangerInterval is the least time between two log lines about packets that our keys do not open.
const strangerInterval = time.Minute

// drops counts what is dropped, and tells the operator when somebody uses another gossip key.
type drops struct {
	counters map[frame.Fault]prometheus.Counter
	logger   zerolog.Logger

	mu      sync.Mutex
	strange int       // undecryptable packets and streams since the last line
	told    time.Time // when the last line was written
}

func newDrops(logger zerolog.Logger) (*drops, *prometheus.CounterVec) {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "gslb_gossip_dropped_total", Help: "Packets, streams and messages of which nothing was taken, by reason.",
	}, []string{"reason"})
	d := &drops{counters: make(map[frame.Fault]prometheus.Counter, len(dropReasons)), logger: logger}
	for _, reason := range dropReasons {
		d.counters[reason] = vec.WithLabelValues(string(reason))
	}
	return d, vec
}

// count notes one drop. It is cheap enough for a flood.
func (d *drops) count(reason frame.Fault, from netip.AddrPort) {
	d.counters[reason].Inc()
	if reason == frame.Key {
		d.stranger(from, time.Now())
	}
}

func (d *drops) stranger(from netip.AddrPort, now time.Time) {
	d.mu.Lock()
	d.strange++
	n := d.strange
	due := d.told.IsZero() || now.Sub(d.told) >= strangerInterval
	if due {
		d.strange, d.told = 0, now
	}
	d.mu.Unlock()
	if due {
		d.logger.Warn().Str("from", from.Addr().String()).Int("packets", n).
			Msg("somebody uses another gossip key: what comes from this address cannot be decrypted; compare " +
				"gossip.encryption_key there with overwatch.gossip.encryption_key here")
	}
}
