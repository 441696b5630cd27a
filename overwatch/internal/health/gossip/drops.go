package gossip

import (
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/shared/frame"
)

// Reasons of the transport and the queues for a drop, in addition to package frame. They are label values.
const (
	dropKind         frame.Fault = "kind"          // a message type that overwatch nodes do not receive
	dropEnvelope     frame.Fault = "envelope"      // a user message that is not sealed
	dropAddressLimit frame.Fault = "address_limit" // limit of streams from an address
	dropStreamLimit  frame.Fault = "stream_limit"  // limit of streams
	dropEvicted      frame.Fault = "evicted"       // an incomplete stream, closed for a new stream
	dropQueueFull    frame.Fault = "queue_full"
	dropAgentLimit   frame.Fault = "agent_limit" // limit of queued messages of a sender
	dropAgentRate    frame.Fault = "agent_rate"  // rate limit of an authenticated agent
	dropBusy         frame.Fault = "busy"        // memberlist was too slow
)

var dropReasons = []frame.Fault{
	frame.Size, frame.Label, frame.Cipher, frame.Key, frame.Malformed, frame.Incomplete,
	dropKind, dropEnvelope, dropAddressLimit, dropStreamLimit, dropEvicted, dropQueueFull, dropAgentLimit, dropAgentRate,
	dropBusy,
}

// strangerInterval is the minimum time between two log lines about undecryptable packets.
const strangerInterval = time.Minute

// drops counts dropped packets and messages, and logs senders with another gossip key.
type drops struct {
	counters map[frame.Fault]prometheus.Counter
	logger   zerolog.Logger

	mu            sync.Mutex
	undecryptable int       // undecryptable packets and streams since the last line
	lastLine      time.Time // time of the last log line
}

func newDrops(logger zerolog.Logger) (*drops, *prometheus.CounterVec) {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "gslb_gossip_dropped_total", Help: "Dropped packets, streams and messages, by reason.",
	}, []string{"reason"})
	d := &drops{counters: make(map[frame.Fault]prometheus.Counter, len(dropReasons)), logger: logger}
	for _, reason := range dropReasons {
		d.counters[reason] = vec.WithLabelValues(string(reason))
	}
	return d, vec
}

// count counts a drop, at a cost that is acceptable during a flood.
func (d *drops) count(reason frame.Fault, from netip.AddrPort) {
	d.counters[reason].Inc()
	if reason == frame.Key {
		d.countUndecryptable(from, time.Now())
	}
}

func (d *drops) countUndecryptable(from netip.AddrPort, now time.Time) {
	d.mu.Lock()
	d.undecryptable++
	n := d.undecryptable
	due := d.lastLine.IsZero() || now.Sub(d.lastLine) >= strangerInterval
	if due {
		d.undecryptable, d.lastLine = 0, now
	}
	d.mu.Unlock()
	if due {
		d.logger.Warn().Str("from", from.Addr().String()).Int("packets", n).
			Msg("a sender uses another gossip key: packets from this address cannot be decrypted; compare its " +
				"gossip.encryption_key with overwatch.gossip.encryption_key of this node")
	}
}
