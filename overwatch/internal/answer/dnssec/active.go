package dnssec

import "time"

// active returns the keys of a zone that sign at the time now. ttl is the TTL of the key records.
//
//	keys of the zone                                   signing keys
//	active keys, one of them published for a TTL       the active keys
//	active keys, none of them published for a TTL      the active and the retired keys
//	no active key                                      the oldest key, because an unsigned zone would be worse
//
// A key therefore replaces another key only after the expiry of cached DNSKEY RRsets that lack the new key.
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

// publishedFor returns the time since this node added a key to the DNSKEY RRset.
func (r *Keyring) publishedFor(k *Key, now time.Time) time.Duration {
	e := r.recordOf(k.zone).entryOf(k.public)
	if e == nil {
		return 0
	}
	return now.Sub(e.Published)
}

// isProvisional reports whether the key was created here and a key of a peer can still replace it.
func (r *Keyring) isProvisional(k *Key) bool {
	e := r.recordOf(k.zone).entryOf(k.public)
	return e != nil && e.Provisional
}
