package check

import (
	"strconv"
	"strings"
)

// The default range of healthy statuses.
const (
	leastHealthy = 200
	mostHealthy  = 399
)

// statuses are ranges of HTTP statuses, with both ends.
type statuses [][2]int

// parseStatuses parses text such as "200,301-308". ok is false for an invalid text.
func parseStatuses(text string) (list statuses, ok bool) {
	if text == "" {
		return statuses{{leastHealthy, mostHealthy}}, true
	}
	for part := range strings.SplitSeq(text, ",") {
		low, high, ranged := strings.Cut(strings.TrimSpace(part), "-")
		from, ok := status(strings.TrimSpace(low))
		to := from
		if ranged && ok {
			to, ok = status(strings.TrimSpace(high))
		}
		if !ok || to < from {
			return nil, false
		}
		list = append(list, [2]int{from, to})
	}
	return list, true
}

// status parses a status. It rejects interim statuses (1xx), since no check can end with them.
func status(text string) (code int, ok bool) {
	code, err := strconv.Atoi(text)
	return code, err == nil && len(text) == 3 && code >= 200 && code <= 599
}

func (s statuses) has(code int) bool {
	for _, r := range s {
		if r[0] <= code && code <= r[1] {
			return true
		}
	}
	return false
}
