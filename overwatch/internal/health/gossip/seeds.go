package gossip

import (
	"context"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

const (
	seedFirstPause = time.Second      // after the first failure; doubled by each further failure
	seedLongPause  = 15 * time.Second // the longest pause after a failure
	seedRefresh    = 30 * time.Second // after a success, to detect a restarted node
	resolveTime    = 3 * time.Second
)

// syncWithSeed exchanges state with a seed periodically. It resolves the name each time.
func (n *Node) syncWithSeed(ctx context.Context, seed string) error {
	logger := n.options.Logger.With().Str("seed", seed).Logger()
	failing, pause := false, seedFirstPause
	for ctx.Err() == nil {
		err := n.joinSeed(ctx, seed)
		wait := seedRefresh
		if err != nil {
			wait, pause = pause, min(2*pause, seedLongPause)
		} else {
			pause = seedFirstPause
		}
		n.seeds.recordAttempt(seed, err == nil, time.Now())
		if failing != (err != nil) {
			failing = err != nil
			logSeed(logger, err)
		}
		select {
		case <-time.After(wait - rand.N(wait/4)):
		case <-ctx.Done():
		}
	}
	return nil
}

// syncWithPeers exchanges state with all Options.Peers periodically. It does not report errors: the exchange of keys
// with the same peers reports them.
func (n *Node) syncWithPeers(ctx context.Context) error {
	ticker := time.NewTicker(seedFirstPause)
	defer ticker.Stop()
	due := map[string]time.Time{}
	for {
		peers := n.options.Peers()
		for id, at := range peers {
			if id == n.options.NodeID || time.Now().Before(due[id]) {
				continue
			}
			pause := seedRefresh
			if _, err := n.list.Join([]string{at.String()}); err != nil {
				pause = seedLongPause
			}
			due[id] = time.Now().Add(pause - rand.N(pause/4))
		}
		maps.DeleteFunc(due, func(id string, _ time.Time) bool { return !peers[id].IsValid() })
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// seeds contains the seeds that this node has never reached, with the time of the first attempt.
type seeds struct {
	mu    sync.Mutex
	tried map[string]time.Time // zero: reached
}

func (s *seeds) recordAttempt(seed string, reached bool, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tried == nil {
		s.tried = map[string]time.Time{}
	}
	if _, known := s.tried[seed]; reached || !known {
		s.tried[seed] = now
		if reached {
			s.tried[seed] = time.Time{}
		}
	}
}

// SilentNode is another overwatch node that does not answer.
type SilentNode struct {
	Node      string    // node name, or the seed that never answered
	Since     time.Time // time of the last answer, or of the first attempt
	NeverSeen bool      // it never answered
}

// SilentNodes lists the members that are not alive, and the seeds that never answered. Without seeds it returns nil,
// since the exchange of keys reports silent peers.
func (n *Node) SilentNodes() (list []SilentNode) {
	if len(n.options.Seeds) == 0 {
		return nil
	}
	never := n.UnreachedSeeds()
	for _, m := range n.Members() {
		delete(never, m.Address.String()) // the seed is a member
		if !m.Self && m.Status != StatusAlive {
			list = append(list, SilentNode{Node: m.Name, Since: m.LastSeen})
		}
	}
	for _, seed := range slices.Sorted(maps.Keys(never)) {
		list = append(list, SilentNode{Node: seed, Since: never[seed], NeverSeen: true})
	}
	return list
}

// UnreachedSeeds returns the seeds without a successful exchange since the start, with the time of the first attempt.
func (n *Node) UnreachedSeeds() map[string]time.Time {
	n.seeds.mu.Lock()
	defer n.seeds.mu.Unlock()
	never := map[string]time.Time{}
	for seed, since := range n.seeds.tried {
		if !since.IsZero() {
			never[seed] = since
		}
	}
	return never
}

func logSeed(logger zerolog.Logger, err error) {
	if err != nil {
		logger.Warn().Err(err).Msg("other overwatch node not reached; this node retries")
		return
	}
	logger.Info().Msg("other overwatch node reached")
}

func (n *Node) joinSeed(ctx context.Context, seed string) error {
	host, port, err := net.SplitHostPort(seed)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTime)
	defer cancel()
	number, err := net.DefaultResolver.LookupPort(ctx, "udp", port)
	if err != nil {
		return err
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return err
	}
	for _, a := range addrs {
		if _, err = n.list.Join([]string{net.JoinHostPort(a.Unmap().String(), strconv.Itoa(number))}); err == nil {
			return nil
		}
	}
	return err
}
