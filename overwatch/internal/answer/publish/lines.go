package publish

import "time"

// maxLines bounds the log's lines about domains in a second. A lost site or a flapping backend is seen in the first of
// them, and gslb_overwatch_domains_down counts all domains.
const maxLines = 20

// lines bounds the lines about domains in each second.
type lines struct {
	second         int64
	used, withheld int
}

// take reports whether one more line may be written now, and the number of lines withheld since the last one.
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
