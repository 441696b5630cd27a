package sockets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The parts of inet_diag_req_v2 and inet_diag_msg in linux/inet_diag.h that this package uses.
const (
	byFamily   = 20      // SOCK_DIAG_BY_FAMILY, the type of request and answer
	listening  = 1 << 10 // TCP_LISTEN in a mask of states
	requestLen = 56      // inet_diag_req_v2
	answerLen  = 72      // inet_diag_msg

	portAt, addressAt = 4, 8 // in inet_diag_msg: source port and source address, in network byte order
)

const (
	// answerBound is the timeout of a kernel message. The kernel usually answers within microseconds.
	answerBound = time.Second
	// bufferSize is the size of the largest message that the kernel sends for a dump.
	bufferSize = 32 << 10
	// maxMessages is the maximum number of messages of a dump. A message has about a hundred sockets.
	maxMessages = 10_000
)

// Lister lists listening sockets over a netlink socket. It belongs to a single goroutine.
type Lister struct {
	fd     int
	buffer []byte
	number uint32 // number of the last request
}

// Open returns a Lister, or an error if the kernel or a security policy does not permit sock_diag. The caller closes
// the Lister.
func Open() (*Lister, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, fmt.Errorf("sock_diag: open a netlink socket: %w", err)
	}
	limit := unix.NsecToTimeval(answerBound.Nanoseconds())
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit); err != nil {
		_ = unix.Close(fd) // the first error is the cause
		return nil, fmt.Errorf("sock_diag: set a time limit: %w", err)
	}
	l := &Lister{fd: fd, buffer: make([]byte, bufferSize)}
	if _, err := l.List(); err != nil {
		_ = unix.Close(fd) // the first error is the cause
		return nil, err
	}
	return l, nil
}

// Close closes the netlink socket.
func (l *Lister) Close() error { return unix.Close(l.fd) }

// List returns the listening TCP sockets of IPv4 and IPv6.
func (l *Lister) List() (Set, error) {
	found := Set{}
	for _, family := range [...]uint8{unix.AF_INET, unix.AF_INET6} {
		if err := l.dump(family, found); err != nil {
			return nil, fmt.Errorf("sock_diag: list listening sockets: %w", err)
		}
	}
	return found, nil
}

// dump adds the listening sockets of a family to found.
func (l *Lister) dump(family uint8, found Set) error {
	l.number++
	if err := unix.Sendto(l.fd, request(family, l.number), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return os.NewSyscallError("sendto", err)
	}
	for range maxMessages {
		n, from, err := unix.Recvfrom(l.fd, l.buffer, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return os.NewSyscallError("recvfrom", err)
		}
		if kernel, ok := from.(*unix.SockaddrNetlink); !ok || kernel.Pid != 0 {
			continue // a message of another process
		}
		done, err := parse(l.buffer[:n], l.number, family, found)
		if done || err != nil {
			return err
		}
	}
	return fmt.Errorf("more than %d messages", maxMessages)
}

// request returns a request for the listening TCP sockets of a family.
func request(family uint8, number uint32) []byte {
	b := make([]byte, unix.NLMSG_HDRLEN+requestLen)
	binary.NativeEndian.PutUint32(b[0:], uint32(len(b)))
	binary.NativeEndian.PutUint16(b[4:], byFamily)
	binary.NativeEndian.PutUint16(b[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	binary.NativeEndian.PutUint32(b[8:], number)
	body := b[unix.NLMSG_HDRLEN:]
	body[0], body[1] = family, unix.IPPROTO_TCP
	binary.NativeEndian.PutUint32(body[4:], listening)
	return b
}

// parse adds the sockets of a datagram of the kernel to found. done reports whether the dump of the request is
// complete. parse ignores answers to previous requests.
func parse(datagram []byte, number uint32, family uint8, found Set) (done bool, err error) {
	messages, err := syscall.ParseNetlinkMessage(datagram)
	if err != nil {
		return false, err
	}
	for _, m := range messages {
		switch {
		case m.Header.Seq != number:
		case m.Header.Type == unix.NLMSG_DONE:
			return true, nil
		case m.Header.Type == unix.NLMSG_ERROR && len(m.Data) >= 4:
			return false, syscall.Errno(-int32(binary.NativeEndian.Uint32(m.Data)))
		case m.Header.Type == byFamily && len(m.Data) >= answerLen:
			found[source(m.Data, family)] = struct{}{}
		}
	}
	return false, nil
}

// source returns the local address and port of a socket. data is an inet_diag_msg.
func source(data []byte, family uint8) netip.AddrPort {
	port := binary.BigEndian.Uint16(data[portAt:])
	if family == unix.AF_INET {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(data[addressAt:])), port)
	}
	return netip.AddrPortFrom(netip.AddrFrom16([16]byte(data[addressAt:])).Unmap(), port)
}
