//go:build linux

package main

import (
	"encoding/binary"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// pause is the longest pause of the steady client between searches for queries to send.
const pause = 200 * time.Microsecond

// steadyClient sends queries at a steady rate, independently of the answers, and measures the time of each answer.
type steadyClient struct {
	*client
	sent   []*[1 << 16]time.Time // by socket and ID; zero if the query is not pending
	took   []time.Duration
	number uint64 // number of the next query
}

// steadily sends rate queries per second for a warm-up and then for length, and waits for late answers for the
// time patience. It returns the tally.
func (c *client) steadily(rate float64, length, patience time.Duration) tally {
	s := &steadyClient{client: c}
	var set []unix.PollFd
	for _, socket := range c.sockets {
		s.sent = append(s.sent, new([1 << 16]time.Time))
		set = append(set, unix.PollFd{Fd: int32(socket.fd), Events: unix.POLLIN})
	}
	began := time.Now()
	from, until := began.Add(warmUp), began.Add(warmUp+length)
	for now := began; now.Before(until.Add(patience)); now = time.Now() {
		for i := range c.sockets {
			s.collect(i, from, until)
		}
		if now.Before(until) {
			s.ask(uint64(now.Sub(began).Seconds()*rate), from)
		}
		rest := unix.NsecToTimespec(pause.Nanoseconds())
		_, _ = unix.Ppoll(set, &rest, nil)
	}
	for _, sent := range s.sent {
		for _, at := range sent {
			if !at.IsZero() && at.After(from) {
				c.tally.Lost++
			}
		}
	}
	slices.Sort(s.took)
	at := func(part float64) float64 {
		if len(s.took) == 0 {
			return 0
		}
		return s.took[int(part*float64(len(s.took)-1))].Seconds() * 1000
	}
	c.tally.Seconds = length.Seconds()
	c.tally.P1, c.tally.P50, c.tally.P99, c.tally.P999, c.tally.Most = at(0.01), at(0.5), at(0.99), at(0.999), at(1)
	return c.tally
}

// ask sends queries until their number since the start equals due, a batch on each socket in rotation.
func (s *steadyClient) ask(due uint64, from time.Time) {
	for s.number < due {
		i := int(s.number/clientBatch) % len(s.sockets)
		socket, room := s.sockets[i], int(min(due-s.number, clientBatch))
		now := time.Now()
		n := s.sendNext(socket, room)
		for k := range n {
			at := &s.sent[i][binary.BigEndian.Uint16(socket.outRoom[k][:])]
			if !at.IsZero() && at.After(from) {
				s.tally.Lost++ // without an answer for 65536 queries
			}
			*at = now
		}
		s.number += uint64(room)
	}
}

// collect reads the responses that a socket has received. It counts only responses to queries between from and until.
func (s *steadyClient) collect(i int, from, until time.Time) {
	socket := s.sockets[i]
	for {
		n := messages(unix.SYS_RECVMMSG, socket.fd, socket.in[:])
		now := time.Now()
		for k := range n {
			reply := socket.inRoom[k][:socket.in[k].Len]
			if len(reply) < 12 {
				continue
			}
			at := &s.sent[i][binary.BigEndian.Uint16(reply)]
			right := s.right(reply)
			if !at.IsZero() && right {
				s.tally.All++
			}
			if !at.IsZero() && at.After(from) && at.Before(until) {
				s.took = append(s.took, now.Sub(*at))
				if now.Sub(*at) <= resolverWaits {
					s.tally.InTime++
				}
				if right {
					s.tally.Answered++
				} else {
					s.tally.Wrong++
				}
			}
			*at = time.Time{}
		}
		if n < clientBatch {
			return
		}
	}
}
