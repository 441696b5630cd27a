package trust

import (
	"crypto/ed25519"

	"gslb.internal/shared/identity"
)

const (
	// maxDeparted is the maximum number of departures of a node.
	maxDeparted = 1024
	// maxWindows is the maximum number of stored windows of deleted pins.
	maxWindows = MaxAgents
)

// departure identifies the running process of an agent with a deleted pin. The node rejects its Enrol, because the
// process would otherwise pin the old certificate before the operator resets the agent. A process with a later epoch
// can enroll.
type departure struct {
	id    string
	key   identity.KeyID
	pub   ed25519.PublicKey
	epoch uint64
}

// departed has the latest departures, oldest first.
type departed struct{ list []departure }

func (d *departed) addDeparture(gone departure) {
	if len(d.list) == maxDeparted {
		d.list = d.list[1:]
	}
	d.list = append(d.list, gone)
}

func (d *departed) findDeparture(key identity.KeyID) *departure {
	for i := range d.list {
		if d.list[i].key == key {
			gone := d.list[i]
			return &gone
		}
	}
	return nil
}

func (d *departed) removeDeparture(key identity.KeyID) {
	for i := range d.list {
		if d.list[i].key == key {
			d.list = append(d.list[:i:i], d.list[i+1:]...)
			return
		}
	}
}

// windows contains the sequence windows of deleted pins. A certificate that is pinned again continues with its window,
// so that the node rejects recorded messages. The windows are not stored, because the node rejects messages to an
// earlier process anyway.
type windows map[identity.KeyID]identity.Window

// storeWindow stores a window. At maxWindows, it replaces a random window, so that a sender cannot choose the replaced
// window.
func (w windows) storeWindow(key identity.KeyID, last identity.Window) {
	if len(w) >= maxWindows {
		for other := range w {
			delete(w, other)
			break
		}
	}
	w[key] = last
}
