package dnstap

import "sync/atomic"

// Worker accepts the messages of one goroutine. A nil Worker records nothing.
type Worker struct {
	tap    *Tap
	buffer buffer
	// Memory for the encoding; used only by the recording goroutine.
	meta [maxMeta]byte
	head [maxHead]byte
	// Number of messages that found no connection, and that found no room in the buffer.
	unconnected, overflowed atomic.Uint64
}

// Record encodes a query, and its response if there is one. The message may be changed after Record has returned.
func (w *Worker) Record(m *Message) {
	if w == nil {
		return
	}
	if !w.tap.connected.Load() {
		w.unconnected.Add(uint64(m.count()))
		return
	}
	w.add(m, m.Query, false)
	if m.Response != nil {
		w.add(m, m.Response, true)
	}
}

// count returns the number of dnstap messages: the query, and the response if there is one.
func (m *Message) count() int {
	if m.Response != nil {
		return 2
	}
	return 1
}

// add adds one message to the buffer, and wakes the Tap when the buffer is a quarter full.
func (w *Worker) add(m *Message, message []byte, response bool) {
	meta := m.appendMeta(w.meta[:0], response)
	head := appendHead(w.head[:0], w.tap.process, m.Extra[:min(len(m.Extra), MaxExtra)], meta, len(message))
	used := w.buffer.append(head, message)
	size := uint64(len(head) + len(message))
	switch {
	case used == 0:
		w.overflowed.Add(1)
	case used >= wakeSize && used-size < wakeSize:
		w.tap.wakeUp()
	}
}
