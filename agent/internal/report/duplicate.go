package report

import (
	"time"

	"gslb.internal/shared/wire"
)

// maxEpochLead is the maximum time by which a required epoch may be ahead of this machine's clock.
const maxEpochLead = 400 * 24 * time.Hour

// Two processes have one identity if data_dir was copied. A node accepts the process with the later epoch,
// and answers the earlier one with a Reject:
//
//	duplicate_identity  the later process reports: the earlier one sends signed heartbeats, at half the interval
//	new_epoch           the later process has stopped: the earlier one enrolls with a later epoch

// overtaken handles a Reject because of a process with a later epoch.
func (l *link) overtaken(reject *wire.Reject, now time.Time) {
	s := l.session
	l.refused.replace(l, scopeEnrol, []Rejection{{Code: wire.CodeDuplicate, Detail: reject.Detail}})
	l.metrics.failed.WithLabelValues(l.address).Inc()
	l.disconnected()
	l.setDuplicate(true)
	s.enrolled, s.keys, s.unheard, s.enrolAt = false, nil, 0, time.Time{} // the node has no session with this process
	if !s.reporting {
		s.reporting, l.beat.at = true, now
	}
	l.beat.answered(reject.AckedSeq)
	latest := uint64(now.Add(maxEpochLead).UnixMilli())
	if reject.Code == wire.CodeNewEpoch && reject.Epoch >= l.epoch && reject.Epoch < latest {
		l.renewAt = reject.Epoch + 1
	}
}

// successor returns a link with a later epoch if the node requires a later epoch, or else nil.
func (l *link) successor() *link {
	if l.renewAt == 0 {
		return nil
	}
	next := newLink(l.self, l.address, l.pins, l.metrics)
	next.epoch, next.dial = l.options.NextEpoch(l.renewAt), l.dial
	l.renewAt = 0
	var err error
	if next.peer, err = l.dial(next); err != nil {
		l.logger.Warn().Err(err).Msg(
			"this agent cannot take its identity back: the next answer of the node starts another attempt")
		return nil
	}
	l.logger.Warn().Msg("the other process with this agent's identity has stopped: this agent reports with a new epoch")
	next.refused, next.duplicate = l.refused, l.duplicate
	state := l.status.read()
	next.status.edit(func(s *NodeState) { *s = state })
	return next
}

// noteDuplicate records whether the node reports an earlier process with this agent's identity.
func (l *link) noteDuplicate(duplicate bool) {
	switch {
	case duplicate && !l.duplicate:
		l.logger.Error().Msg("another process uses this agent's identity: data_dir was copied; stop one of the two " +
			"agents, run gslb-agent --reset-identity there and give it its own agent.identity.agent_id")
	case !duplicate && l.duplicate:
		l.logger.Info().Msg("no other process uses this agent's identity now")
	}
	l.setDuplicate(duplicate)
}

func (l *link) setDuplicate(duplicate bool) {
	if l.duplicate != duplicate {
		l.duplicate = duplicate
		l.status.edit(func(s *NodeState) { s.Duplicate = duplicate })
		l.metrics.duplicate.WithLabelValues(l.address).Set(map[bool]float64{true: 1}[duplicate])
	}
}
