package dnssec

import "time"

// active returns the keys of a zone that sign at the time now, where key records have the TTL ttl:
//
//	its keys                                                 those that sign
//	some are active, one of them published for a TTL         the active ones
//	some are active, none of them published for a TTL yet    the active ones, and the retired ones still
//	none is active                                           the oldest: unsigned would be worse
//
// So one key takes the place of another only when a DNSKEY RRset without it has gone from caches.
func (r *Keyring) active(zone string, ttl time.Duration, now time.Time) []*Key {
	var signing, retired []*Key
	settled := false
	keys := r.keys[zone]
	for _, k := range keys {
		switch k.State(now) {
		case Active:
			signing = append(signing, k)
			settled = settled || r.publishedFor(k, now) >= ttl
		case Retired:
			retired = append(retired, k)
		}
	}
	switch {
	case len(signing) == 0:
		return keys[:min(len(keys), 1)]
	case settled || len(retired) == 0:
		return signing
	}
	var all []*Key
	for _, k := range keys {
		if k.State(now) != Published {
			all = append(all, k)
		}
	}
	return all
}

// publishedFor returns the time since this node put a key into the DNSKEY RRset.
func (r *Keyring) publishedFor(k *Key, now time.Time) time.Duration {
	e := r.recordOf(k.zone).of(k.public)
	if e == nil {
		return 0
	}
	return now.Sub(e.Published)
}

// provisional reports whether a key was made here and may still give way to a peer's.
func (r *Keyring) provisional(k *Key) bool {
	e := r.recordOf(k.zone).of(k.public)
	return e != nil && e.Provisional
}
