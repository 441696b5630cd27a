package policy

// maxStarts is the maximum number of start positions of a schedule.
const maxStarts = 64

// findStarts returns the positions from which the number of answers of each candidate never differs from its exact
// share by more than one. Position 0 is a start position by construction. Another position qualifies if the surplus of
// each candidate is at most one below its maximum and at most one above its minimum in the cycle.
//
// The surplus of a candidate, scaled by the length, is count*length - position*parts: it decreases by parts at each
// position and increases by length with each answer. The invalid positions between two answers are therefore a prefix
// and a suffix, and one pass over the answers finds all.
func findStarts(lead []uint32, parts []int) []uint32 {
	length := len(lead)
	bad := make([]int, length+1) // differences at the ends of runs of invalid positions
	for i, own := range leadPositions(lead, len(parts)) {
		highest, lowest := 0, 0
		for count, p := range own {
			lowest = min(lowest, count*length-p*parts[i])
			highest = max(highest, (count+1)*length-(p+1)*parts[i])
		}
		for count, from := 0, 0; from < length; count++ {
			to := length // positions in [from, to) are preceded by count answers
			if count < len(own) {
				to = own[count] + 1
			}
			tooEarly := min(max(ceil(max(count*length-lowest-length, 0), parts[i]), from), to)
			tooLate := min(max((count*length-highest+length)/parts[i]+1, from), to)
			bad[from]++
			bad[tooEarly]--
			bad[tooLate]++
			bad[to]--
			from = to
		}
	}
	var good []uint32
	for position, depth := 0, 0; position < length; position++ {
		if depth += bad[position]; depth == 0 {
			good = append(good, uint32(position))
		}
	}
	out := make([]uint32, min(len(good), maxStarts))
	for i := range out {
		out[i] = good[i*len(good)/len(out)]
	}
	return out
}

// leadPositions returns, for each candidate, the positions of its first addresses.
func leadPositions(lead []uint32, candidates int) [][]int {
	out := make([][]int, candidates)
	for t, i := range lead {
		out[i] = append(out[i], t)
	}
	return out
}
