package policy

import (
	"strconv"
	"strings"
)

// Minimum is the minimum number of serving backends of a name (domains[].min_healthy). With fewer, the fallback answer
// applies, so that the remaining backends are not overloaded. The zero value requires one backend.
type Minimum struct {
	Count   int
	Percent int // percentage of all backends with known health, rounded up; 0: Count applies
}

// MaxMinimum is the maximum Count of a Minimum.
const MaxMinimum = 1000

// ParseMinimum parses a number of backends ("2") or a percentage ("50%"). Empty text means no minimum.
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

// RequiredOf returns the required number of backends for a total; at least 1.
func (m Minimum) RequiredOf(total int) int {
	return max(m.Count, ceil(total*m.Percent, 100), 1)
}
