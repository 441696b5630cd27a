package trust

import (
	"net/netip"
	"slices"
	"time"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

const (
	// maxFormer is the maximum number of earlier processes of an agent with a stored window.
	maxFormer = 8
	// twinGrace is the time after the first message of a process in which messages of an earlier process are dropped,
	// because they may have been delayed in the network.
	twinGrace = 2 * time.Second
	// minTwinInterval and maxTwinInterval are the bounds of the heartbeat interval in messages of an earlier process.
	minTwinInterval = time.Second
	maxTwinInterval = time.Hour
	// twinMessages is the number of messages of an earlier process that make the agent a duplicate.
	twinMessages = 2
	// twinBeats is the number of heartbeat intervals after the last message of an earlier process in which the agent
	// stays a duplicate.
	twinBeats = 2
)

// processes records the processes that have sent authentic messages with the certificate. pinned.mu guards it.
//
// The node accepts only the process with the latest epoch. An earlier process that still sends messages is a duplicate:
// the agent's data_dir was copied.
type processes struct {
	began    time.Duration     // first accepted message of the latest process
	lastSeen time.Duration     // last accepted message of the latest process
	hasLeft  bool              // the latest process has sent its leave message
	former   []identity.Window // windows of at most maxFormer earlier processes, sorted by epoch

	twinFrom  netip.Addr    // source of the last message of an earlier process
	twinAt    time.Duration // time of this message
	twinCount int           // consecutive messages of earlier processes without a long pause
	twinEvery time.Duration // heartbeat interval of the earlier process
}

// recordAccepted records an accepted message. before is the previous window.
func (p *processes) recordAccepted(before identity.Window, epoch uint64, kind wire.Type, now time.Duration) {
	if epoch != before.Epoch() {
		p.began, p.twinCount = now, 0
		if before.Epoch() != 0 {
			p.former = append(p.former[max(len(p.former)+1-maxFormer, 0):], before)
		}
	}
	p.lastSeen, p.hasLeft = now, kind == wire.TypeDeregister
}

// acceptFormer accepts a message of an earlier process if it is newer than all accepted messages of the process. It
// reports whether it accepted the message. If there are maxFormer windows, it rejects processes before all of them,
// because their messages may be recordings. The caller has verified the signature.
func (p *processes) acceptFormer(epoch, seq uint64) bool {
	at := slices.IndexFunc(p.former, func(w identity.Window) bool { return w.Epoch() >= epoch })
	switch {
	case at >= 0 && p.former[at].Epoch() == epoch:
		return p.former[at].Accept(epoch, seq)
	case at == 0 && len(p.former) >= maxFormer:
		return false
	case at < 0:
		at = len(p.former)
	}
	var w identity.Window
	w.Accept(epoch, seq)
	p.former = slices.Insert(p.former, at, w)
	p.former = p.former[max(len(p.former)-maxFormer, 0):]
	return true
}

// isDuplicate reports whether an earlier process sent a message within the last twinBeats intervals.
func (p *processes) isDuplicate(now time.Duration) bool {
	return p.twinCount >= twinMessages && now-p.twinAt <= twinBeats*p.twinEvery
}

// isLatestSilent reports whether the last message of the latest process is older than five quarters of the heartbeat
// interval of the earlier process.
func (p *processes) isLatestSilent(now time.Duration) bool {
	return now-p.lastSeen > p.twinEvery+p.twinEvery/4
}

// refuseOld rejects a message that is not newer than the last accepted message. If an earlier process of the agent sent
// it, the process must wait, or must enroll with a later epoch once the latest process is silent. The node never
// applies such a message: only a later epoch proves that the process is running, because a recording cannot contain the
// epoch.
func (a *attempt) refuseOld() *Refusal {
	p := a.pinned
	kind := wire.Type(a.sealed.Type)
	p.mu.Lock()
	earlier := a.sealed.Epoch < p.window.Epoch() && a.elapsed-p.processes.began >= twinGrace
	p.mu.Unlock()
	if !earlier || a.sealed.InSession() || kind == wire.TypeDeregister || !a.answers.mayCheck(a.elapsed) {
		return a.dropMessage(ReasonReplay, "")
	}
	if !a.sealed.Verify(identity.AgentToNode, p.certificate.PublicKey) {
		return a.dropMessage(ReasonSignature, "")
	}
	p.mu.Lock()
	fresh := p.processes.acceptFormer(a.sealed.Epoch, a.sealed.Seq)
	var silent, first bool
	if fresh {
		first = a.recordTwin()
		if p.processes.isDuplicate(a.elapsed) {
			a.troubles.record(Trouble{AgentID: p.id, Code: wire.CodeDuplicate, KeyID: a.sealed.KeyID, Detail: duplicateDetail,
				From: a.origin.Addr(), Since: a.now, until: a.elapsed + twinBeats*p.processes.twinEvery}, a.elapsed)
		}
		// Other messages do not state the interval, so they prove nothing about the silence of the latest process.
		silent = p.processes.hasLeft || kind == wire.TypeHeartbeat && p.processes.isLatestSilent(a.elapsed)
	}
	newest := p.window.Epoch()
	p.mu.Unlock()
	if !fresh {
		return a.dropMessage(ReasonReplay, "")
	}
	if first {
		a.log.Error().Str("agent_id", p.id).Stringer("from", a.origin.Addr()).Msg("two agents use the same identity: " +
			"one data_dir is a copy of the other; stop one of the two, run gslb-agent --reset-identity there and give it " +
			"its own agent_id")
	}
	code, detail := wire.CodeDuplicate, duplicateDetail
	if silent {
		code, detail = wire.CodeNewEpoch, newEpochDetail
	}
	r := a.refusalOf(code, "", detail)
	r.Epoch = newest
	return r
}

const (
	duplicateDetail = "a later process with this agent's certificate reports to this node: data_dir was copied"
	newEpochDetail  = "a later process with this agent's certificate has reported to this node and stopped"
)

// recordTwin records a message of an earlier process, and reports whether the agent has become a duplicate by this
// message. The caller holds pinned.mu.
func (a *attempt) recordTwin() (first bool) {
	p := &a.pinned.processes
	before := p.isDuplicate(a.elapsed)
	if p.twinCount == 0 || a.elapsed-p.twinAt > twinBeats*p.twinEvery {
		p.twinEvery, p.twinCount = minTwinInterval, 0
	}
	p.twinFrom, p.twinAt = a.origin.Addr(), a.elapsed
	p.twinCount++
	var m wire.Heartbeat
	if wire.Type(a.sealed.Type) == wire.TypeHeartbeat && m.UnmarshalBinary(a.sealed.Payload) == nil {
		every := time.Duration(m.IntervalMillis) * time.Millisecond
		p.twinEvery = min(max(every, minTwinInterval), maxTwinInterval)
	}
	return !before && p.isDuplicate(a.elapsed)
}

// isDuplicate reports whether an earlier process of the agent also sends messages.
func (p *pinned) isDuplicate(elapsed time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.processes.isDuplicate(elapsed)
}
