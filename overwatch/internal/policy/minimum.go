package policy

import (
	"strconv"
	"strings"
)

// Minimum is the least number of a name's backends that must be fit to serve (domains[].min_healthy). With fewer, the
// last resort answers, so that they are not left alone with the traffic. The zero value asks for none.
type Minimum struct {
	Count   int
	Percent int // of all backends of the name but Unknown ones, rounded up; 0: Count says it
}

// MaxMinimum bounds a Minimum's Count.
const MaxMinimum = 1000

// ParseMinimum reads a number of backends, "2", or a part of them, "50%". Empty text is no minimum.
func ParseMinimum(text string) (m Minimum, ok bool) {
	if text == "" {
		return Minimum{}, true
	}
	number, percent := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return Minimum{}, false
	}
	if percent {
		return Minimum{Percent: n}, n <= 100
	}
	return Minimum{Count: n}, n <= MaxMinimum
}

// Of returns the number of backends that are needed out of total; at least 1.
func (m Minimum) Of(total int) int {
	return max(m.Count, ceil(total*m.Percent, 100), 1)
}
