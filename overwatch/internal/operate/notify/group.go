package notify

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/state/journal"
	"gslb.internal/shared/api"
)

// keyOf returns the key of the state that an event starts or ends. Both events have the same key.
func keyOf(e *api.Event) string { return journal.Key(e.Kind, e.Subject) }

// isOwn reports whether only this node detects an event, so that no other node sends a message about it.
func isOwn(e *api.Event, node string) bool {
	switch e.Kind {
	case api.EventReload, api.EventStore, api.EventService, api.EventSuspension, api.EventReplication, api.EventSigning,
		api.EventChange, api.EventRefused, api.EventToken, api.EventNotification,
		api.EventGeo:
		return true
	case api.EventCertificate: // subjects with a file are certificates of the API; all nodes see agent certificates
		return strings.Contains(e.Subject, " ")
	case api.EventNode: // other nodes see the loss of a node
		return e.Subject == node
	case api.EventKey:
		return slices.Contains([]string{"not_exchanged", "exchanged", "roll_waits", "roll_goes_on"}, e.State)
	}
	return false
}

// groupOf returns the group of an event. Events of a domain form a group, and so do other events with the same
// subject. A message contains the events of one group.
func groupOf(e *api.Event, node string) string {
	switch {
	case isOwn(e, node):
		return keyOf(e) + " on " + node
	case e.Name != "":
		return journal.Key(api.EventName, e.Name)
	}
	return keyOf(e)
}

// rank returns the rank of a node among the nodes that may send the group of an event to a target. The node of rank 0
// sends the group first. A node of a higher rank sends it if no node of a lower rank has sent it (rendezvous hashing).
// All nodes with the same peers compute the same ranks. The subject of a node event has no rank, because a node has no
// events about its own loss and return.
func rank(node string, others []string, target string, w *waiting) (place int) {
	weight := func(node string) uint64 {
		sum := sha256.Sum256([]byte(target + "\x00" + w.Group + "\x00" + node))
		return binary.BigEndian.Uint64(sum[:])
	}
	own := weight(node)
	for _, other := range others {
		isSubject := w.Event.Kind == api.EventNode && other == w.Event.Subject
		if other != node && !isSubject && weight(other) > own {
			place++
		}
	}
	return place
}

// messageID derives the ID of a message from its tellings and the IDs of the previous messages. Nodes that send the
// same message therefore use the same ID.
func messageID(target, group string, tells, before map[string]Telling) string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%q %q", target, group)
	for _, key := range slices.Sorted(maps.Keys(tells)) {
		t := tells[key]
		_, _ = fmt.Fprintf(h, " %q %q %q %q", key, t.State, t.Phase, before[key].ID)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func worse(a, b api.EventSeverity) api.EventSeverity {
	if b.Rank() > a.Rank() {
		return b
	}
	return a
}
