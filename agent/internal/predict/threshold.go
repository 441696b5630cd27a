package predict

// releaseBelow is the number of points that a value must be below its threshold for the signal to clear; for thresholds
// so low that there are no such points, half of the threshold.
const releaseBelow = 5

// calmChecks is how many checks in a row must be that low.
const calmChecks = 2

// threshold turns a row of values into a signal. T is the threshold and L is T - releaseBelow, at least T/2:
//
//	signal   value           calm in a row   next
//	cleared  up to T         -               cleared
//	cleared  above T         -               set
//	set      above L         -               set, the row ends
//	set      L or lower      below 2         set
//	set      L or lower      2               cleared
//	any      not known       -               the same, and the row goes on
type threshold struct {
	limit float64
	set   bool
	calm  int
}

// observe takes the next value and reports whether the signal changed.
func (t *threshold) observe(value float64) (changed bool) {
	switch {
	case !t.set:
		t.set, t.calm = value > t.limit, 0
		return t.set
	case value > max(t.limit-releaseBelow, t.limit/2):
		t.calm = 0
		return false
	}
	t.calm++
	t.set = t.calm < calmChecks
	return !t.set
}
