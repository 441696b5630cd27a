package httpserve // inside: it uses conn

import (
	"errors"
	"net"
	"testing"
	"time"
)

// deadline bounds every wait of these tests.
const deadline = 30 * time.Second

func listen(t *testing.T, limit int) *Listener {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := Bound(inner, limit)
	t.Cleanup(func() { l.Close() })
	return l
}

// pair is both ends of one connection.
type pair struct {
	client net.Conn
	server *conn
}

func connect(t *testing.T, l *Listener) pair {
	t.Helper()
	client := dial(t, l)
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return pair{client, server.(*conn)}
}

func dial(t *testing.T, l *Listener) net.Conn {
	t.Helper()
	client, err := net.DialTimeout("tcp", l.Addr().String(), deadline)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// isOpen sends a byte through the connection.
func (p pair) isOpen(t *testing.T) bool {
	t.Helper()
	buf := make([]byte, 1)
	_ = p.client.SetDeadline(time.Now().Add(deadline))
	if _, err := p.server.Write([]byte("x")); err != nil {
		return false
	}
	_, err := p.client.Read(buf)
	return err == nil
}

func TestListener_NewConnectionTakesThePlaceOfTheLongestWaiting(t *testing.T) {
	l := listen(t, 3)
	first, second, third := connect(t, l), connect(t, l), connect(t, l)
	first.server.beginRequest() // has an active request: stays open although it is the oldest
	fourth := connect(t, l)
	for name, tc := range map[string]struct {
		p    pair
		want bool
	}{"answered": {first, true}, "longest waiting": {second, false}, "later": {third, true}, "new": {fourth, true}} {
		if got := tc.p.isOpen(t); got != tc.want {
			t.Errorf("%s: open is %v, want %v", name, got, tc.want)
		}
	}
}

func TestListener_AnsweredConnectionWaitsFromThen(t *testing.T) {
	l := listen(t, 2)
	first := connect(t, l)
	second := connect(t, l)
	first.server.beginRequest()
	first.server.endResponse() // the oldest connection, with the latest start of waiting
	third := connect(t, l)
	if !first.isOpen(t) || second.isOpen(t) || !third.isOpen(t) {
		t.Error("the place was not taken from the connection that had waited longest")
	}
}

func TestListener_AllBusyMakesTheNextOneWait(t *testing.T) {
	for name, free := range map[string]func(*conn){
		"until an answer ends": (*conn).endResponse,
		"until one closes":     func(c *conn) { c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			l := listen(t, 1)
			first := connect(t, l)
			first.server.beginRequest()
			dial(t, l)
			accepted := make(chan error, 1)
			go func() {
				_, err := l.Accept()
				accepted <- err
			}()
			select {
			case err := <-accepted:
				t.Fatalf("accepted beyond the limit (%v)", err)
			case <-time.After(50 * time.Millisecond):
			}
			free(first.server)
			select {
			case err := <-accepted:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(deadline):
				t.Error("still waiting after a place was free")
			}
		})
	}
}

func TestListener_CloseEndsAnAcceptThatWaitsForRoom(t *testing.T) {
	l := listen(t, 1)
	connect(t, l).server.beginRequest()
	dial(t, l)
	accepted := make(chan error, 1)
	go func() {
		_, err := l.Accept()
		accepted <- err
	}()
	l.Close()
	select {
	case err := <-accepted:
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("error %v", err)
		}
	case <-time.After(deadline):
		t.Error("Accept did not end")
	}
}

// After stopCounting, a connection does not count toward the limit. After resumeCounting it counts again, or is removed
// if it was closed in the meantime.
func TestListener_AConnectionApartHasNoPlace(t *testing.T) {
	l := listen(t, 1)
	held := connect(t, l)
	held.server.beginRequest()
	held.server.stopCounting()
	gone := connect(t, l) // otherwise held would block it
	gone.server.beginRequest()
	gone.server.stopCounting()
	if err := gone.server.Close(); err != nil {
		t.Fatal(err)
	}
	gone.server.resumeCounting()
	held.server.resumeCounting()
	held.server.endResponse()
	if len(l.open) != 1 || !held.isOpen(t) {
		t.Errorf("%d have a place", len(l.open))
	}
	if next := connect(t, l); held.isOpen(t) || !next.isOpen(t) {
		t.Error("it keeps its place though it waits")
	}
}
