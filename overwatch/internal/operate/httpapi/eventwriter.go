package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"gslb.internal/overwatch/internal/state/journal"
	"gslb.internal/shared/api"
)

// eventWriter writes one stream of server-sent events.
type eventWriter struct {
	c       *call
	isValid func() bool // the token of the request is still valid
	q       *eventQuery // follow updates q.after
	sees    func(*api.Event) bool
	control *http.ResponseController
}

// atOnce bounds the events of a write.
const atOnce = 256

// follow sends the events after q.after. If some of them are deleted, it first sends a notice. It reports whether the
// client receives data.
func (w *eventWriter) follow(from *journal.Journal) bool {
	for {
		events, missed := from.After(w.q.after)
		if len(events) == 0 {
			return true
		}
		var text bytes.Buffer
		if missed && w.q.resumes {
			data, _ := json.Marshal(api.EventsMissed{After: w.q.after, Oldest: events[0].Sequence})
			fmt.Fprintf(&text, "event: missed\ndata: %s\n\n", data)
		}
		w.q.resumes = true // from now on, deleted events are missed events
		events = events[:min(len(events), atOnce)]
		for i := range events {
			if !w.q.wants(&events[i]) || !w.sees(&events[i]) {
				continue
			}
			data, err := json.Marshal(&events[i])
			if err != nil {
				continue
			}
			fmt.Fprintf(&text, "id: %d\ndata: %s\n\n", events[i].Sequence, data)
		}
		w.q.after = events[len(events)-1].Sequence
		if text.Len() > 0 && !w.send(text.String()) {
			return false
		}
	}
}

// send writes and flushes a text if the token of the request is still valid. It reports whether the client received it
// in time.
func (w *eventWriter) send(text string) bool {
	if !w.isValid() {
		return false
	}
	_ = w.control.SetWriteDeadline(time.Now().Add(readerPatience))
	if _, err := w.c.Writer.WriteString(text); err != nil {
		return false
	}
	return w.control.Flush() == nil
}
