package replica

import (
	"cmp"
	"fmt"
	"time"
)

// Version is the time of an object's last change and the node that made it: a reading of a hybrid logical clock
// (Kulkarni et al. 2014).
type Version struct {
	Time  int64  `json:"time"`            // milliseconds since 1970, of the node's clock or of a received version
	Count uint32 `json:"count,omitempty"` // orders versions of the same millisecond
	Node  string `json:"node"`            // id of the node that received the change
}

// Compare returns -1 if v is before other, 1 if v is after other, and 0 if they are equal.
func (v Version) Compare(other Version) int {
	return cmp.Or(cmp.Compare(v.Time, other.Time), cmp.Compare(v.Count, other.Count), cmp.Compare(v.Node, other.Node))
}

// At returns the version's time.
func (v Version) At() time.Time { return time.UnixMilli(v.Time) }

// String returns the version for logs and the audit log.
func (v Version) String() string {
	return fmt.Sprintf("%s/%d@%s", v.At().UTC().Format("2006-01-02T15:04:05.000Z"), v.Count, v.Node)
}
