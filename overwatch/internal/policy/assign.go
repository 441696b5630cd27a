package policy

// assign returns, for each of the sum(parts) positions of a cycle, the candidate that leads there: candidate i at
// parts[i] of them, spread by earliest deadline first.
func assign(parts []int) []uint32 {
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

// packDeadline packs a position and a candidate into one number: the candidate must have its next answer before the
// position. Lower is more urgent, and ties go to the lower candidate.
func packDeadline(position, candidate int) uint64 { return uint64(position)<<32 | uint64(candidate) }

// candidateOf returns the candidate of a deadline.
func candidateOf(deadline uint64) int { return int(uint32(deadline)) }

// deadlines is a binary heap, the earliest first.
type deadlines []uint64

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

// calendar lists, by position, the candidates whose next answer may come from there on. Each is in one list at a time.
type calendar struct{ first, next []int }

func newCalendar(length, candidates int) *calendar {
	c := &calendar{make([]int, length), make([]int, candidates)}
	for t := range c.first {
		c.first[t] = -1
	}
	return c
}

func (c *calendar) add(position, candidate int) {
	c.next[candidate] = c.first[position]
	c.first[position] = candidate
}

func ceil(a, b int) int { return (a + b - 1) / b }
