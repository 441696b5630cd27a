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
	seedFirstPause = time.Second      // after the first failure, doubled by each further one
	seedLongPause  = 15 * time.Second // the longest pause after a failure
	seedRefresh    = 30 * time.Second // after a success: a node that restarted is found again
	resolveTime    = 3 * time.Second
)

// keepSeed exchanges state with one seed again and again. The name is looked up each time.
func (n *Node) keepSeed(ctx context.Context, seed string) error {
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
		n.seeds.note(seed, err == nil, time.Now())
		if failing != (err != nil) {
			failing = err != nil
			tellSeed(logger, err)
		}
		select {
		case <-time.After(wait - rand.N(wait/4)):
		case <-ctx.Done():
		}
	}
	return nil
}

// keepPeers exchanges state with each of Options.Peers again and again. It does not report a peer that fails: the
// exchange of keys, which calls the same peers, does.
func (n *Node) keepPeers(ctx context.Context) error {
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

// seeds remembers which seeds have never been reached, and since when they are tried.
type seeds struct {
	mu    sync.Mutex
	tried map[string]time.Time // zero: reached
}

func (s *seeds) note(seed string, reached bool, now time.Time) {
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

// Unheard is another overwatch node that this one does not hear.
type Unheard struct {
	Node  string    // its name, or the seed where nothing was ever heard
	Since time.Time // when it was last heard, or first tried
	Never bool      // nothing was ever heard of it
}

// Unheard lists the members that do not count as alive, and the seeds at which no node was ever reached. Without seeds
// it lists none: the exchange of keys, which knows the peers then, reports those that do not answer.
func (n *Node) Unheard() (list []Unheard) {
	if len(n.options.Seeds) == 0 {
		return nil
	}
	never := n.UnreachedSeeds()
	for _, m := range n.Members() {
		delete(never, m.Address.String()) // it was heard there, though it was never asked with success
		if !m.Self && m.Status != StatusAlive {
			list = append(list, Unheard{Node: m.Name, Since: m.LastSeen})
		}
	}
	for _, seed := range slices.Sorted(maps.Keys(never)) {
		list = append(list, Unheard{Node: seed, Since: never[seed], Never: true})
	}
	return list
}

// UnreachedSeeds returns the seeds that no exchange has succeeded with since the start, and when they were first tried.
// One that was reached is a member from then on.
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

func tellSeed(logger zerolog.Logger, err error) {
	if err != nil {
		logger.Warn().Err(err).Msg("other overwatch node not reached; trying again")
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
