package policy

import (
	"encoding/binary"
	"sync"
)

// maxCachedPicks is the maximum number of picks of all cached schedules. When it is exceeded, the cache is cleared.
// Names retain their schedules; later names do not share them.
const maxCachedPicks = 1 << 22

// ScheduleCache creates schedules and returns one schedule for equal shares, so that 100 000 names with equal weights
// share a schedule. It is safe for concurrent use.
type ScheduleCache struct {
	mu        sync.Mutex
	schedules map[string]*Schedule
	picks     int // picks of all cached schedules
}

// NewScheduleCache returns an empty ScheduleCache.
func NewScheduleCache() *ScheduleCache {
	return &ScheduleCache{schedules: make(map[string]*Schedule)}
}

// Get returns the schedule of members, which must not be empty, with answers distinct addresses per answer. Candidate i
// of the schedule is member i.
func (s *ScheduleCache) Get(due []Member, answers int) *Schedule {
	parts, _ := leastParts(partsOf(due))
	var room [64]byte
	key := binary.AppendUvarint(room[:0], uint64(min(answers, len(due))))
	for _, n := range parts {
		key = binary.AppendUvarint(key, uint64(n))
	}
	s.mu.Lock()
	schedule := s.schedules[string(key)]
	s.mu.Unlock()
	if schedule != nil {
		return schedule
	}
	return s.store(string(key), newSchedule(parts, answers)) // outside the lock, because the creation can be slow
}

// store caches a schedule and returns it. If another goroutine has already cached a schedule for the key, it returns
// the cached schedule.
func (s *ScheduleCache) store(key string, schedule *Schedule) *Schedule {
	s.mu.Lock()
	defer s.mu.Unlock()
	if faster := s.schedules[key]; faster != nil {
		return faster
	}
	if s.picks += int(schedule.length) * schedule.size; s.picks > maxCachedPicks {
		clear(s.schedules)
		s.picks = 0
	}
	s.schedules[key] = schedule
	return schedule
}
