package dnsserver

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	// idleTimeout is the maximum time until a connection sends its next complete query. The keepalive option announces
	// it (RFC 7828).
	idleTimeout = 10 * time.Second
	// writeTimeout is the maximum time for a client to accept a batch of responses.
	writeTimeout = 5 * time.Second
	// stopGrace is the maximum time for a client to accept all remaining responses after the server stops.
	stopGrace = time.Second
	// firstQueryGrace is the maximum time for the first query of a connection after the server stops.
	firstQueryGrace = 100 * time.Millisecond
	// writeThreshold is the number of octets of responses after which they are written. A client that does not read
	// causes memory use of writeThreshold, and sendBuffer in the kernel.
	writeThreshold = 16 << 10
	sendBuffer     = 64 << 10
	// readSize is the initial size in octets of a connection's read buffer. The buffer grows with the received octets,
	// not with the announced length.
	readSize   = 1 << 10
	maxMessage = 1<<16 - 1
	// acceptPause is the delay after an accept error, such as too many open files.
	acceptPause = 20 * time.Millisecond
)

// tcpServer answers queries over TCP. A client can pipeline queries, and receives the answers in order.
type tcpServer struct {
	connections *connections
	running     sync.WaitGroup

	mu        sync.Mutex // one query at a time: an answer takes microseconds and does not block
	responder *responder
	scratch   [maxMessage]byte
}

// serve accepts connections until the listener is closed, then waits for the open connections.
func (t *tcpServer) serve(l *listener) error {
	defer t.running.Wait()
	for {
		conn, from, first, err := l.accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
				t.connections.evictOldest()
			}
			time.Sleep(acceptPause)
			continue
		}
		one := t.connections.add(conn, from)
		one.listening = l.address
		input := append(make([]byte, 0, readSize), first...)
		t.running.Go(func() {
			defer t.connections.closeConnection(one)
			t.serveConnection(one, input)
		})
	}
}

// serveConnection answers the queries of a connection until the connection ends, times out or sends an invalid message.
// input is the data received before.
func (t *tcpServer) serveConnection(one *connection, input []byte) {
	var output []byte
	var ok bool
	if t.responder.isProxy(one.from.Addr()) {
		if input, ok = t.readHeader(one, input); !ok {
			return
		}
	}
	for {
		if input, ok = t.readMessage(one, input); !ok {
			return
		}
		for len(input) >= 2 {
			length := int(binary.BigEndian.Uint16(input))
			if length < headerSize {
				t.connections.nonsense.Add(1)
				t.writeResponses(one, output) // answers to the previous queries
				return
			}
			if len(input) < 2+length {
				break
			}
			output = t.appendResponse(output, input[2:2+length], one)
			input = input[2+length:]
			if len(output) >= writeThreshold {
				if output, ok = t.writeResponses(one, output); !ok {
					return
				}
			}
		}
		if output, ok = t.writeResponses(one, output); !ok {
			return
		}
	}
}

// readMessage reads until input contains a complete message. It returns false if the connection must be closed.
func (t *tcpServer) readMessage(one *connection, input []byte) ([]byte, bool) {
	// The remaining data moves to a new buffer with the initial size.
	input = append(make([]byte, 0, max(readSize, len(input))), input...)
	if !t.connections.setReadDeadline(one, time.Now().Add(idleTimeout)) {
		return nil, false
	}
	for !hasWholeMessage(input) {
		if len(input) >= 2 && binary.BigEndian.Uint16(input) < headerSize {
			t.connections.nonsense.Add(1)
			return nil, false
		}
		if len(input) == cap(input) {
			input = append(make([]byte, 0, 2*cap(input)), input...)
		}
		n, err := one.Read(input[len(input):cap(input)])
		if n == 0 && err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.connections.idle.Add(1)
			}
			return nil, false
		}
		input = input[:len(input)+n]
	}
	return input, true
}

// hasWholeMessage reports whether input starts with a complete message.
func hasWholeMessage(input []byte) bool {
	return len(input) >= 2 && len(input) >= 2+int(binary.BigEndian.Uint16(input))
}

// appendResponse appends the length-prefixed response to a query.
func (t *tcpServer) appendResponse(output, query []byte, one *connection) []byte {
	if msg, isUpdate := t.answerUpdate(query, one.from.Addr()); isUpdate {
		if msg == nil {
			return output
		}
		return append(binary.BigEndian.AppendUint16(output, uint16(len(msg))), msg...)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	began := t.responder.counts.timer.start()
	if t.responder.observers != nil {
		t.responder.observers.received = time.Now()
	}
	msg := t.responder.respond(query, one.from.Addr(), true, t.scratch[:0])
	if o := t.responder.observers; o != nil && o.isSelected(t.responder.request) {
		t.responder.record(query, msg, one.from, one.destination())
	}
	t.responder.counts.timer.stop(began, 1)
	if msg == nil {
		return output
	}
	return append(binary.BigEndian.AppendUint16(output, uint16(len(msg))), msg...)
}

// writeResponses sends the responses and returns an empty buffer. It returns false if the connection must be closed.
func (t *tcpServer) writeResponses(one *connection, output []byte) ([]byte, bool) {
	if len(output) == 0 {
		return output, true
	}
	t.connections.setWriteDeadline(one, writeTimeout)
	if _, err := one.Write(output); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.connections.unread.Add(1)
		}
		return nil, false
	}
	t.connections.markAnswered(one)
	if cap(output) > readSize {
		return nil, true
	}
	return output[:0], true
}
