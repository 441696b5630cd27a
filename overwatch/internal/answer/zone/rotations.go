package zone

import "math/rand/v2"

// Rotations holds the rotation positions of a socket for all names. It must be used by one goroutine at a time and by
// one socket only, because shares are exact for each socket.
type Rotations struct {
	list    []rotation
	random  *rand.PCG
	fetched uint32 // checksum of Prefetch, which prevents the compiler from removing the reads
}

// rotation is a position in the schedule of one generation of candidates, and invalid for another generation. All
// Writers share the generation numbers, which can wrap.
type rotation struct{ generation, position uint32 }

// isFor reports whether the rotation is a position in the schedule of c.
func (r rotation) isFor(c *candidates) bool {
	return r.generation == c.generation && r.position < c.schedule.Len()
}

// NewRotations returns Rotations that start each schedule at a pseudo-random position, which depends on the seeds.
func NewRotations(seed1, seed2 uint64) *Rotations {
	return &Rotations{random: rand.NewPCG(seed1, seed2)}
}

// advance returns the current position in the schedule of c, and moves to the next.
func (r *Rotations) advance(c *candidates) uint32 {
	if c.schedule.Len() == 1 { // a schedule with one position needs no state
		return 0
	}
	index := c.rotationIndex
	if int(index) >= len(r.list) {
		r.list = append(r.list, make([]rotation, int(index)+1-len(r.list))...)
	}
	current := &r.list[index]
	if !current.isFor(c) {
		current.generation = c.generation
		current.position = c.schedule.Start(uint32(r.random.Uint64()))
	}
	position := current.position
	if current.position++; current.position == c.schedule.Len() {
		current.position = 0
	}
	return position
}

// peekPosition returns the position that advance will return. known is false if advance will choose a random position.
func (r *Rotations) peekPosition(c *candidates) (position uint32, known bool) {
	if c.schedule.Len() == 1 { // independent of the rotation of an earlier, longer schedule
		return 0, true
	}
	current := r.rotationAt(c.rotationIndex)
	return current.position, current.isFor(c)
}

// rotationAt returns the rotation at an index. The rotation can belong to other candidates.
func (r *Rotations) rotationAt(index uint32) rotation {
	if int(index) < len(r.list) {
		return r.list[index]
	}
	return rotation{}
}
