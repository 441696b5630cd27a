package replication

import (
	"strconv"
	"strings"
	"time"
)

// askerClock is the clock of a node that sends a question. It is zero for a node of version 0.9.0.
type askerClock struct {
	now   time.Time
	limit time.Time // see replica.Table.Limit
}

// clockMark separates the parts of Question.Instance. Process ids do not contain it.
const clockMark = "~"

// clockedInstance adds the clock of the requesting node to the id of the answering process. A node of 0.9.0 rejects
// unknown parameters, but treats this value as the id of another process and answers with all objects.
func clockedInstance(instance string, c askerClock) string {
	return instance + clockMark + strconv.FormatInt(c.now.UnixMilli(), 10) + clockMark +
		strconv.FormatInt(c.limit.UnixMilli(), 10)
}

// instanceOf is the inverse of clockedInstance. A value without a clock contains only an id.
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

// compareClock compares the clocks of this node and of an authenticated requesting node. It returns the limit of the
// requesting node, or zero if the limit is unknown.
func (r *Replication) compareClock(node string, c askerClock) (limit time.Time) {
	if node == r.o.NodeID { // itself
		return c.limit
	}
	if !c.now.IsZero() {
		r.settleClock(c.now)
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

// settleClock compares this node's clock with the clock of a peer. If the clock becomes settled, Run corrects the
// versions of objects.
func (r *Replication) settleClock(theirs time.Time) {
	if r.o.Store.Agree(theirs) {
		select {
		case r.settled <- struct{}{}:
		default:
		}
	}
}
