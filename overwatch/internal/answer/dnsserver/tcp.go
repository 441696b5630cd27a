package dnsserver

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	// idleTimeout bounds the time until a connection has sent its next whole query. It is announced in the keepalive
	// option (RFC 7828).
	idleTimeout = 10 * time.Second
	// writeTimeout bounds the time that a client takes to accept a batch of responses.
	writeTimeout = 5 * time.Second
	// stopGrace bounds the time that a client takes to accept all further responses when the server stops.
	stopGrace = time.Second
	// freshGrace bounds the time for the first query of a connection when the server stops.
	freshGrace = 100 * time.Millisecond
	// pending is the number of octets of responses that are gathered before they are written. A client that does not read
	// costs as much memory, and sendBuffer in the kernel.
	pending    = 16 << 10
	sendBuffer = 64 << 10
	// readSize is the first size of a connection's buffer for queries, in octets. The buffer grows as octets arrive and
	// not by the length that a query announces.
	readSize   = 1 << 10
	maxMessage = 1<<16 - 1
	// acceptPause is the wait after an error of accept, such as too many open files.
	acceptPause = 20 * time.Millisecond
)

// tcpServer answers over TCP: queries may be pipelined, and are answered in the order in which they come.
type tcpServer struct {
	connections *connections
	running     sync.WaitGroup

	mu        sync.Mutex // one query at a time: an answer takes microseconds and waits for nothing
	responder *responder
	scratch   [maxMessage]byte
}

// serve accepts connections until the listener is closed, then waits for those that are being answered.
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
		one := t.connections.admit(conn, from)
		input := append(make([]byte, 0, readSize), first...)
		t.running.Go(func() {
			defer t.connections.leave(one)
			t.converse(one, input)
		})
	}
}

// converse answers the queries of one connection until it ends, is too slow or sends something else than DNS. input is
// what has been read of it.
func (t *tcpServer) converse(one *connection, input []byte) {
	var output []byte
	for {
		var ok bool
		if input, ok = t.read(one, input); !ok {
			return
		}
		for len(input) >= 2 {
			length := int(binary.BigEndian.Uint16(input))
			if length < headerSize {
				t.connections.nonsense.Add(1)
				t.write(one, output) // the answers to what came before
				return
			}
			if len(input) < 2+length {
				break
			}
			output = t.answer(output, input[2:2+length], one.from)
			input = input[2+length:]
			if len(output) >= pending {
				if output, ok = t.write(one, output); !ok {
					return
				}
			}
		}
		if output, ok = t.write(one, output); !ok {
			return
		}
	}
}

// read reads until input has a whole message.
func (t *tcpServer) read(one *connection, input []byte) ([]byte, bool) {
	// The rest moves to a buffer of its own size.
	input = append(make([]byte, 0, max(readSize, len(input))), input...)
	if !t.connections.await(one, time.Now().Add(idleTimeout)) {
		return nil, false
	}
	for !whole(input) {
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

// whole reports whether input begins with a whole message.
func whole(input []byte) bool {
	return len(input) >= 2 && len(input) >= 2+int(binary.BigEndian.Uint16(input))
}

// answer appends the response to a query, with its length in front.
func (t *tcpServer) answer(output, query []byte, from netip.Addr) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	began := t.responder.counts.clock.begin()
	msg := t.responder.respond(query, from, true, t.scratch[:0])
	t.responder.counts.clock.end(began, 1)
	if msg == nil {
		return output
	}
	return append(binary.BigEndian.AppendUint16(output, uint16(len(msg))), msg...)
}

// write sends the responses and returns the buffer, emptied, unless it has grown large.
func (t *tcpServer) write(one *connection, output []byte) ([]byte, bool) {
	if len(output) == 0 {
		return output, true
	}
	t.connections.grant(one, writeTimeout)
	if _, err := one.Write(output); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.connections.unread.Add(1)
		}
		return nil, false
	}
	t.connections.answered(one)
	if cap(output) > readSize {
		return nil, true
	}
	return output[:0], true
}
