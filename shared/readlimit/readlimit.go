// Package readlimit bounds the octets read from a connection, for protocols with libraries that read without a limit.
// The gRPC checks and the notifications by mail use it. Writes have no bound.
package readlimit

import (
	"fmt"
	"net"
)

// Conn returns a connection with reads that fail after a number of octets. Only one goroutine may read at a time.
func Conn(conn net.Conn, octets int) net.Conn {
	return &limited{Conn: conn, most: octets, left: octets}
}

type limited struct {
	net.Conn
	most, left int // octets
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left == 0 {
		return 0, fmt.Errorf("the server sent more than %d octets", l.most)
	}
	n, err := l.Conn.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}
