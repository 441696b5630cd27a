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
	// helloPause is the minimum time between a Hello and the next Hello that a ping or a Reject causes, because any sender
	// with the gossip key can send these.
	helloPause = time.Second
	// helloSpread is the time over which agents spread their Hellos after a node becomes reachable.
	helloSpread = 250 * time.Millisecond
	// busySpread is the time over which agents spread their next Hellos if the node has no free stream. It doubles with
	// each such consecutive Hello, up to maxPause, so that many agents do not overload the node.
	busySpread = 2 * time.Second
)

// contact is the link's knowledge about reaching its node.
type contact struct {
	at    time.Time // time of the next Hello; zero: none
	last  time.Time // time of the last Hello
	busy  bool      // a Hello is in progress
	lost  bool      // no Hello succeeds, and no ping is answered or the certificate differs from the pin
	retry backoff
	crowd int    // consecutive Hellos for which the node had no free stream
	told  string // the last logged error
}

// wantHello schedules a Hello soon, unless a Hello is already scheduled.
func (l *link) wantHello(now time.Time) {
	if !l.contact.at.IsZero() || l.contact.busy {
		return
	}
	l.contact.at = now.Add(rand.N(helloSpread))
	if earliest := l.contact.last.Add(helloPause); l.contact.at.Before(earliest) {
		l.contact.at = earliest
	}
}

// sayHello requests the node's Hello.
func (l *link) sayHello(ctx context.Context, now time.Time) {
	if l.contact.busy {
		return
	}
	var sealed []byte
	started := l.startTask(func() (err error) {
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

// greeted handles the node's Hello. The certificate in the Hello must have sealed it and must equal the pinned
// certificate.
func (l *link) greeted(message []byte, now time.Time) error {
	node, hello, err := openHello(message)
	if err != nil {
		return &contactError{reasonHello, err}
	}
	keys, err := l.agree(node, &hello)
	if err != nil {
		return &contactError{reasonHello, err}
	}
	switch err := l.pins.check(l.address, node.KeyID, hello.NodeID); {
	case errors.Is(err, errNotKept):
		l.logger.Warn().Err(err).Msg("node accepted for now; make data_dir writable")
	case err != nil:
		if errors.Is(err, errOtherCertificate) {
			l.reject(node, &hello)
		}
		return &contactError{reasonCertificate, err}
	}
	l.strangers.remove(l.address)
	l.contact.retry.reset()
	l.contact.lost, l.contact.at, l.contact.crowd = false, time.Time{}, 0
	if l.pings.missed >= lostPings {
		l.contact.at = now.Add(max(l.options.Interval, helloPause)) // no ping will indicate a restart
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
	l.session = &session{node: node, hello: hello, boot: hello.BootNonce, keys: keys, enrolAt: now,
		enrolFrom: l.seq.Load() + 1,
		retry:     backoff{first: time.Second}}
	l.beat = beat{}
	return nil
}

// agree derives the session between this process and the node process that sent the Hello.
func (l *link) agree(node *identity.Certificate, hello *wire.Hello) (*identity.Session, error) {
	session, err := l.exchange.Agree(identity.Pairing{
		Agent: l.options.Identity.KeyID, Node: node.KeyID, Boot: hello.BootNonce, Epoch: l.epoch,
		AgentShare: l.exchange.Share(), NodeShare: hello.Share,
	})
	if err != nil {
		return nil, fmt.Errorf("its Hello offers no usable session: %w: it needs version 0.9.0 or later", err)
	}
	return session, nil
}

// openHello opens a Hello, which must be signed with the key of the certificate that it contains.
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
	if node.KeyID != sealed.KeyID || sealed.BootNonce != hello.BootNonce ||
		!sealed.Verify(identity.NodeToAgent, node.PublicKey) {
		return nil, hello, errors.New("its Hello is not sealed by the certificate in it")
	}
	return node, hello, nil
}

// resume continues the session after an interruption.
func (l *link) resume(now time.Time) {
	l.contact.lost = false
	if s := l.session; s.reporting && l.pings.cut {
		l.beat.at = now
	}
	l.pings.cut = false
}

// unreached records a failed Hello and schedules the next Hello.
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
		l.logger.Warn().Str("reason", string(why.reason)).Err(err).Msg(
			"overwatch node not reached; the agent retries, at least every 15 s")
	}
}

// crowdPause returns the pause after a Hello that found no free stream. before is the number of previous Hellos of this
// kind.
func crowdPause(before int) time.Duration {
	return helloSpread + rand.N(min(busySpread<<min(before, 16), maxPause-helloSpread))
}

// connected records that the node accepts this agent's messages.
func (l *link) connected() {
	l.metrics.connected.WithLabelValues(l.address).Set(1)
	l.status.edit(func(s *NodeState) {
		if !s.Connected {
			s.Connected, s.Since = true, time.Now()
		}
	})
}

// disconnected records that the node does not accept this agent's messages.
func (l *link) disconnected() {
	l.metrics.connected.WithLabelValues(l.address).Set(0)
	l.status.edit(func(s *NodeState) {
		if s.Connected {
			s.Connected, s.Since = false, time.Now()
		}
	})
}
