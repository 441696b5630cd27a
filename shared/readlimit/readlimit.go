// Package readlimit bounds what is read of a connection, for protocols whose libraries read as much as the other side
// sends. The checks of gRPC and the notifications by mail use it. It never bounds what is written.
package readlimit

import (
	"fmt"
	"net"
)

// Conn returns a connection whose reads fail once so many octets have been read of conn. One goroutine reads it at a
// time.
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
