package replica

import (
	"math"
	"time"
)

// MaxAhead is the greatest lead of a version over a node's clock. A version with a greater one is refused: it would
// outweigh every change until then.
const MaxAhead = 5 * time.Minute

// clock is a hybrid logical clock. Its readings are the node's time, but always later than every version that it has
// seen.
type clock struct {
	node string
	now  func() time.Time
	last Version
}

// next returns a version after all that the clock has given or seen.
func (c *clock) next() Version {
	now := c.now().UnixMilli()
	switch {
	case now > c.last.Time:
		c.last = Version{Time: now}
	case c.last.Count == math.MaxUint32:
		c.last = Version{Time: c.last.Time + 1}
	default:
		c.last.Count++
	}
	c.last.Node = c.node
	return c.last
}

// see has the clock give only versions after v from now on.
func (c *clock) see(v Version) {
	if c.last.Compare(v) < 0 {
		c.last = v
	}
}

// ahead reports whether a version lies further ahead than MaxAhead.
func (c *clock) ahead(v Version) bool { return v.At().Sub(c.now()) > MaxAhead }
