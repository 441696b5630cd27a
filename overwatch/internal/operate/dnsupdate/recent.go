package dnsupdate

import "time"

// recent remembers the results of the last messages of each key by their signature. A message that a client or an
// attacker repeats while its signature is valid then changes nothing on this node (RFC 8945 section 10.2). The messages
// of a key displace no messages of another key.
type recent map[string]*results

// results are the remembered messages of a key.
type results struct {
	codes map[string]int
	order []remembered // the oldest first
}

type remembered struct {
	mac   string
	until time.Time
}

// result returns the response code of a remembered message.
func (r recent) result(key, mac string, now time.Time) (code int, found bool) {
	r.forget(key, now)
	if list := r[key]; list != nil {
		code, found = list.codes[mac]
	}
	return code, found
}

// add remembers a message until its signature is certainly invalid. It forgets the oldest message of the key if there
// are maxRemembered.
func (r recent) add(key, mac string, code int, now time.Time) {
	list := r[key]
	if list == nil {
		list = &results{codes: map[string]int{}}
		r[key] = list
	}
	if len(list.order) >= maxRemembered {
		delete(list.codes, list.order[0].mac)
		list.order = list.order[1:]
	}
	list.codes[mac] = code
	list.order = append(list.order, remembered{mac, now.Add(2 * tsigFudge * time.Second)})
}

// forget removes the messages of a key whose signature is invalid by their time.
func (r recent) forget(key string, now time.Time) {
	list := r[key]
	if list == nil {
		return
	}
	gone := 0
	for gone < len(list.order) && !now.Before(list.order[gone].until) {
		delete(list.codes, list.order[gone].mac)
		gone++
	}
	if list.order = list.order[gone:]; len(list.order) == 0 {
		delete(r, key)
	}
}
