package dnsserver

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// replies holds the responses to a batch of queries until send. Responses of one length to one port of one client are
// sent as one large packet, which the kernel or the network card cuts into datagrams (UDP_SEGMENT, udp(7)); the last
// may be shorter. So the way through the kernel is paid for once for all of them. It helps forwarders and load
// balancers, which ask from few ports, and not resolvers, which ask from another port each time.
type replies struct {
	count  int
	single bool // each reply is a message of its own: UDP_SEGMENT has failed before

	length [batch]int
	port   [batch]uint16 // of the client
	next   [batch]uint8  // the next reply to a port with the same hash; 0: none
	last   [hashes]uint8 // the last reply to a port with this hash, counted from 1; 0: none
	to     [batch]*unix.Msghdr
	octets [batch][replyRoom]byte

	messages [batch]unix.Mmsghdr
	parts    [batch]unix.Iovec // of the messages, one after the other
	control  [batch][controlSize + segmentSpace]byte
}

// hashes is the number of hash values of ports: enough for the ports of a batch to differ mostly.
const hashes = 4 * batch

const _ = uint8(batch) // fits

// replyRoom is the space for one reply, in octets. It is no power of two, so that the beginnings of replies, which
// mostly are all that is written, do not contend for a few lines of the processor's cache.
const replyRoom = maxUDPSize + 64

// space returns the memory for the next reply.
func (r *replies) space() []byte { return r.octets[r.count][:0] }

// add adds the reply that was written into space. to is the header of its query, which must not change before send.
func (r *replies) add(length int, to *unix.Msghdr) {
	r.length[r.count], r.to[r.count] = length, to
	r.port[r.count] = *(*uint16)(unsafe.Add(unsafe.Pointer(to.Name), 2)) // the same place in addresses of either family
	hash := (r.port[r.count] ^ r.port[r.count]>>8) % hashes
	if before := r.last[hash]; before > 0 {
		r.next[before-1] = uint8(r.count)
	}
	r.count++
	r.next[r.count-1], r.last[hash] = 0, uint8(r.count)
}

// group puts the replies into few messages and returns the number of these.
func (r *replies) group() (messages int) {
	var grouped [batch]bool
	n := 0 // parts
	for i := range r.count {
		if grouped[i] {
			continue
		}
		first, shorter := n, -1
		n = r.part(n, i)
		for j := int(r.next[i]); j > 0 && !r.single; j = int(r.next[j]) {
			if r.port[j] != r.port[i] || r.length[j] > r.length[i] || grouped[j] || !sameClient(r.to[i], r.to[j]) {
				continue
			}
			if r.length[j] == r.length[i] {
				grouped[j] = true
				n = r.part(n, j)
			} else if shorter < 0 {
				shorter = j
			}
		}
		if shorter >= 0 {
			grouped[shorter] = true
			n = r.part(n, shorter)
		}
		message := &r.messages[messages].Hdr
		to := r.to[i]
		message.Name, message.Namelen, message.Control, message.Controllen = to.Name, to.Namelen, to.Control, to.Controllen
		message.Iov = &r.parts[first]
		message.SetIovlen(n - first)
		if n-first > 1 {
			r.cut(messages)
		}
		messages++
	}
	return messages
}

// part makes a reply part number n of the messages, and returns the next number.
func (r *replies) part(n, reply int) int {
	r.parts[n].Base = &r.octets[reply][0]
	r.parts[n].SetLen(r.length[reply])
	return n + 1
}

// sameClient reports whether two queries have the same source and destination.
func sameClient(a, b *unix.Msghdr) bool {
	return a.Namelen == b.Namelen && a.Controllen == b.Controllen &&
		string(unsafe.Slice(a.Name, a.Namelen)) == string(unsafe.Slice(b.Name, b.Namelen)) &&
		(a.Controllen == 0 || string(unsafe.Slice(a.Control, a.Controllen)) == string(unsafe.Slice(b.Control, b.Controllen)))
}

// send gives all replies to the kernel and returns the number that it did not take; those clients will ask again.
func (r *replies) send(fd uintptr) (unsent int) {
	for messages := r.messages[:r.group()]; len(messages) > 0; {
		n, errno := send(fd, messages)
		switch errno {
		case 0:
			messages = messages[n:]
		case unix.EINTR:
		case unix.EAGAIN:
			for i := range messages {
				unsent += int(messages[i].Hdr.Iovlen)
			}
			messages = nil
		default:
			unsent += r.apart(fd, &messages[0].Hdr)
			messages = messages[1:]
		}
	}
	r.count, r.last = 0, [hashes]uint8{}
	return unsent
}

// apart sends the replies of a refused message one by one, if there are several, since not each route supports
// UDP_SEGMENT. It returns the number that the kernel refused again.
func (r *replies) apart(fd uintptr, refused *unix.Msghdr) (unsent int) {
	if refused.Iovlen == 1 {
		return 1
	}
	r.single = true
	one := [1]unix.Mmsghdr{{Hdr: *refused}}
	one[0].Hdr.SetIovlen(1)
	one[0].Hdr.SetControllen(int(refused.Controllen) - segmentSpace)
	if one[0].Hdr.Controllen == 0 {
		one[0].Hdr.Control = nil
	}
	for _, part := range unsafe.Slice(refused.Iov, refused.Iovlen) {
		one[0].Hdr.Iov = &part
		if _, errno := send(fd, one[:]); errno != 0 {
			unsent++
		}
	}
	return unsent
}

// segmentSpace is the length of the control message with the segments' length, in octets: a header and a number of two
// octets, aligned.
const segmentSpace = unix.SizeofCmsghdr + unix.SizeofPtr

// cut adds to message i the control message that makes the kernel cut it.
func (r *replies) cut(i int) {
	message := &r.messages[i].Hdr
	control := r.control[i][:]
	n := copy(control, unsafe.Slice(message.Control, message.Controllen))
	header := (*unix.Cmsghdr)(unsafe.Pointer(&control[n]))
	header.Level, header.Type = unix.SOL_UDP, unix.UDP_SEGMENT
	header.SetLen(unix.CmsgLen(2))
	binary.NativeEndian.PutUint16(control[n+unix.CmsgLen(0):], uint16(message.Iov.Len))
	message.Control = &control[0]
	message.SetControllen(n + segmentSpace)
}
