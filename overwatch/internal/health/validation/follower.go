package validation

import "time"

const (
	// followInterval is how soon a change of the targets is noticed: well below a second, at the price of one atomic load.
	followInterval = 200 * time.Millisecond
	// followShare bounds what following costs while targets change all the time, as when many agents appear at once: to
	// compare hundreds of thousands takes a while, so that is done at most every twenty times as long.
	followShare = 20
)

// follower keeps a schedule's targets those of the registry.
type follower struct {
	targets    Targets
	generation uint64
	earliest   time.Time // when it may look again
}

// follow brings the schedule up to date if the targets have changed.
func (f *follower) follow(s *schedule) {
	start := time.Now()
	// The generation first: a change between the two calls is then noticed later.
	generation := f.targets.TargetsGeneration()
	if s.initial >= 0 && (generation == f.generation || start.Before(f.earliest)) {
		return
	}
	f.generation = generation
	s.follow(f.targets.Targets(), start)
	f.earliest = start.Add(followShare * time.Since(start))
}
