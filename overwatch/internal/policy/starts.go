package policy

// maxStarts bounds how many starting positions a schedule keeps.
const maxStarts = 64

// starts finds the positions from which on no candidate is ever more than one answer off its due share. Position 0 is
// one by construction; others are wherever every candidate's lead over its due share is at most one below the highest
// and at most one above the lowest that it has anywhere in the cycle.
//
// A candidate's lead, scaled by the length, is count*length - position*parts: it falls by parts with each position and
// rises by length with each of its answers. So between two of its answers the bad positions are a beginning and an end,
// and all are found in one pass over the answers.
func starts(lead []uint32, parts []int) []uint32 {
	length := len(lead)
	bad := make([]int, length+1) // differences: where runs of bad positions begin and end
	for i, own := range positions(lead, len(parts)) {
		highest, lowest := 0, 0
		for count, p := range own {
			lowest = min(lowest, count*length-p*parts[i])
			highest = max(highest, (count+1)*length-(p+1)*parts[i])
		}
		for count, from := 0, 0; from < length; count++ {
			to := length // the segment [from, to) holds positions with count answers before them
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

// positions returns, by candidate, the positions at which it leads.
func positions(lead []uint32, candidates int) [][]int {
	out := make([][]int, candidates)
	for t, i := range lead {
		out[i] = append(out[i], t)
	}
	return out
}
