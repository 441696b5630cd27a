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
	q       *eventQuery // its after moves on
	control *http.ResponseController
}

// atOnce bounds the events of one write.
const atOnce = 256

// follow sends the events behind q.after, and before them a notice if some of them are no longer kept. It reports
// whether the client still reads.
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
		w.q.resumes = true // from here on, what is missed was to be read
		events = events[:min(len(events), atOnce)]
		for i := range events {
			if !w.q.wants(&events[i]) {
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

// send writes a text at once. It reports whether the client took it in time.
func (w *eventWriter) send(text string) bool {
	_ = w.control.SetWriteDeadline(time.Now().Add(readerPatience))
	if _, err := w.c.Writer.WriteString(text); err != nil {
		return false
	}
	return w.control.Flush() == nil
}
