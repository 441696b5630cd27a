package publish

import "time"

// maxLines is how many lines a second the log gets about domains: a site that is lost, or a backend that flaps, is seen
// in the first of them, and gslb_overwatch_domains_down counts all.
const maxLines = 20

// lines keeps the log's share of each second.
type lines struct {
	second         int64
	used, withheld int
}

// take says whether one more line may be written now, and how many were withheld in the seconds before.
func (l *lines) take(now time.Time) (withheld int, ok bool) {
	if second := now.Unix(); second != l.second {
		withheld = l.withheld
		*l = lines{second: second}
	}
	if l.used == maxLines {
		l.withheld++
		return 0, false
	}
	l.used++
	return withheld, true
}
