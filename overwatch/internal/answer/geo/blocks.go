package geo

// block is an aligned range of addresses with one value.
type block struct {
	hi, lo uint64 // first address; an IPv4 address precedes 96 zero bits
	bits   uint8  // the prefix length
	value  uint32
}

// contains reports whether b contains the first address of other.
func (b *block) contains(other *block) bool {
	return countLeadingZeros(b.hi^other.hi, b.lo^other.lo) >= b.bits
}

// halves returns the two blocks that make up b.
func (b block) halves() (left, right block) {
	b.bits++
	left = b
	if b.bits <= 64 {
		b.hi |= 1 << (64 - b.bits)
	} else {
		b.lo |= 1 << (128 - b.bits)
	}
	return left, b
}

// blockList lists the largest blocks with one value, in the order of addresses.
type blockList []block

// add appends a block after the last block. It joins adjacent blocks that form a larger block with one value.
func (l *blockList) add(b block) {
	list := *l
	for n := len(list); n > 0; n-- {
		left := &list[n-1]
		if left.value != b.value || left.bits != b.bits || countLeadingZeros(left.hi^b.hi, left.lo^b.lo) != b.bits-1 {
			break
		}
		b, list = *left, list[:n-1]
		b.bits--
	}
	*l = append(list, b)
}

// overlay splits b at the blocks of an overlay, and calls visit with each part and the value of the overlay for the
// part. The blocks of the overlay and the calls are in the order of addresses. The overlay covers all addresses.
// overlay returns the blocks of the overlay from the last part on.
func (b block) overlay(over []block, visit func(part block, value uint32)) []block {
	for len(over) > 1 && !startsAfter(&over[1], &b) {
		over = over[1:]
	}
	if over[0].bits <= b.bits {
		visit(b, over[0].value)
		return over
	}
	for {
		part := over[0]
		part.value = b.value
		visit(part, over[0].value)
		if len(over) == 1 || !b.contains(&over[1]) {
			return over
		}
		over = over[1:]
	}
}

// startsAfter reports whether a starts after the first address of b.
func startsAfter(a, b *block) bool { return a.hi > b.hi || a.hi == b.hi && a.lo > b.lo }
