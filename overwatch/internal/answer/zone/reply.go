package zone

// reply is the state of Append. It stays on the stack.
type reply struct {
	msg       []byte
	start     int // offset of the answer section
	q         *Question
	view      *View
	zone      *Zone
	rotations *Rotations

	// The current name: the name of the question, then the target of each alias.
	name     []byte
	owner    uint16 // pointer to the name in the message
	encloser *owner // closest encloser of a name that does not exist or matches a wildcard; otherwise nil

	signed         bool        // the answer contains signatures and proofs
	onlySignatures bool        // the answer section contains only signatures
	missing        missingType // set if the Kind is NoData
	answer         Answer

	full     bool // a record did not fit
	unsigned bool // signing failed

	proofs proofs
}

// finish returns the message and the answer. It removes the records if a record did not fit or signing failed.
func (r *reply) finish() ([]byte, Answer) {
	switch {
	case r.unsigned:
		return r.msg[:r.start], Answer{Kind: Failed}
	case r.answer.Kind == Failed:
		return r.msg[:r.start], Answer{Kind: Failed, Scope: r.answer.Scope, Selection: r.answer.Selection}
	case r.full:
		return r.msg[:r.start], Answer{Kind: r.answer.Kind, Truncated: true, Scope: r.answer.Scope}
	}
	return r.msg, r.answer
}

// hasRoom reports whether octets more fit. After a false result, full is set and later calls return false.
func (r *reply) hasRoom(octets int) bool {
	if r.full || octets > cap(r.msg)-len(r.msg) {
		r.full = true
		return false
	}
	return true
}

// appendPacked appends the packed records of a set, with the owner in the packed records.
func (r *reply) appendPacked(s *set) {
	at := len(r.msg)
	r.msg = append(r.msg, s.wire...)
	setApexPointers(r.msg[at:], s.pointers, len(r.q.Name), len(r.zone.apex))
}

// apexPointer returns a pointer to the apex, which is the end of the question's name.
func (r *reply) apexPointer() uint16 {
	return uint16(pointerFlag | headerSize + len(r.q.Name) - len(r.zone.apex))
}
