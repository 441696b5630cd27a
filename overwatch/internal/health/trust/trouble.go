package trust

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

const (
	// maxTroubles is the maximum number of troubles of a node.
	maxTroubles = 1024
	// troubleLasts is the lifetime of a trouble after the last rejection: three times the longest pause between two
	// attempts of an agent to enroll.
	troubleLasts = 45 * time.Second
)

// Trouble is a fault of an agent that an operator must repair: rejected messages, or a copy of its identity. The
// evidence is authentic: the pinned certificate, or the proof of a service token.
type Trouble struct {
	AgentID string
	Code    wire.RejectCode
	KeyID   identity.KeyID // key id of the certificate that sealed the message
	Service string         // "" for the agent as a whole
	Detail  string         // a sentence for operators
	From    netip.Addr     // unproved source of the last message
	Since   time.Time

	until time.Duration // end of the trouble unless another message arrives
}

// troubleKey distinguishes the certificates that use the same agent id.
type troubleKey struct {
	agentID string
	key     identity.KeyID
}

// troubles contains the current troubles, at most one for each certificate.
type troubles struct {
	mu  sync.Mutex
	all map[troubleKey]*Trouble
}

// record adds or renews a trouble. The first message of a trouble sets Since.
func (t *troubles) record(one Trouble, now time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.all, func(_ troubleKey, old *Trouble) bool { return old.until <= now })
	key := troubleKey{one.AgentID, one.KeyID}
	if old := t.all[key]; old != nil && old.Code == one.Code {
		one.Since = old.Since
	} else if old == nil && len(t.all) >= maxTroubles {
		return
	}
	t.all[key] = &one
}

// remove removes the troubles of an agent with a certificate. The zero key means all certificates.
func (t *troubles) remove(agentID string, key identity.KeyID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if key != (identity.KeyID{}) {
		delete(t.all, troubleKey{agentID, key})
		return
	}
	maps.DeleteFunc(t.all, func(k troubleKey, _ *Trouble) bool { return k.agentID == agentID })
}

// Troubles lists the troubles of agents, ordered by agent id.
func (t *Trust) Troubles() []Trouble {
	_, now := t.clock.readTime()
	t.troubles.mu.Lock()
	defer t.troubles.mu.Unlock()
	list := []Trouble{}
	for _, one := range t.troubles.all {
		if one.until > now {
			list = append(list, *one)
		}
	}
	slices.SortFunc(list, func(a, b Trouble) int {
		return cmp.Or(cmp.Compare(a.AgentID, b.AgentID), slices.Compare(a.KeyID[:], b.KeyID[:]))
	})
	return list
}

// recordTrouble records an authentic rejection that requires an operator.
func (a *attempt) recordTrouble(r *Refusal) {
	switch r.Code {
	case wire.CodeExpired, wire.CodeNotYetValid, wire.CodePinMismatch, wire.CodeWrongToken, wire.CodeUnknownService,
		wire.CodeLimit, wire.CodeLocked:
	default: // intended, or repaired by the agent
		return
	}
	if a.pinned == nil { // any sender with the gossip key can create a certificate
		if proved, _ := a.checkProofs(); len(proved) == 0 {
			return
		}
	}
	a.troubles.record(Trouble{AgentID: r.AgentID, Code: r.Code, KeyID: r.KeyID, Service: r.Service, Detail: r.Detail,
		From: a.origin.Addr(), Since: a.now, until: a.elapsed + troubleLasts}, a.elapsed)
}
