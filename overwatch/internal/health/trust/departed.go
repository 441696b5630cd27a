package trust

import (
	"crypto/ed25519"

	"gslb.internal/shared/identity"
)

const (
	// maxDeparted bounds the deleted pins that are remembered.
	maxDeparted = 1024
	// maxWindows bounds the deleted pins of which it is remembered what was said last: as many as there can be at once.
	maxWindows = MaxAgents
)

// departure remembers an agent whose pin was deleted: enough to tell its process, which goes on running,
// and to keep that process from enrolling again at once. An operator who deletes a pin, then the files of the agent,
// and then restarts it would otherwise find the old certificate pinned again. Only a new process of the agent (a later
// epoch) may enrol.
type departure struct {
	id    string
	key   identity.KeyID
	pub   ed25519.PublicKey
	epoch uint64
}

// departed holds the newest departures of this process, oldest first.
type departed struct{ list []departure }

func (d *departed) add(gone departure) {
	if len(d.list) == maxDeparted {
		d.list = d.list[1:]
	}
	d.list = append(d.list, gone)
}

func (d *departed) find(key identity.KeyID) *departure {
	for i := range d.list {
		if d.list[i].key == key {
			gone := d.list[i]
			return &gone
		}
	}
	return nil
}

func (d *departed) forget(key identity.KeyID) {
	for i := range d.list {
		if d.list[i].key == key {
			d.list = append(d.list[:i:i], d.list[i+1:]...)
			return
		}
	}
}

// windows holds the windows of deleted pins. A certificate that is pinned again begins with its window: whoever has
// recorded what the agent said before cannot have it pinned by that. Agents say nothing again that was for an earlier
// process of this node, so none is stored.
type windows map[identity.KeyID]identity.Window

// keep remembers one more. Beyond maxWindows it displaces any other, so that nobody can choose which.
func (w windows) keep(key identity.KeyID, last identity.Window) {
	if len(w) >= maxWindows {
		for other := range w {
			delete(w, other)
			break
		}
	}
	w[key] = last
}
