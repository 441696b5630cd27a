//go:build linux

package main

import (
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"
	"unsafe"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"
)

// loadCommand is the first argument that makes this program the load client. The client is a separate process, on
// another core than the server.
const loadCommand = "load"

const (
	clientBatch = 32
	warmUp      = 300 * time.Millisecond
	lostAfter   = 200 * time.Millisecond
	// resolverWaits is the shortest time after which a resolver retries.
	resolverWaits = 400 * time.Millisecond
	maxReply      = 4096
)

// shape is the client's concurrency: the number of sockets, and of concurrent queries on each socket.
type shape struct{ sockets, window int }

// tally contains the numbers of the client's responses and their times.
type tally struct {
	All      uint64  // correct answers, including the warm-up
	Answered uint64  // of these, after the warm-up
	Wrong    uint64  // any other response
	Lost     uint64  // without an answer within lostAfter
	Seconds  float64 // duration of the Answered responses

	InTime                   uint64  // Answered responses within resolverWaits; only of a steady client
	P1, P50, P99, P999, Most float64 // response times in milliseconds; only of a steady client
}

// loadMain is the main function of the load client. It writes a tally in JSON to the standard output.
func loadMain(args []string) int {
	flags := flag.NewFlagSet(loadCommand, flag.ExitOnError)
	port := flags.Int("port", 0, "of the server")
	names := flags.Int("names", 1, "number of queried names")
	seconds := flags.Float64("seconds", 1, "after the warm-up")
	rate := flags.Float64("rate", 0, "queries a second, whatever comes back; 0: as many as are answered")
	patience := flags.Duration("patience", lostAfter, "with -rate: how long to wait for the last answers")
	signed := flags.Bool("signed", false, "ask for signatures")
	ask := flags.String("ask", "", "for names that are invented, and which")
	var s shape
	flags.IntVar(&s.sockets, "sockets", 8, "")
	flags.IntVar(&s.window, "window", 32, "")
	_ = flags.Parse(args)
	c, err := newClient(*port, asking(*ask), *names, *signed, s)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	work := c.run
	if *rate > 0 {
		work = func(length time.Duration) tally { return c.steadily(*rate, length, *patience) }
	}
	if err := json.NewEncoder(os.Stdout).Encode(work(time.Duration(*seconds * float64(time.Second)))); err != nil {
		return 1
	}
	return 0
}

// client queries in a closed loop: each socket has at most window queries in flight. One system call sends or receives
// many messages, so that the server is slower than the client.
type client struct {
	queries [][]byte
	next    int
	asking  asking
	sockets []*clientSocket
	window  int
	tally   tally
}

// clientSocket is a socket of a client. busy has the IDs of queries without an answer.
type clientSocket struct {
	fd      int
	flying  int
	id      uint16
	busy    [1 << 16]bool
	last    time.Time
	out, in [clientBatch]unix.Mmsghdr
	outs    [clientBatch]unix.Iovec
	ins     [clientBatch]unix.Iovec
	outRoom [clientBatch][512]byte
	inRoom  [clientBatch][maxReply]byte
}

func newClient(port int, ask asking, names int, signed bool, s shape) (*client, error) {
	c := &client{window: s.window, asking: ask}
	for _, name := range ask.questions(names) {
		q := new(dns.Msg).SetQuestion(name+".", dns.TypeA)
		q.RecursionDesired = false
		if signed {
			q.SetEdns0(1232, true)
		}
		packed, err := q.Pack()
		if err != nil {
			return nil, err
		}
		c.queries = append(c.queries, packed)
	}
	// A random order, so that no cache profits from neighboring names; the same in each run.
	for i, at := len(c.queries)-1, uint32(1); i > 0; i-- {
		at = at*1664525 + 1013904223
		j := int(at>>8) % (i + 1)
		c.queries[i], c.queries[j] = c.queries[j], c.queries[i]
	}
	for range s.sockets {
		socket, err := newClientSocket(port)
		if err != nil {
			return nil, err
		}
		c.sockets = append(c.sockets, socket)
	}
	return c, nil
}

func newClientSocket(port int) (*clientSocket, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return nil, err
	}
	for _, option := range []int{unix.SO_RCVBUF, unix.SO_SNDBUF} {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, 4<<20) // a smaller limit of net.core is sufficient
	}
	s := &clientSocket{fd: fd}
	for i := range clientBatch {
		s.outs[i].Base, s.ins[i].Base = &s.outRoom[i][0], &s.inRoom[i][0]
		s.ins[i].SetLen(maxReply)
		s.out[i].Hdr.Iov, s.in[i].Hdr.Iov = &s.outs[i], &s.ins[i]
		s.out[i].Hdr.SetIovlen(1)
		s.in[i].Hdr.SetIovlen(1)
	}
	return s, nil
}

// run sends queries during a warm-up and then for length. It returns the tally.
func (c *client) run(length time.Duration) tally {
	from := time.Now().Add(warmUp)
	until := from.Add(length)
	var set []unix.PollFd
	for _, s := range c.sockets {
		set = append(set, unix.PollFd{Fd: int32(s.fd), Events: unix.POLLIN})
	}
	for now := time.Now(); now.Before(until); now = time.Now() {
		progress := false
		for _, s := range c.sockets {
			progress = c.receive(s, now, now.After(from)) || progress
			progress = c.send(s, now) || progress
		}
		if !progress {
			_, _ = unix.Poll(set, 5)
		}
	}
	c.tally.Seconds = length.Seconds()
	return c.tally
}

func (c *client) receive(s *clientSocket, now time.Time, counting bool) (any bool) {
	for {
		n := messages(unix.SYS_RECVMMSG, s.fd, s.in[:])
		for i := range n {
			reply := s.inRoom[i][:s.in[i].Len]
			if len(reply) < 12 || !s.busy[binary.BigEndian.Uint16(reply)] {
				continue
			}
			s.busy[binary.BigEndian.Uint16(reply)] = false
			s.flying--
			right := c.right(reply)
			if right {
				c.tally.All++
			}
			switch {
			case !counting:
			case right:
				c.tally.Answered++
			default:
				c.tally.Wrong++
			}
		}
		if n > 0 {
			any, s.last = true, now
		}
		if n < clientBatch {
			break
		}
	}
	if s.flying > 0 && now.Sub(s.last) > lostAfter {
		c.tally.Lost += uint64(s.flying)
		s.flying, s.last = 0, now
		clear(s.busy[:])
	}
	return any
}

// right reports whether a reply is correct: addresses for names with addresses, otherwise NXDOMAIN with an authority
// section.
func (c *client) right(reply []byte) bool {
	rcode, answers, authority := int(reply[3]&0xF), binary.BigEndian.Uint16(reply[6:]), binary.BigEndian.Uint16(reply[8:])
	if c.asking.positive() {
		return rcode == dns.RcodeSuccess && answers > 0
	}
	return rcode == dns.RcodeNameError && authority > 0
}

// send fills the window, by at most a batch. It sends nothing while less than half of the window, or of a batch, is
// free.
func (c *client) send(s *clientSocket, now time.Time) bool {
	room := min(c.window-s.flying, clientBatch)
	if room < min(c.window/2, clientBatch/2) || room <= 0 {
		return false
	}
	n := c.sendNext(s, room)
	for i := range n {
		s.busy[binary.BigEndian.Uint16(s.outRoom[i][:])] = true
	}
	if s.flying == 0 {
		s.last = now
	}
	s.flying += n
	return n > 0
}

// sendNext sends the next queries over a socket, with ascending ids. It returns the number of sent queries, which are
// the first queries of outRoom.
func (c *client) sendNext(s *clientSocket, count int) int {
	for i := range count {
		q := c.queries[c.next]
		if c.next++; c.next == len(c.queries) {
			c.next = 0
		}
		copy(s.outRoom[i][:], q)
		s.outs[i].SetLen(len(q))
		s.id++
		binary.BigEndian.PutUint16(s.outRoom[i][:], s.id)
	}
	return messages(unix.SYS_SENDMMSG, s.fd, s.out[:count])
}

// messages calls recvmmsg or sendmmsg without waiting. It returns the number of messages, 0 on an error.
func messages(call uintptr, fd int, headers []unix.Mmsghdr) int {
	n, _, errno := unix.RawSyscall6(call, uintptr(fd), uintptr(unsafe.Pointer(&headers[0])), uintptr(len(headers)),
		unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}
