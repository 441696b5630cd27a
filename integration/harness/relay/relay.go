// Package relay is a proxy between an agent and a node's gossip port that interrupts, records and replays messages.
package relay

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Relay forwards packets between an agent and a node, like a NAT, and records all packets and streams of the agent.
type Relay struct {
	At  netip.AddrPort // address for the agent
	to  netip.AddrPort
	Cut atomic.Bool // blocks packets and new streams in both directions

	CutPackets atomic.Bool // blocks packets in both directions

	back atomic.Value // func([]byte): sends a packet to the agent, like the node

	mu      sync.Mutex
	packets [][]byte
	streams []*bytes.Buffer
}

// New opens a relay to a node's gossip port until the end of the test.
func New(t *testing.T, to netip.AddrPort) *Relay {
	t.Helper()
	tcp, udp := bothNetworks(t)
	r := &Relay{At: tcp.Addr().(*net.TCPAddr).AddrPort(), to: to}
	var running sync.WaitGroup
	running.Go(func() { r.relayStreams(tcp, &running) })
	running.Go(func() { r.relayPackets(udp, &running) })
	t.Cleanup(func() {
		_ = tcp.Close()
		_ = udp.Close()
		running.Wait()
	})
	return r
}

// bothNetworks opens the same port for TCP and UDP.
func bothNetworks(t *testing.T) (net.Listener, net.PacketConn) {
	t.Helper()
	for range 100 {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		udp, err := net.ListenPacket("udp", tcp.Addr().String())
		if err == nil {
			return tcp, udp
		}
		_ = tcp.Close()
	}
	t.Fatal("no port is free on both TCP and UDP")
	return nil, nil
}

func (r *Relay) relayStreams(l net.Listener, running *sync.WaitGroup) {
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		out, err := net.DialTimeout("tcp", r.to.String(), time.Second)
		if err == nil && r.Cut.Load() {
			out.Close()
			err = net.ErrClosed
		}
		if err != nil {
			in.Close()
			continue
		}
		sent := &bytes.Buffer{}
		r.mu.Lock()
		r.streams = append(r.streams, sent)
		r.mu.Unlock()
		bound := time.Now().Add(10 * time.Second)
		in.SetDeadline(bound)
		out.SetDeadline(bound)
		running.Go(func() {
			_, _ = io.Copy(out, io.TeeReader(in, locked{r, sent}))
			_ = out.(*net.TCPConn).CloseWrite()
		})
		running.Go(func() {
			_, _ = io.Copy(in, out)
			in.Close()
			out.Close()
		})
	}
}

// locked synchronizes writes to a buffer of the relay.
type locked struct {
	relay *Relay
	to    *bytes.Buffer
}

func (l locked) Write(p []byte) (int, error) {
	l.relay.mu.Lock()
	defer l.relay.mu.Unlock()
	return l.to.Write(p)
}

func (r *Relay) relayPackets(in net.PacketConn, running *sync.WaitGroup) {
	out, err := net.Dial("udp", r.to.String())
	if err != nil {
		return
	}
	defer out.Close()
	var agent net.Addr
	buf := make([]byte, 64<<10)
	for {
		n, from, err := in.ReadFrom(buf)
		if err != nil {
			return
		}
		if r.Cut.Load() || r.CutPackets.Load() {
			continue
		}
		r.mu.Lock()
		r.packets = append(r.packets, slices.Clone(buf[:n]))
		r.mu.Unlock()
		_, _ = out.Write(buf[:n])
		if agent == nil {
			agent = from
			r.back.Store(func(p []byte) { _, _ = in.WriteTo(p, from) })
			running.Go(func() {
				back := make([]byte, 64<<10)
				for {
					n, err := out.Read(back)
					if errors.Is(err, syscall.ECONNREFUSED) {
						continue // the node is temporarily down
					}
					if err != nil {
						return
					}
					if !r.Cut.Load() && !r.CutPackets.Load() {
						_, _ = in.WriteTo(back[:n], agent)
					}
				}
			})
		}
	}
}

// Inject sends a packet to the agent, as if it came from the node. It returns false if the agent has not sent a packet
// yet, because its address is then unknown.
func (r *Relay) Inject(packet []byte) bool {
	send, known := r.back.Load().(func([]byte))
	if known {
		send(packet)
	}
	return known
}

// Recorded returns the numbers of recorded packets and streams.
func (r *Relay) Recorded() (packets, streams int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.packets), len(r.streams)
}

// Replay sends all recorded data to the node, from other sockets.
func (r *Relay) Replay(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	packets := slices.Clone(r.packets)
	var streams [][]byte
	for _, s := range r.streams {
		streams = append(streams, slices.Clone(s.Bytes()))
	}
	r.mu.Unlock()
	udp, err := net.Dial("udp", r.to.String())
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	for _, p := range packets {
		_, _ = udp.Write(p)
	}
	for _, s := range streams {
		tcp, err := net.DialTimeout("tcp", r.to.String(), time.Second)
		if err != nil {
			continue // rejected because of a limit
		}
		tcp.SetDeadline(time.Now().Add(time.Second))
		_, _ = tcp.Write(s)
		_ = tcp.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, tcp)
		tcp.Close()
	}
}
