package replication

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/shared/api"
)

// setPeers replaces the peers by the peers of the settings. It keeps the status of unchanged peers.
func (r *Replication) setPeers(settings *Settings) {
	r.mu.Lock()
	defer r.mu.Unlock()
	peers := make(map[string]*peer)
	if settings.Off() == nil {
		for _, url := range settings.Peers {
			if peers[url] = r.peers[url]; peers[url] == nil {
				peers[url] = &peer{url: url, changed: time.Now(), trail: newTrail(), retry: make(chan struct{}, 1)}
			}
		}
	}
	r.peers = peers
}

func (r *Replication) peer(url string) *peer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.peers[url]
}

// recordOutcome records the outcome of an exchange with a peer. It logs the first failure, and the first success after
// a failure.
func (r *Replication) recordOutcome(p *peer, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := p.err
	if p.err = err; p.connected != (err == nil) {
		p.connected, p.changed = err == nil, time.Now()
	}
	if err != nil {
		p.since = p.has // has is unknown, because the peer may now run an earlier version
	}
	r.signalNews()
	switch {
	case err != nil && before == nil:
		r.o.Logger.Warn().Str("peer", p.url).Str("reason", err.Error()).
			Msg("receiving changes from a peer failed and will be retried")
	case err == nil && before != nil:
		r.o.Logger.Info().Str("peer", p.url).Msg("a peer has recovered")
	}
}

// Status returns the state of replication.
func (r *Replication) Status() api.Replication {
	figures, held := r.o.Store.Replicas(), r.o.Store.Held()
	s := api.Replication{NodeID: r.o.NodeID, Objects: figures.Objects, Tombstones: figures.Tombstones,
		Joining: figures.Joining, Digest: r.digest(), Peers: []api.ReplicationPeer{},
		Refused: []api.ReplicationRefused{}}
	r.mu.Lock()
	defer r.mu.Unlock()
	settings := r.settings.Get()
	off := settings.Off()
	if s.Enabled = off == nil; off != nil {
		reason := off.Error()
		s.OffReason = &reason
	}
	for _, p := range r.peers {
		if p.self {
			continue
		}
		one := api.ReplicationPeer{Peer: p.url, NodeID: p.node, Connected: p.connected, Since: p.changed.UTC(),
			Behind: r.behind(p), ClockDifferenceMS: p.difference.Milliseconds(), Rejected: p.rejected}
		if p.err != nil {
			text := p.err.Error()
			one.Error = &text
		}
		s.Peers = append(s.Peers, one)
	}
	slices.SortFunc(s.Peers, func(a, b api.ReplicationPeer) int { return cmp.Compare(a.Peer, b.Peer) })
	s.Refused = append(s.Refused, r.refusedNow(held)...)
	slices.SortFunc(s.Refused, func(a, b api.ReplicationRefused) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return s
}

// refusedNow lists the objects of other nodes without effect on this node. held contains the rejected objects of the
// store. The caller holds mu.
func (r *Replication) refusedNow(held []replica.Rejection) (list []api.ReplicationRefused) {
	for _, one := range r.rejectedNow(held) {
		o := &one.Object
		list = append(list, api.ReplicationRefused{Kind: clipped(o.Kind), Name: clipped(o.Name),
			Reason: one.Reason.Error(), Node: clipped(o.Version.Node), Peer: one.node})
	}
	for key, reason := range r.refused {
		o, _ := r.o.Store.Object(key)
		list = append(list, api.ReplicationRefused{Kind: key.Kind, Name: key.Name, Reason: reason, Node: o.Version.Node})
	}
	for _, key := range r.o.LeftOut() {
		o, _ := r.o.Store.Object(key)
		list = append(list, api.ReplicationRefused{Kind: key.Kind, Name: key.Name, Node: o.Version.Node,
			Reason: "it does not go with the configuration of this node, see its log: the zone may be missing here"})
	}
	return list
}

// Unused lists the objects without effect on this node: they refer to a missing object, or the configuration file
// declares the same object.
func (r *Replication) Unused() []api.ReplicationRefused {
	return append([]api.ReplicationRefused{}, r.o.Unused(r.o.Store.Objects())...)
}

// patience is the time for which a peer may be unreachable, as during a restart, before Trouble reports it.
const patience = 30 * time.Second

// Trouble returns the reasons why operator state does not reach other nodes, or has no effect on this node. It returns
// nil without a fault, and if replication is disabled.
func (r *Replication) Trouble() (sentences []string) {
	settings := r.settings.Get()
	if off := settings.Off(); errors.Is(off, errNoSecret) {
		return []string{"what operators decide here does not reach other nodes: " + off.Error()}
	} else if off != nil {
		return nil
	}
	status := r.Status()
	for i := range status.Peers {
		p := &status.Peers[i]
		name := cmp.Or(p.NodeID, p.Peer)
		if why := r.peerProblem(p.Peer); p.Connected && why != "" {
			sentences = append(sentences, fmt.Sprintf("%s takes no part in replication of decisions from more than %s ahead of "+
				"a clock: %s: set the clocks", name, replica.MaxAhead, why))
		}
		if why := r.differenceOf(p.Peer); p.Connected && why != "" {
			sentences = append(sentences, name+why)
		}
		if p.Connected || p.Error == nil || time.Since(p.Since) < patience || r.isAway(p.Peer) {
			continue
		}
		waits := ""
		if status.Joining {
			waits = "; objects and deletions older than overwatch.replication.tombstone_retention are not exchanged until it " +
				"answers, or is taken out of the peers"
		}
		sentences = append(sentences, fmt.Sprintf("%s takes no part in replication since %s (%s): %s%s", name,
			p.Since.Format(time.RFC3339), lacks(p.Behind), *p.Error, waits))
	}
	if count := len(status.Refused); count > 0 {
		first := &status.Refused[0]
		sentences = append(sentences, fmt.Sprintf("%d decisions of other nodes have no effect here, the first of them "+
			"%s %s%s: %s", count, first.Kind, first.Name, origin(first), first.Reason))
	}
	return sentences
}

// isAway reports whether the peer at a URL is lost, or was lost within the time patience. Lost reports lost peers.
func (r *Replication) isAway(url string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.peers[url]
	return p != nil && (p.presence.lost(time.Now()) || time.Since(p.presence.back) < patience)
}

// origin returns the known nodes from which a rejected object comes.
func origin(o *api.ReplicationRefused) (text string) {
	if o.Node != "" {
		text = ", changed on " + o.Node
	}
	if o.Peer != "" {
		text += ", sent by " + o.Peer
	}
	return text
}

// peerProblem returns why a peer and this node do not accept all objects of each other, or "" if they do.
func (r *Replication) peerProblem(url string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch p := r.peers[url]; {
	case p == nil: // no longer a peer
		return ""
	case p.refused:
		return "this node refuses some that it has"
	case p.difference.Abs() > replica.MaxAhead:
		return fmt.Sprintf("its clock is %s off this node's", p.difference.Abs().Round(time.Second))
	}
	return ""
}

// unlikePatience is the time for which a connected peer may have different objects before Trouble reports it.
const unlikePatience = 2 * time.Minute

// differenceOf describes the difference between the objects of a connected peer and of this node. It returns "" for
// equal objects and during unlikePatience.
func (r *Replication) differenceOf(url string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.peers[url]
	if p == nil || p.unlike.IsZero() || p.differing == 0 || time.Since(p.unlike) < unlikePatience {
		return ""
	}
	return fmt.Sprintf(" holds other objects than this node since %s: %d differ, the first of them %s %s. Both nodes "+
		"compare all objects every minute. Set the clocks of both; if they still differ, save or delete these objects again",
		p.unlike.UTC().Format(time.RFC3339), p.differing, p.first.Kind, p.first.Name)
}

func lacks(objects int) string {
	if objects == 0 {
		return "it has all objects of this node"
	}
	return fmt.Sprintf("it lacks %d objects of this node", objects)
}

// behind returns the number of objects that a peer has not stored yet. The caller holds mu.
func (r *Replication) behind(p *peer) int {
	has := uint64(0)
	if v := r.pollers[p.node]; v != nil && p.node != "" {
		has = v.has
	}
	return r.o.Store.ChangedSince(has)
}

// metrics collects the figures at a scrape.
type metrics struct {
	r                                               *Replication
	objects, tombstones, refused, connected, behind *prometheus.Desc
}

func newMetrics(r *Replication) *metrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("gslb_replication_"+name, help, labels, nil)
	}
	return &metrics{r: r,
		objects:    desc("objects", "Decisions of operators that nodes have alike."),
		tombstones: desc("tombstones", "Deletions that are remembered."),
		refused:    desc("refused", "Stored objects of other nodes that have no effect here."),
		connected:  desc("peer_connected", "1 while the peer answers.", "peer"),
		behind:     desc("peer_behind", "Decisions that the peer has not stored yet.", "peer"),
	}
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.objects, m.tombstones, m.refused, m.connected, m.behind} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	s := m.r.Status()
	gauge := func(d *prometheus.Desc, value int, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(value), labels...)
	}
	gauge(m.objects, s.Objects)
	gauge(m.tombstones, s.Tombstones)
	gauge(m.refused, len(s.Refused))
	for i := range s.Peers {
		p, connected := &s.Peers[i], 0
		if p.Connected {
			connected = 1
		}
		gauge(m.connected, connected, p.Peer)
		gauge(m.behind, p.Behind, p.Peer)
	}
}
