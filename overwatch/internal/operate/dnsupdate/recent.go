package dnsupdate

// recent remembers the results of the last messages by their signature. A message that a client or an attacker repeats
// within the permitted time then changes nothing (RFC 8945 section 10.2).
type recent struct {
	codes map[string]int
	order []string // ring of the signatures
	next  int
}

func newRecent() recent {
	return recent{codes: make(map[string]int, maxRemembered), order: make([]string, maxRemembered)}
}

// result returns the response code of a remembered message.
func (r *recent) result(key, mac string) (code int, found bool) {
	code, found = r.codes[key+" "+mac]
	return code, found
}

// add remembers a message, and forgets the oldest message if there are too many.
func (r *recent) add(key, mac string, code int) {
	one := key + " " + mac
	delete(r.codes, r.order[r.next])
	r.codes[one], r.order[r.next] = code, one
	r.next = (r.next + 1) % len(r.order)
}
