package dnsserver // inside: it uses connections, idleTimeout and newConnections

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
)

// testTCP returns a tcpServer without a listener.
func testTCP(t *testing.T, limit int) *tcpServer {
	return &tcpServer{connections: newConnections(limit), responder: testResponder(testView(t))}
}

// connect starts a connection and returns the client's end of it.
func connect(t *testing.T, server *tcpServer, client string) net.Conn {
	t.Helper()
	far, near := net.Pipe()
	one := server.connections.add(near, netip.AddrPortFrom(netip.MustParseAddr(client), 53000))
	if one == nil {
		t.Fatal("not admitted")
	}
	go func() {
		defer server.connections.closeConnection(one)
		server.serveConnection(one, nil)
	}()
	return far
}

// framed returns a query with its length in front.
func framed(t testing.TB, id uint16, name string) []byte {
	packet := query(t, name, dns.TypeA, func(m *dns.Msg) { m.Id = id })
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(packet))), packet...)
}

func readFramed(t *testing.T, conn net.Conn) *dns.Msg {
	t.Helper()
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		t.Fatal(err)
	}
	msg := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(conn, msg); err != nil {
		t.Fatal(err)
	}
	return read(t, msg)
}

func wantClosed(t *testing.T, conn net.Conn, after time.Duration) {
	t.Helper()
	begin := time.Now()
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("reading: %v, want the end", err)
	}
	if took := time.Since(begin); took != after {
		t.Errorf("closed after %v, want %v", took, after)
	}
}

func TestTCP_PipelinedQueriesAreAllAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := connect(t, testTCP(t, 10), "198.51.100.1")
		const queries = 100
		go func() {
			var all []byte
			for id := range uint16(queries) {
				all = append(all, framed(t, id, "big.gslb.test.")...)
			}
			_, _ = conn.Write(all)
		}()
		for id := range uint16(queries) {
			if m := readFramed(t, conn); m.Id != id || len(m.Answer) != 100 {
				t.Fatalf("answer %d: id %d with %d records", id, m.Id, len(m.Answer))
			}
		}
		_ = conn.Close()
		synctest.Wait()
	})
}

func TestTCP_AQueryMayComeOctetByOctet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := connect(t, testTCP(t, 10), "198.51.100.1")
		for range 3 {
			for _, octet := range framed(t, 7, "one.gslb.test.") {
				if _, err := conn.Write([]byte{octet}); err != nil {
					t.Fatal(err)
				}
			}
			if m := readFramed(t, conn); m.Id != 7 || m.Rcode != dns.RcodeSuccess {
				t.Fatalf("%s", describe(m))
			}
		}
		_ = conn.Close()
		synctest.Wait()
	})
}

// A client, such as dig or socat, may close its side of the connection and still wait for its answers.
func TestTCP_WhoSendsNoMoreIsStillAnswered(t *testing.T) {
	s, _, _ := startServer(t, "127.0.0.1:0")
	conn, err := net.Dial("tcp", s.Addrs()[0].String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	response := framed(t, 1, "one.gslb.test.")
	response[4] |= flagResponse >> 8 // the server ignores a response, and answers the queries after it
	if _, err := conn.Write(append(response, framed(t, 2, "big.gslb.test.")...)); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if m := readFramed(t, conn); m.Id != 2 || len(m.Answer) != 100 {
		t.Errorf("id %d with %d records", m.Id, len(m.Answer))
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("then: %v, want the end", err)
	}
}

// Length and message are sent with one write, so that they are in one segment (RFC 7766 section 8).
func TestTCP_LengthAndMessageAreWrittenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := connect(t, testTCP(t, 10), "198.51.100.1")
		_, _ = conn.Write(framed(t, 1, "one.gslb.test."))
		first := make([]byte, 512)
		n, err := conn.Read(first)
		if err != nil || n < 2 || n != 2+int(binary.BigEndian.Uint16(first)) {
			t.Errorf("%d octets first, %v: %x", n, err, first[:n])
		}
		_ = conn.Close()
		synctest.Wait()
	})
}

func TestTCP_IdleAndSlowClientsAreClosedInTime(t *testing.T) {
	for name, begin := range map[string][]byte{"silent": nil, "half a length": {0},
		"half a query": framed(t, 1, "one.gslb.test.")[:9]} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := testTCP(t, 10)
				conn := connect(t, server, "198.51.100.1")
				if begin != nil {
					_, _ = conn.Write(begin)
				}
				wantClosed(t, conn, idleTimeout)
				if n := server.connections.idle.Load(); n != 1 {
					t.Errorf("%d counted as idle", n)
				}
			})
		})
	}
}

func TestTCP_DribblingDoesNotBuyTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := connect(t, testTCP(t, 10), "198.51.100.1")
		begin := time.Now()
		const step = 900 * time.Millisecond // not a divisor, so that no octet arrives exactly at the timeout
		for _, octet := range framed(t, 1, "one.gslb.test.") {
			if _, err := conn.Write([]byte{octet}); err != nil {
				break
			}
			time.Sleep(step)
		}
		if took := time.Since(begin); took < idleTimeout || took > idleTimeout+step {
			t.Errorf("closed after %v, want %v", took, idleTimeout)
		}
	})
}

func TestTCP_AClientThatDoesNotReadIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := testTCP(t, 10)
		conn := connect(t, server, "198.51.100.1")
		_, _ = conn.Write(framed(t, 1, "one.gslb.test."))
		time.Sleep(writeTimeout)
		synctest.Wait()
		if n := server.connections.countOpen(); n != 0 {
			t.Errorf("%d connections open after %v", n, writeTimeout)
		}
		if n := server.connections.unread.Load(); n != 1 {
			t.Errorf("%d counted as not reading", n)
		}
	})
}

// pipelined sends many queries at the same time, so that the server writes their answers in several parts.
func pipelined(t *testing.T, conn net.Conn) {
	var all []byte
	for id := range uint16(readSize / len(framed(t, 0, "big.gslb.test."))) {
		all = append(all, framed(t, id, "big.gslb.test.")...)
	}
	go func() { _, _ = conn.Write(all) }()
}

// If a client accepts only a part of an answer, the server writes nothing more: the client could not parse it.
func TestTCP_NothingIsWrittenBehindATornAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := testTCP(t, 10)
		conn := connect(t, server, "198.51.100.1")
		defer conn.Close()
		pipelined(t, conn)
		time.Sleep(writeTimeout)
		synctest.Wait()
		if open, unread := server.connections.countOpen(), server.connections.unread.Load(); open != 0 || unread != 1 {
			t.Errorf("%d connections are open, %d were closed", open, unread)
		}
	})
}

// A client that reads each part of its answers late does not delay the stop.
func TestTCP_ASlowReaderDoesNotHoldUpTheStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := testTCP(t, 10)
		conn := connect(t, server, "198.51.100.1")
		pipelined(t, conn)
		read := make(chan struct{})
		go func() {
			defer close(read)
			for err := error(nil); err == nil; _, err = conn.Read(make([]byte, 4*writeThreshold)) {
				time.Sleep(stopGrace * 9 / 10) // virtual
			}
		}()
		synctest.Wait()
		server.connections.shutDown(stopGrace)
		time.Sleep(stopGrace)
		synctest.Wait()
		if open := server.connections.countOpen(); open != 0 {
			t.Errorf("%d connections are open", open)
		}
		_ = conn.Close()
		<-read
	})
}

func TestTCP_NonsenseEndsTheConnection(t *testing.T) {
	for name, begin := range map[string]string{"length 0": "\x00\x00", "shorter than a header": "\x00\x05hello",
		"an octet less than a header": "\x00\x0bGET / HTTP/"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := testTCP(t, 10)
				conn := connect(t, server, "198.51.100.1")
				go func() { _, _ = conn.Write([]byte(begin)) }()
				wantClosed(t, conn, 0)
				if n := server.connections.nonsense.Load(); n != 1 {
					t.Errorf("%d counted as nonsense", n)
				}
			})
		})
	}
}

func TestTCP_WhoWaitedLongestMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := testTCP(t, 3)
		var conns []net.Conn
		for i := range 3 {
			conns = append(conns, connect(t, server, fmt.Sprintf("198.51.100.%d", i)))
		}
		// The first connection has work, so the second connection is idle for the longest time.
		_, _ = conns[0].Write(framed(t, 1, "one.gslb.test."))
		readFramed(t, conns[0])
		synctest.Wait()
		fourth := connect(t, server, "198.51.100.9")
		wantClosed(t, conns[1], 0)
		for _, conn := range []net.Conn{conns[0], conns[2], fourth} {
			_, _ = conn.Write(framed(t, 2, "one.gslb.test."))
			if m := readFramed(t, conn); m.Id != 2 {
				t.Errorf("%s", describe(m))
			}
			_ = conn.Close()
		}
		synctest.Wait()
		if got := server.connections.evicted.Load(); got != 1 || server.connections.countOpen() != 0 {
			t.Errorf("%d evicted, %d open; want 1 and 0", got, server.connections.countOpen())
		}
	})
}

func TestConnections_OneClientCannotTakeAllPlaces(t *testing.T) {
	c := newConnections(1000)
	admit := func(client string) *connection {
		_, near := net.Pipe()
		return c.add(near, netip.AddrPortFrom(netip.MustParseAddr(client), 53000))
	}
	other := admit("203.0.113.1")
	var first *connection
	for i := range maxPerClient + 10 {
		one := admit(fmt.Sprintf("2001:db8::%x", i+1)) // one /64
		if first == nil {
			first = one
		}
	}
	if c.countOpen() != maxPerClient+1 || c.evictedClient.Load() != 10 || first.inAll != nil || other.inAll == nil {
		t.Errorf("%d open, %d evicted", c.countOpen(), c.evictedClient.Load())
	}
}

func TestConnections_RoomIsMadeEvenByAClientsOnlyConnection(t *testing.T) {
	c := newConnections(1)
	for range 3 {
		_, near := net.Pipe()
		one := c.add(near, netip.AddrPortFrom(netip.MustParseAddr("203.0.113.1"), 53000))
		if one == nil || c.countOpen() != 1 {
			t.Fatalf("%d open", c.countOpen())
		}
	}
	if c.evictOldest(); c.countOpen() != 0 || len(c.clients) != 0 {
		t.Errorf("%d open, clients %v", c.countOpen(), c.clients)
	}
}

// A query of a new connection may still be in transit, so this connection gets time for it. Other idle connections are
// closed.
func TestConnections_CloseEndsTheWaitingButOfFreshOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := testTCP(t, 10)
		for _, c := range []struct {
			answered bool
			waits    time.Duration
		}{{true, 0}, {false, firstQueryGrace}} {
			_, near := net.Pipe()
			one := server.connections.add(near, netip.AddrPortFrom(netip.MustParseAddr("198.51.100.2"), 53000))
			if c.answered {
				server.connections.markAnswered(one)
			}
			server.connections.shutDown(stopGrace)
			began := time.Now()
			if _, err := one.Read(make([]byte, 1)); err == nil || time.Since(began) != c.waits {
				t.Errorf("answered %t: waited %s, %v; want %s", c.answered, time.Since(began), err, c.waits)
			}
			if server.connections.setReadDeadline(one, time.Now().Add(idleTimeout)) == c.answered {
				t.Errorf("answered %t: may it wait on? %t", c.answered, !c.answered)
			}
			server.connections.closeConnection(one)
			server.connections.closing = false
		}
	})
}

func TestConnections_WhatComesAfterCloseIsFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := testTCP(t, 10)
		server.connections.shutDown(stopGrace)
		conn := connect(t, server, "198.51.100.1")
		wantClosed(t, conn, firstQueryGrace)
	})
}
