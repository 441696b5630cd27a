package conditions

import (
	"fmt"
	"time"

	"gslb.internal/shared/api"
)

// unexchangedFor is the time after which a failing key exchange is reported, if the peer has answered earlier. It is
// longer than the detection of a lost peer, which has a separate condition.
const unexchangedFor = 5 * time.Second

// exchangeFailure is a failing key exchange with a peer.
type exchangeFailure struct {
	since time.Time // time of the first failure
	lost  time.Time // last time of a lost peer; zero: never
}

// walkKeys reports peers with a failing key exchange.
func (j *Judge) walkKeys(to report) {
	if j.o.KeySync == nil {
		return
	}
	const command = "gslbctl dnssec status"
	state := j.o.KeySync()
	switch {
	case !state.Enabled:
	case state.OffReason != nil:
		to(api.KeysNotExchanged, "", fixed("signing keys are not exchanged with the other nodes: "+*state.OffReason, command))
	default:
		lost := j.lostURLs()
		for i := range state.Peers {
			if p := &state.Peers[i]; j.failsToExchange(p, lost[p.Peer]) {
				to(api.KeysNotExchanged, p.Peer,
					fixed(fmt.Sprintf("signing keys are not exchanged with %s: %s", p.Peer, *p.Error), command))
			}
		}
	}
}

// failsToExchange reports whether the key exchange with a peer fails for a reason other than the loss of the peer. lost
// is true while the peer is lost. After a loss, the function considers only later attempts.
func (j *Judge) failsToExchange(p *api.DNSSECPeer, lost bool) bool {
	j.exchangeMu.Lock()
	defer j.exchangeMu.Unlock()
	if p.Error == nil {
		delete(j.exchange, p.Peer)
		return false
	}
	now := j.o.Now()
	f, known := j.exchange[p.Peer]
	if !known {
		f.since = now
	}
	if lost {
		f.lost = now
	}
	if j.exchange == nil {
		j.exchange = map[string]exchangeFailure{}
	}
	j.exchange[p.Peer] = f
	switch {
	case lost:
		return false
	case !f.lost.IsZero() && (p.LastAttempt == nil || !p.LastAttempt.After(f.lost)):
		return false
	}
	return p.LastSuccess == nil || now.Sub(f.since) >= unexchangedFor
}
