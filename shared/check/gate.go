package check

import (
	"net"
	"sync"
)

// gate delays data that a backend sends before the request. Otherwise net/http would write such data to the standard
// logger, and a backend that sends a greeting (SSH, SMTP) would fill the log. With the gate, the data is an answer that
// is not HTTP.
type gate struct {
	net.Conn
	asked chan struct{}
	once  sync.Once
}

func newGate(conn net.Conn) *gate { return &gate{Conn: conn, asked: make(chan struct{})} }

func (g *gate) open() { g.once.Do(func() { close(g.asked) }) }

// Read waits for the first Write or for Close.
func (g *gate) Read(p []byte) (int, error) {
	<-g.asked
	return g.Conn.Read(p)
}

func (g *gate) Write(p []byte) (int, error) {
	g.open()
	return g.Conn.Write(p)
}

func (g *gate) Close() error {
	g.open()
	return g.Conn.Close()
}
