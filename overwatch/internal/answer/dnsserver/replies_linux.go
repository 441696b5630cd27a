package dnsserver

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// replies is the responses to a batch of queries on their way to the kernel. Those of one length to one port of one
// client leave as one large packet that the kernel, or the network card, cuts into datagrams at the very end
// (UDP_SEGMENT, udp(7)): the way through the kernel is paid for once for all of them. One that is shorter may be the
// last. Resolvers that ask from another port each time gain nothing by it; forwarders and load balancers do.
type replies struct {
	count  int
	single bool // each reply is a message, as this kernel or the way to the client cannot cut

	length [batch]int
	port   [batch]uint16 // where the reply goes, so that others need not be looked at
	next   [batch]uint8  // the next reply to a port with the same hash, which only such a one can leave with; 0: none
	last   [hashes]uint8 // the last reply to a port with this hash, counted from 1; 0: none
	to     [batch]*unix.Msghdr
	octets [batch][replyRoom]byte

	messages [batch]unix.Mmsghdr
	parts    [batch]unix.Iovec // of the messages, one after the other
	control  [batch][controlSize + segmentSpace]byte
}

// hashes is how many hashes of ports there are: so many that replies to as many ports as fit into a batch mostly
// differ.
const hashes = 4 * batch

const _ = uint8(batch) // fits

// replyRoom is the room for one reply. It is no power of two, so that the beginnings of replies, which mostly are all
// that is written, do not contend for a few lines of the processor's cache.
const replyRoom = maxUDPSize + 64

// room is where the next reply goes.
func (r *replies) room() []byte { return r.octets[r.count][:0] }

// add takes the reply that was written into room, for the sender of a query, which must stay as it is until send.
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

// group puts the replies into as few messages as is simple, and returns how many these are.
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

// part makes a reply the part with the number n, and returns the next number.
func (r *replies) part(n, reply int) int {
	r.parts[n].Base = &r.octets[reply][0]
	r.parts[n].SetLen(r.length[reply])
	return n + 1
}

// sameClient says whether replies to both go from one address and port to one address and port.
func sameClient(a, b *unix.Msghdr) bool {
	return a.Namelen == b.Namelen && a.Controllen == b.Controllen &&
		string(unsafe.Slice(a.Name, a.Namelen)) == string(unsafe.Slice(b.Name, b.Namelen)) &&
		(a.Controllen == 0 || string(unsafe.Slice(a.Control, a.Controllen)) == string(unsafe.Slice(b.Control, b.Controllen)))
}

// send hands all replies to the kernel and returns how many it did not take. Their clients will ask again.
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

// apart sends the replies of a message that the kernel refused one by one, if there are several: not every way can
// be taken by what is still to be cut.
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

// segmentSpace is the room for the control message that says at which length to cut: a header and a number of two
// octets, aligned.
const segmentSpace = unix.SizeofCmsghdr + unix.SizeofPtr

// cut has the kernel cut a message, beside what its control messages say already.
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
