package report

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

const (
	// helloPause is the least time between two Hellos: whoever has the gossip key can make one seem necessary.
	helloPause = time.Second
	// helloSpread is the time over which agents spread their Hellos when their node is back.
	helloSpread = 250 * time.Millisecond
	// busySpread is the time over which agents spread their next Hellos when their node takes no more streams. It doubles with each
	// Hello in a row that finds the node so, up to maxPause: many agents at once would else keep the node busy with refusing them.
	busySpread = 2 * time.Second
)

// contact is what a link knows about reaching its node.
type contact struct {
	at    time.Time // when to say Hello; zero: no need
	last  time.Time // when it was said last
	busy  bool      // one is under way
	lost  bool      // the node cannot be reached at all
	retry backoff
	crowd int    // Hellos in a row for which the node had no stream
	told  string // the trouble that was logged last
}

// wantHello makes a Hello due soon, unless one is due already.
func (l *link) wantHello(now time.Time) {
	if !l.contact.at.IsZero() || l.contact.busy {
		return
	}
	l.contact.at = now.Add(rand.N(helloSpread))
	if earliest := l.contact.last.Add(helloPause); l.contact.at.Before(earliest) {
		l.contact.at = earliest
	}
}

// sayHello asks the node who it is.
func (l *link) sayHello(ctx context.Context, now time.Time) {
	if l.contact.busy {
		return
	}
	var sealed []byte
	started := l.task(func() (err error) {
		sealed, err = l.peer.hello(ctx)
		return err
	}, func(err error, now time.Time) {
		l.contact.busy = false
		if err == nil {
			err = l.greeted(sealed, now)
		}
		if err != nil {
			l.unreached(err, now)
		}
	})
	if started {
		l.contact.busy, l.contact.last, l.contact.at = true, now, time.Time{}
	} else {
		l.contact.at = now.Add(helloSpread)
	}
}

// greeted takes the node's Hello: sealed by the certificate in it, which must be the one that is pinned.
func (l *link) greeted(message []byte, now time.Time) error {
	node, hello, err := openHello(message)
	if err != nil {
		return &contactError{reasonHello, err}
	}
	switch err := l.pins.check(l.address, node.KeyID); {
	case errors.Is(err, errNotKept):
		l.logger.Warn().Err(err).Msg("node accepted for now; make data_dir writable")
	case err != nil:
		return &contactError{reasonCertificate, err}
	}
	l.contact.retry.reset()
	l.contact.lost, l.contact.at, l.contact.crowd = false, time.Time{}, 0
	if l.pings.missed >= lostPings {
		l.contact.at = now.Add(max(l.options.Interval, helloPause)) // no ping will tell of a restart
	}
	l.status.edit(func(s *NodeState) { s.NodeID, s.Version, s.LastError = hello.NodeID, hello.Version, "" })
	if l.contact.told != "" {
		l.logger.Info().Str("node_id", hello.NodeID).Msg("overwatch node reached")
		l.contact.told = ""
	}
	if s := l.session; s != nil && s.boot == hello.BootNonce && s.node.KeyID == node.KeyID {
		l.resume(now)
		return nil
	}
	l.session = &session{node: node, hello: hello, boot: hello.BootNonce, keys: l.agree(node, &hello), enrolAt: now, enrolFrom: l.seq.Load() + 1,
		retry: backoff{first: time.Second}}
	l.beat = beat{}
	return nil
}

// agree derives the session that a Hello offers, or none: then everything is signed.
func (l *link) agree(node *identity.Certificate, hello *wire.Hello) *identity.Session {
	if hello.Share == (identity.Share{}) {
		return nil
	}
	o := &l.options
	session, err := l.exchange.Agree(identity.Pairing{
		Agent: o.Identity.KeyID, Node: node.KeyID, Boot: hello.BootNonce, Epoch: o.Epoch, AgentShare: l.exchange.Share(), NodeShare: hello.Share,
	})
	if err != nil {
		l.logger.Warn().Err(err).Msg("no session with the overwatch node: everything is signed")
	}
	return session
}

// openHello checks that a Hello is sealed by the certificate it carries.
func openHello(message []byte) (*identity.Certificate, wire.Hello, error) {
	var hello wire.Hello
	sealed, err := identity.Parse(message)
	if err != nil {
		return nil, hello, err
	}
	if sealed.Major != wire.Major {
		return nil, hello, fmt.Errorf("it speaks version %d of the protocol, this agent version %d", sealed.Major, wire.Major)
	}
	if wire.Type(sealed.Type) != wire.TypeHello {
		return nil, hello, fmt.Errorf("it answered with a %s", wire.Type(sealed.Type))
	}
	if err := hello.UnmarshalBinary(sealed.Payload); err != nil {
		return nil, hello, err
	}
	node, err := identity.ParseCertificate(hello.Certificate)
	if err != nil {
		return nil, hello, err
	}
	if node.KeyID != sealed.KeyID || sealed.BootNonce != hello.BootNonce || !sealed.Verify(identity.NodeToAgent, node.PublicKey) {
		return nil, hello, errors.New("its Hello is not sealed by the certificate in it")
	}
	return node, hello, nil
}

// resume goes on with the session after a cut.
func (l *link) resume(now time.Time) {
	l.contact.lost = false
	if s := l.session; s.reporting && l.pings.cut {
		l.beat.at = now
	}
	l.pings.cut = false
}

// unreached notes that a Hello failed and plans the next.
func (l *link) unreached(err error, now time.Time) {
	why := &contactError{reason: reasonHello}
	errors.As(err, &why)
	l.metrics.contact.WithLabelValues(l.address, string(why.reason)).Inc()
	if why.reason == reasonBusy {
		l.contact.at = now.Add(crowdPause(l.contact.crowd))
		l.contact.crowd++
	} else {
		l.contact.crowd = 0
		l.contact.at = now.Add(l.contact.retry.next())
	}
	if l.session == nil || l.pings.missed >= lostPings || why.reason == reasonCertificate {
		l.contact.lost = true
		l.disconnected()
	}
	l.status.edit(func(s *NodeState) { s.LastError = err.Error() })
	if l.contact.told != err.Error() {
		l.contact.told = err.Error()
		l.logger.Warn().Str("reason", string(why.reason)).Err(err).Msg("overwatch node not reached; trying again, at most 15 s apart")
	}
}

// crowdPause is the pause after a Hello for which the node had no stream, by how many such there were before it.
func crowdPause(before int) time.Duration {
	return helloSpread + rand.N(min(busySpread<<min(before, 16), maxPause-helloSpread))
}

// connected notes that the node takes our messages.
func (l *link) connected() {
	l.metrics.connected.WithLabelValues(l.address).Set(1)
	l.status.edit(func(s *NodeState) {
		if !s.Connected {
			s.Connected, s.Since = true, time.Now()
		}
	})
}

// disconnected notes that it does not.
func (l *link) disconnected() {
	l.metrics.connected.WithLabelValues(l.address).Set(0)
	l.status.edit(func(s *NodeState) {
		if s.Connected {
			s.Connected, s.Since = false, time.Now()
		}
	})
}
