package replication

import (
	"strconv"
	"strings"
	"time"
)

// askerClock is what a node tells of its clock when it asks; zero: nothing, as a node of 0.9.0.
type askerClock struct {
	now   time.Time
	limit time.Time // see replica.Table.Limit
}

// clockMark separates the parts of Question.Instance. The id of a process does not contain it.
const clockMark = "~"

// clockedInstance adds the asker's clock to the id of the process that is asked. A node of 0.9.0 refuses a parameter of
// its own for the clock, and takes this value for the id of another process, so that it answers with everything.
func clockedInstance(instance string, c askerClock) string {
	return instance + clockMark + strconv.FormatInt(c.now.UnixMilli(), 10) + clockMark +
		strconv.FormatInt(c.limit.UnixMilli(), 10)
}

// instanceOf reverses clockedInstance. A value without a clock is the id alone.
func instanceOf(value string) (instance string, c askerClock) {
	parts := strings.Split(value, clockMark)
	if len(parts) != 3 {
		return value, c
	}
	now, err := strconv.ParseInt(parts[1], 10, 64)
	limit, err2 := strconv.ParseInt(parts[2], 10, 64)
	if err != nil || err2 != nil {
		return value, c
	}
	return parts[0], askerClock{time.UnixMilli(now), time.UnixMilli(limit)}
}

// hear compares this node's clock with that of an authenticated asker, and returns the asker's limit; zero if it is
// unknown.
func (r *Replication) hear(node string, c askerClock) (limit time.Time) {
	if node == r.o.NodeID { // itself
		return c.limit
	}
	if !c.now.IsZero() {
		r.agree(c.now)
		return c.limit
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.peers {
		if p.node == node && p.connected {
			return r.o.Store.Now().Add(p.difference)
		}
	}
	return time.Time{}
}

// agree compares this node's clock with a peer's. Once it has settled, Run gives wrong versions new ones.
func (r *Replication) agree(theirs time.Time) {
	if r.o.Store.Agree(theirs) {
		select {
		case r.settled <- struct{}{}:
		default:
		}
	}
}
