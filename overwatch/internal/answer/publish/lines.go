package publish

import "time"

// maxLines is the maximum number of log lines about domains per second. It includes the first lines about a lost site
// or a flapping backend; gslb_overwatch_domains_down counts all domains.
const maxLines = 20

// lines limits the log lines about domains per second.
type lines struct {
	second         int64
	used, withheld int
}

// allowLine reports whether another line is permitted now, and the number of suppressed lines since the last one.
func (l *lines) allowLine(now time.Time) (withheld int, ok bool) {
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
