package zone

// reply is an answer while it is appended. It stays on the stack.
type reply struct {
	msg   []byte
	start int // offset of the answer section
	q     *Question
	view  *View
	zone  *Zone
	turns *Turns

	// The name that is answered now: the question's, then the target of each alias.
	name     []byte
	owner    uint16 // pointer to the name in the message
	encloser *owner // of a name that a wildcard answers for, or that does not exist; else nil

	signed         bool   // signatures and proofs go with the answer
	onlySignatures bool   // the answer section has the signatures alone
	denied         denied // of an answer with Kind NoData
	answer         Answer

	full     bool // something did not fit
	unsigned bool // a signature could not be made

	proofs proofs
}

// finish returns the answer, and removes its records if some did not fit or could not be signed.
func (r *reply) finish() ([]byte, Answer) {
	switch {
	case r.unsigned:
		return r.msg[:r.start], Answer{Kind: Failed}
	case r.answer.Kind == Failed:
		return r.msg[:r.start], Answer{Kind: Failed, Steered: r.answer.Steered}
	case r.full:
		return r.msg[:r.start], Answer{Kind: r.answer.Kind, Truncated: true, Scope: r.answer.Scope}
	}
	return r.msg, r.answer
}

// hasRoom reports whether so many octets more fit. If not, the answer is full, and nothing more is appended.
func (r *reply) hasRoom(octets int) bool {
	if r.full || octets > cap(r.msg)-len(r.msg) {
		r.full = true
		return false
	}
	return true
}

// appendPacked appends the packed records of a set. Their owner is the one in the packed records.
func (r *reply) appendPacked(s *set) {
	at := len(r.msg)
	r.msg = append(r.msg, s.wire...)
	point(r.msg[at:], s.pointers, len(r.q.Name), len(r.zone.apex))
}

// apexPointer returns a pointer to the zone's name, with which the question's name ends.
func (r *reply) apexPointer() uint16 {
	return uint16(pointerFlag | headerSize + len(r.q.Name) - len(r.zone.apex))
}
