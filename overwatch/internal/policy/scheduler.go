package policy

import (
	"encoding/binary"
	"sync"
)

// maxKeptPicks bounds the picks of all the schedules that a Scheduler keeps. Beyond it, it drops them all. Names keep
// the schedules that they use; only later names no longer share with earlier ones.
const maxKeptPicks = 1 << 22

// Scheduler makes schedules and hands the same one out for the same shares, so that a hundred thousand names with equal
// weights hold one. Many goroutines may use it.
type Scheduler struct {
	mu    sync.Mutex
	kept  map[string]*Schedule
	picks int // of all that are kept
}

// NewScheduler makes an empty Scheduler.
func NewScheduler() *Scheduler {
	return &Scheduler{kept: make(map[string]*Schedule)}
}

// For returns the schedule over due, which must not be empty, with answers distinct addresses at a time. Candidate i of
// the schedule is due[i].
func (s *Scheduler) For(due []Due, answers int) *Schedule {
	parts, _ := leastParts(partsOf(due))
	var room [64]byte
	key := binary.AppendUvarint(room[:0], uint64(min(answers, len(due))))
	for _, n := range parts {
		key = binary.AppendUvarint(key, uint64(n))
	}
	s.mu.Lock()
	schedule := s.kept[string(key)]
	s.mu.Unlock()
	if schedule != nil {
		return schedule
	}
	return s.keep(string(key), newSchedule(parts, answers)) // which may take long, and nobody waits for it
}

// keep stores a schedule and returns it, or the one that another goroutine has stored meanwhile.
func (s *Scheduler) keep(key string, schedule *Schedule) *Schedule {
	s.mu.Lock()
	defer s.mu.Unlock()
	if faster := s.kept[key]; faster != nil {
		return faster
	}
	if s.picks += int(schedule.length) * schedule.size; s.picks > maxKeptPicks {
		clear(s.kept)
		s.picks = 0
	}
	s.kept[key] = schedule
	return schedule
}
