package zone

import (
	"crypto/sha1" // #nosec G505 -- the one hash that NSEC3 has (RFC 5155 section 11), and no secret depends on it
	"encoding/binary"
	"math/bits"
	"sort"
)

// chain is the list of a signed zone's names in the order of their records of denial. A flood of invented names is a
// flood of searches in it, so a search touches little memory: the heads, and as a rule nothing of the keys.
type chain struct {
	hashed bool
	apex   int      // octets of the zone's name
	common int      // length of the beginning that the keys of all names in the zone have: the apex's, 0 if hashed
	keys   []string // ascending: of the names (appendKey), or their hashes
	links  []*link  // one per key
	heads  []uint64 // one per key: its octets behind the common ones, as many as fit
	starts []uint32 // of a hashed chain: the first head that begins with these bits or is above
}

// headOf returns the first eight octets of the part of a key behind the common ones as a number, filled up with zeros.
func headOf(key string) uint64 {
	var head [8]byte
	copy(head[:], key)
	return binary.BigEndian.Uint64(head[:])
}

// newChain makes an empty chain for a zone.
func newChain(apex canonical, denial Denial) *chain {
	if denial == NSEC3 {
		return &chain{hashed: true}
	}
	return &chain{apex: len(apex), common: len(appendKey(nil, []byte(apex)))}
}

// start makes the starts. All heads must be there.
func (c *chain) start() {
	if !c.hashed {
		return
	}
	c.starts = make([]uint32, 1<<bits.Len(uint(len(c.keys))))
	at := 0
	for i := range c.starts {
		for at < len(c.heads) && c.bucket(c.heads[at]) < i {
			at++
		}
		c.starts[i] = uint32(at)
	}
}

// bucket returns the index in starts of a head. Hashes are spread evenly, so few share one.
func (c *chain) bucket(head uint64) int { return int(head >> (65 - bits.Len(uint(len(c.starts))))) }

// search returns the number of heads below this one, and whether the next is the same.
func (c *chain) search(head uint64) (low int, alike bool) {
	high := len(c.heads)
	if c.hashed {
		low = int(c.starts[c.bucket(head)])
		for low < high && c.heads[low] < head {
			low++
		}
	} else {
		for low < high {
			if middle := int(uint(low+high) >> 1); c.heads[middle] < head {
				low = middle + 1
			} else {
				high = middle
			}
		}
	}
	return low, low < len(c.heads) && c.heads[low] == head
}

// place returns the number of keys below this one, and whether the next is the same.
func (c *chain) place(key []byte) (at int, there bool) {
	var head uint64
	if rest := key[c.common:]; len(rest) >= 8 {
		head = binary.BigEndian.Uint64(rest)
	} else {
		head = headOf(string(rest))
	}
	at, alike := c.search(head)
	if alike {
		keys := c.keys[at:]
		at += sort.Search(len(keys), func(i int) bool { return keys[i] >= string(key) })
	}
	return at, at < len(c.keys) && c.keys[at] == string(key)
}

// cover returns the link that proves that no name has the key: the last one in front of it.
func (c *chain) cover(key []byte) *link {
	at, _ := c.place(key)
	return c.before(at)
}

// find returns the link of a name that exists. It is nil for an empty non-terminal, unless the chain is hashed.
func (c *chain) find(name canonical) *link {
	at, there := 0, false
	if c.hashed {
		hash := sha1.Sum([]byte(name)) // #nosec G401 -- see the import
		at, there = c.place(hash[:])
	} else {
		var key [maxKey]byte
		at, there = c.place(appendKey(key[:0], []byte(name)))
	}
	if !there {
		return nil
	}
	return c.links[at]
}

// before returns the link in front of the one with a number. The last link is in front of the first.
func (c *chain) before(at int) *link {
	if at == 0 {
		at = len(c.links)
	}
	return c.links[at-1]
}

// headOfName returns the head of a name's key without making the key. ok is false where more than the beginning of the
// label right below the apex is needed for that.
func (c *chain) headOfName(name []byte) (head uint64, ok bool) {
	if len(name) <= c.apex {
		return 0, false
	}
	at := 0 // of the label right below the apex
	for len(name)-at-1-int(name[at]) > c.apex {
		at += 1 + int(name[at])
	}
	length := int(name[at])
	if length < 8 && at > 0 {
		return 0, false
	}
	for _, octet := range name[at+1:][:min(length, 8)] {
		if octet <= 1 {
			return 0, false
		}
		head = head<<8 | uint64(octet)
	}
	return head << (8 * max(8-length, 0)), true
}

// coverName returns the link that proves that there is no such name. In a hashed chain, the name must be the one right
// below its closest encloser.
func (c *chain) coverName(name []byte) *link {
	if c.hashed {
		hash := sha1.Sum(name) // #nosec G401 -- see the import
		return c.cover(hash[:])
	}
	if head, ok := c.headOfName(name); ok {
		if at, alike := c.search(head); !alike {
			return c.before(at)
		}
	}
	var key [maxKey]byte
	return c.cover(appendKey(key[:0], name))
}

func (c *chain) keyOf(name canonical) string {
	if c.hashed {
		hash := sha1.Sum([]byte(name)) // #nosec G401 -- see the import
		return string(hash[:])
	}
	return string(appendKey(nil, []byte(name)))
}
