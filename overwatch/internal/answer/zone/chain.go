package zone

import (
	"crypto/sha1" // #nosec G505 -- the only hash that NSEC3 has (RFC 5155 section 11), and no secret depends on it
	"encoding/binary"
	"math/bits"
	"sort"
)

// chain is the sorted list of the names of a signed zone, with their denial records. A query flood with random names
// searches the chain for each query, so a search reads little memory: the heads, and rarely the keys.
type chain struct {
	hashed bool
	apex   int      // octets of the apex
	common int      // length of the prefix that all keys share: the key of the apex; 0 if hashed
	keys   []string // ascending: appendKey of the names, or their hashes
	links  []*link  // one for each key
	heads  []uint64 // one for each key: its first octets after the common prefix
	starts []uint32 // hashed chains: for each bit prefix, the index of the first head with this or a higher prefix
}

// headOf returns the first eight octets of a key after the common prefix as a number, padded with zeros.
func headOf(key string) uint64 {
	var head [8]byte
	copy(head[:], key)
	return binary.BigEndian.Uint64(head[:])
}

// newChain returns an empty chain for a zone.
func newChain(apex canonical, denial Denial) *chain {
	if denial == NSEC3 {
		return &chain{hashed: true}
	}
	return &chain{apex: len(apex), common: len(appendKey(nil, []byte(apex)))}
}

// buildStarts fills starts from the heads of a hashed chain. The caller must fill heads first.
func (c *chain) buildStarts() {
	if !c.hashed {
		return
	}
	c.starts = make([]uint32, 1<<bits.Len(uint(len(c.keys))))
	at := 0
	for i := range c.starts {
		for at < len(c.heads) && c.bucketOf(c.heads[at]) < i {
			at++
		}
		c.starts[i] = uint32(at)
	}
}

// bucketOf returns the index in starts of a head. Hashes are distributed evenly, so a bucket has few heads.
func (c *chain) bucketOf(head uint64) int { return int(head >> (65 - bits.Len(uint(len(c.starts))))) }

// searchHead returns the number of lower heads, and whether the chain contains the head.
func (c *chain) searchHead(head uint64) (low int, alike bool) {
	high := len(c.heads)
	if c.hashed {
		low = int(c.starts[c.bucketOf(head)])
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

// searchKey returns the number of lower keys, and whether the chain contains the key.
func (c *chain) searchKey(key []byte) (at int, there bool) {
	var head uint64
	if rest := key[c.common:]; len(rest) >= 8 {
		head = binary.BigEndian.Uint64(rest)
	} else {
		head = headOf(string(rest))
	}
	at, alike := c.searchHead(head)
	if alike {
		keys := c.keys[at:]
		at += sort.Search(len(keys), func(i int) bool { return keys[i] >= string(key) })
	}
	return at, at < len(c.keys) && c.keys[at] == string(key)
}

// coveringLink returns the link that proves that no name has the key: the predecessor of the key.
func (c *chain) coveringLink(key []byte) *link {
	at, _ := c.searchKey(key)
	return c.linkBefore(at)
}

// findLink returns the link of an existing name; nil for an empty non-terminal in an NSEC chain.
func (c *chain) findLink(name canonical) *link {
	at, there := 0, false
	if c.hashed {
		hash := sha1.Sum([]byte(name)) // #nosec G401 -- see the import
		at, there = c.searchKey(hash[:])
	} else {
		var key [maxKey]byte
		at, there = c.searchKey(appendKey(key[:0], []byte(name)))
	}
	if !there {
		return nil
	}
	return c.links[at]
}

// linkBefore returns the predecessor of the link with this index. The predecessor of the first link is the last link.
func (c *chain) linkBefore(at int) *link {
	if at == 0 {
		at = len(c.links)
	}
	return c.links[at-1]
}

// headOfName returns the head of a name's key without building the key. ok is false if the head depends on more than
// the first octets of the label directly below the apex.
func (c *chain) headOfName(name []byte) (head uint64, ok bool) {
	if len(name) <= c.apex {
		return 0, false
	}
	at := 0 // offset of the label directly below the apex
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

// linkCoveringName returns the link that proves that the name does not exist. For a hashed chain, the name must be the
// next closer name (RFC 5155 section 1.3).
func (c *chain) linkCoveringName(name []byte) *link {
	if c.hashed {
		hash := sha1.Sum(name) // #nosec G401 -- see the import
		return c.coveringLink(hash[:])
	}
	if head, ok := c.headOfName(name); ok {
		if at, alike := c.searchHead(head); !alike {
			return c.linkBefore(at)
		}
	}
	var key [maxKey]byte
	return c.coveringLink(appendKey(key[:0], name))
}

// keyOf returns the key of a name: its sort key, or its hash in a hashed chain.
func (c *chain) keyOf(name canonical) string {
	if c.hashed {
		hash := sha1.Sum([]byte(name)) // #nosec G401 -- see the import
		return string(hash[:])
	}
	return string(appendKey(nil, []byte(name)))
}
