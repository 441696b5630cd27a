//go:build linux

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// drops counts the packets that the kernel drops because a socket's buffer is full: queries at the server's sockets of
// a port, and answers at its clients' sockets, whose counts are kept when they are closed.
type drops struct {
	port string
	stop chan struct{}
	done sync.WaitGroup

	mu      sync.Mutex
	servers map[string]int // by inode
	clients map[string]int
}

// watchDrops starts to watch; end stops it.
func watchDrops(port int) *drops {
	d := &drops{port: ":" + fmt.Sprintf("%04X", port), stop: make(chan struct{}), servers: map[string]int{},
		clients: map[string]int{}}
	d.done.Go(func() {
		for {
			d.look()
			select {
			case <-d.stop:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	return d
}

func (d *drops) end() {
	close(d.stop)
	d.done.Wait()
}

// look reads the table of UDP sockets, in which the drops are the last column (proc(5)).
func (d *drops) look() {
	text, _ := os.ReadFile("/proc/net/udp")
	d.mu.Lock()
	defer d.mu.Unlock()
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 13 {
			continue
		}
		n, _ := strconv.Atoi(f[12])
		switch {
		case strings.HasSuffix(f[1], d.port):
			d.servers[f[9]] = n
		case strings.HasSuffix(f[2], d.port):
			d.clients[f[9]] = n
		}
	}
}

// now returns the numbers of queries and answers that were dropped so far.
func (d *drops) now() (queries, answers int) {
	d.look()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range d.servers {
		queries += n
	}
	for _, n := range d.clients {
		answers += n
	}
	return queries, answers
}
