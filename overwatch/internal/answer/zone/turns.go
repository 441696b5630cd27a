package zone

import "math/rand/v2"

// Turns holds the positions of one socket in the schedules of all names. It belongs to one goroutine at a time, and
// never to two sockets, since shares are exact per socket.
type Turns struct {
	at      []turn
	random  *rand.PCG
	fetched uint32 // what Fetch read, kept so that the compiler does not leave the reading out
}

// turn is a position in one edition of candidates; it means nothing in another. All Writers share the numbers of
// editions, which begin again some day.
type turn struct{ edition, position uint32 }

// of reports whether the turn is a position in these candidates.
func (t turn) of(c *candidates) bool { return t.edition == c.edition && t.position < c.schedule.Len() }

// NewTurns begins all schedules at places chosen with the seed.
func NewTurns(seed1, seed2 uint64) *Turns {
	return &Turns{random: rand.NewPCG(seed1, seed2)}
}

// next returns the position whose turn it is, and moves on.
func (t *Turns) next(c *candidates) uint32 {
	if c.schedule.Len() == 1 { // which is not worth remembering
		return 0
	}
	index := c.turn
	if int(index) >= len(t.at) {
		t.at = append(t.at, make([]turn, int(index)+1-len(t.at))...)
	}
	turn := &t.at[index]
	if !turn.of(c) {
		turn.edition = c.edition
		turn.position = c.schedule.Start(uint32(t.random.Uint64()))
	}
	position := turn.position
	if turn.position++; turn.position == c.schedule.Len() {
		turn.position = 0
	}
	return position
}

// coming returns the position that next will return. known is false where next will choose one.
func (t *Turns) coming(c *candidates) (position uint32, known bool) {
	if c.schedule.Len() == 1 { // whatever is left of a longer schedule
		return 0, true
	}
	turn := t.peek(c.turn)
	return turn.position, turn.of(c)
}

// peek returns the turn at an index, without a change. Its position may be one of other candidates.
func (t *Turns) peek(index uint32) turn {
	if int(index) < len(t.at) {
		return t.at[index]
	}
	return turn{}
}
