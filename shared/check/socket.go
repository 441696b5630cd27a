package check

import (
	"bytes"
	"errors"
	"io"
	"net"
)

// MaxExpectRead is the number of octets of a tcp answer within which the expected text must be.
const MaxExpectRead = 4 << 10

var errNotThere = errors.New("the expected text is not in the answer")

// socket makes the checks of type tcp.
type socket struct{ send, expect []byte }

func prepareSocket(t target) func(*attempt) error {
	d := t.spec.Detail.Detail()
	s, connect := &socket{send: []byte(d.Send), expect: []byte(d.Expect)}, t.connect
	return func(a *attempt) error {
		conn, err := connect(a)
		if err != nil {
			return err
		}
		return s.converse(a, conn)
	}
}

// converse sends and receives the texts of the check on an established connection, and closes the connection.
func (s *socket) converse(a *attempt, conn net.Conn) error {
	defer conn.Close()
	if len(s.send) == 0 && len(s.expect) == 0 {
		return nil
	}
	if end, ok := a.ctx.Deadline(); ok {
		if err := conn.SetDeadline(end); err != nil {
			return err
		}
	}
	a.enter(responding)
	if _, err := conn.Write(s.send); err != nil {
		return err
	}
	return s.await(conn)
}

// await reads until the expected text has arrived.
func (s *socket) await(from io.Reader) error {
	if len(s.expect) == 0 {
		return nil
	}
	answer := make([]byte, 0, MaxExpectRead)
	for len(answer) < MaxExpectRead {
		n, err := from.Read(answer[len(answer):MaxExpectRead])
		answer = answer[:len(answer)+n]
		if bytes.Contains(answer, s.expect) {
			return nil
		}
		if err == io.EOF && len(answer) > 0 {
			return errNotThere
		}
		if err != nil {
			return err
		}
	}
	return errNotThere
}
