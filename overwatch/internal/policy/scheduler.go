package policy

import "encoding/binary"

// maxKeptPicks is how many picks, over all its schedules, a Scheduler remembers before it forgets them all. Schedules in use
// live on with the names that use them; what is lost is only that later names share with earlier ones.
const maxKeptPicks = 1 << 22

// Scheduler makes schedules and hands the same one out for the same shares, so that a hundred thousand names with equal
// weights hold one. It belongs to one goroutine.
type Scheduler struct {
	kept  map[string]*Schedule
	picks int // of all that are kept
	key   []byte
}

// NewScheduler makes an empty Scheduler.
func NewScheduler() *Scheduler {
	return &Scheduler{kept: make(map[string]*Schedule)}
}

// For is the schedule over due, which is not empty, with answers distinct addresses at a time; candidate i of the
// schedule is due[i].
func (s *Scheduler) For(due []Due, answers int) *Schedule {
	divisor := 0
	for _, d := range due {
		divisor = gcd(divisor, d.Parts)
	}
	parts := make([]int, len(due))
	s.key = binary.AppendUvarint(s.key[:0], uint64(min(answers, len(due))))
	for i, d := range due {
		parts[i] = d.Parts / divisor
		s.key = binary.AppendUvarint(s.key, uint64(parts[i]))
	}
	if schedule, ok := s.kept[string(s.key)]; ok {
		return schedule
	}
	schedule := newSchedule(parts, answers)
	if s.picks += int(schedule.length) * schedule.size; s.picks > maxKeptPicks {
		clear(s.kept)
		s.picks = 0
	}
	s.kept[string(s.key)] = schedule
	return schedule
}
