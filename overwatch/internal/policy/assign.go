package policy

// assignPositions returns the first candidate of each position of a cycle with sum(parts) positions. Candidate i has
// parts[i] positions, distributed by earliest deadline first.
func assignPositions(parts []int) []uint32 {
	length := 0
	for _, n := range parts {
		length += n
	}
	var due deadlines
	released := newCalendar(length, len(parts))
	done := make([]int, len(parts))
	for i := range parts {
		released.add(0, i)
	}
	lead := make([]uint32, length)
	for t := range lead {
		for i := released.first[t]; i >= 0; i = released.next[i] {
			due.push(packDeadline(ceil((done[i]+1)*length, parts[i]), i))
		}
		i := candidateOf(due.pop())
		lead[t] = uint32(i)
		if done[i]++; done[i] < parts[i] {
			released.add(max(done[i]*length/parts[i], t+1), i)
		}
	}
	return lead
}

// packDeadline packs a position and a candidate into one number: the candidate's next answer must precede the position.
// Lower numbers are more urgent; the lower candidate has priority in a tie.
func packDeadline(position, candidate int) uint64 { return uint64(position)<<32 | uint64(candidate) }

// candidateOf returns the candidate of a packed deadline.
func candidateOf(deadline uint64) int { return int(uint32(deadline)) }

// deadlines is a binary min-heap.
type deadlines []uint64

// push adds a deadline.
func (d *deadlines) push(x uint64) {
	*d = append(*d, x)
	h := *d
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if h[parent] <= h[i] {
			return
		}
		h[parent], h[i] = h[i], h[parent]
		i = parent
	}
}

// pop removes and returns the earliest deadline.
func (d *deadlines) pop() uint64 {
	h := *d
	least := h[0]
	h[0] = h[len(h)-1]
	h = h[:len(h)-1]
	*d = h
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(h) {
			return least
		}
		if child+1 < len(h) && h[child+1] < h[child] {
			child++
		}
		if h[i] <= h[child] {
			return least
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

// calendar lists the candidates by the earliest position of their next answer. Each candidate is in at most one list.
type calendar struct{ first, next []int }

// newCalendar returns an empty calendar.
func newCalendar(length, candidates int) *calendar {
	c := &calendar{make([]int, length), make([]int, candidates)}
	for t := range c.first {
		c.first[t] = -1
	}
	return c
}

// add adds a candidate to the list of a position.
func (c *calendar) add(position, candidate int) {
	c.next[candidate] = c.first[position]
	c.first[position] = candidate
}

// ceil returns a/b, rounded up.
func ceil(a, b int) int { return (a + b - 1) / b }
