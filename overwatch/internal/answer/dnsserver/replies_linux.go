package dnsserver

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// replies holds the responses to a batch of queries until send. Responses of equal length to the same client port are
// sent as one message, which the kernel or network card splits into datagrams (UDP_SEGMENT, udp(7)); the last one may
// be shorter. This saves system call cost for forwarders and load balancers, which use few ports, unlike resolvers.
type replies struct {
	count          int
	noSegmentation bool // UDP_SEGMENT failed: send each reply as a separate message

	length [batch]int
	port   [batch]uint16 // client port
	next   [batch]uint8  // index of the next reply with the same port hash; 0 if missing
	last   [hashes]uint8 // number, from 1, of the last reply with this port hash; 0 if missing
	to     [batch]*unix.Msghdr
	octets [batch][replyRoom]byte

	messages [batch]unix.Mmsghdr
	parts    [batch]unix.Iovec // parts of the messages, concatenated
	control  [batch][controlSize + segmentSpace]byte
}

// hashes is the number of hash values of ports. It is large enough to avoid most collisions in a batch.
const hashes = 4 * batch

const _ = uint8(batch) // compile-time check of the index type

// replyRoom is the space for a reply in octets. It is not a power of two, so that the beginnings of replies do not map
// to the same cache sets.
const replyRoom = maxUDPSize + 64

// nextBuffer returns the memory for the next reply.
func (r *replies) nextBuffer() []byte { return r.octets[r.count][:0] }

// add adds the reply in nextBuffer. to is the header of its query, which must not change before send.
func (r *replies) add(length int, to *unix.Msghdr) {
	r.length[r.count], r.to[r.count] = length, to
	r.port[r.count] = *(*uint16)(unsafe.Add(unsafe.Pointer(to.Name), 2)) // same offset for IPv4 and IPv6
	hash := (r.port[r.count] ^ r.port[r.count]>>8) % hashes
	if before := r.last[hash]; before > 0 {
		r.next[before-1] = uint8(r.count)
	}
	r.count++
	r.next[r.count-1], r.last[hash] = 0, uint8(r.count)
}

// groupMessages distributes the replies over messages and returns the number of messages.
func (r *replies) groupMessages() (messages int) {
	var grouped [batch]bool
	n := 0 // number of parts
	for i := range r.count {
		if grouped[i] {
			continue
		}
		first, shorter := n, -1
		n = r.addPart(n, i)
		for j := int(r.next[i]); j > 0 && !r.noSegmentation; j = int(r.next[j]) {
			if r.port[j] != r.port[i] || r.length[j] > r.length[i] || grouped[j] || !sameClient(r.to[i], r.to[j]) {
				continue
			}
			if r.length[j] == r.length[i] {
				grouped[j] = true
				n = r.addPart(n, j)
			} else if shorter < 0 {
				shorter = j
			}
		}
		if shorter >= 0 {
			grouped[shorter] = true
			n = r.addPart(n, shorter)
		}
		message := &r.messages[messages].Hdr
		to := r.to[i]
		message.Name, message.Namelen, message.Control, message.Controllen = to.Name, to.Namelen, to.Control, to.Controllen
		message.Iov = &r.parts[first]
		message.SetIovlen(n - first)
		if n-first > 1 {
			r.setSegmentSize(messages)
		}
		messages++
	}
	return messages
}

// addPart makes a reply the part with index n, and returns the next index.
func (r *replies) addPart(n, reply int) int {
	r.parts[n].Base = &r.octets[reply][0]
	r.parts[n].SetLen(r.length[reply])
	return n + 1
}

// sameClient reports whether two queries have equal source and destination.
func sameClient(a, b *unix.Msghdr) bool {
	return a.Namelen == b.Namelen && a.Controllen == b.Controllen &&
		string(unsafe.Slice(a.Name, a.Namelen)) == string(unsafe.Slice(b.Name, b.Namelen)) &&
		(a.Controllen == 0 || string(unsafe.Slice(a.Control, a.Controllen)) == string(unsafe.Slice(b.Control, b.Controllen)))
}

// send sends all replies and returns the number of unsent replies. Their clients will retry.
func (r *replies) send(fd uintptr) (unsent int) {
	for messages := r.messages[:r.groupMessages()]; len(messages) > 0; {
		n, errno := sendBatch(fd, messages)
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
			unsent += r.sendSeparately(fd, &messages[0].Hdr)
			messages = messages[1:]
		}
	}
	r.count, r.last = 0, [hashes]uint8{}
	return unsent
}

// sendSeparately sends the replies of a failed message one by one, because not every route supports UDP_SEGMENT. It
// returns the number of unsent replies.
func (r *replies) sendSeparately(fd uintptr, refused *unix.Msghdr) (unsent int) {
	if refused.Iovlen == 1 {
		return 1
	}
	r.noSegmentation = true
	one := [1]unix.Mmsghdr{{Hdr: *refused}}
	one[0].Hdr.SetIovlen(1)
	one[0].Hdr.SetControllen(int(refused.Controllen) - segmentSpace)
	if one[0].Hdr.Controllen == 0 {
		one[0].Hdr.Control = nil
	}
	for _, part := range unsafe.Slice(refused.Iov, refused.Iovlen) {
		one[0].Hdr.Iov = &part
		if _, errno := sendBatch(fd, one[:]); errno != 0 {
			unsent++
		}
	}
	return unsent
}

// segmentSpace is the length in octets of the control message with the segment size: a header and an aligned 16-bit
// number.
const segmentSpace = unix.SizeofCmsghdr + unix.SizeofPtr

// setSegmentSize adds the control message to message i that makes the kernel split it.
func (r *replies) setSegmentSize(i int) {
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
