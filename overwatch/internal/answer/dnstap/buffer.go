package dnstap

import (
	"encoding/binary"
	"sync/atomic"
)

const (
	// bufferSize is the size of a worker's buffer in octets: about 3000 queries with their responses.
	bufferSize = 1 << 20
	// wakeSize is the number of octets in a buffer at which the Tap is woken.
	wakeSize = bufferSize / 4
)

// buffer is a bounded queue of frames between one writer and one reader. A frame is its length in 4 octets, and its
// data. Frames wrap around at the end of the memory. The zero buffer is empty.
type buffer struct {
	octets  [bufferSize]byte
	_       [64]byte      // separates the positions of writer and reader in the cache
	written atomic.Uint64 // octets written since the start; changed by the writer
	_       [64]byte
	read    atomic.Uint64 // octets read since the start; changed by the reader
	_       [64]byte
}

// append adds the frame that consists of head and tail. head starts with the length of the frame. It returns the number
// of octets in the buffer, or 0 if the frame does not fit.
func (b *buffer) append(head, tail []byte) (used uint64) {
	at := b.written.Load()
	used = at - b.read.Load() + uint64(len(head)+len(tail))
	if used > bufferSize {
		return 0
	}
	at = b.copy(at, head)
	b.written.Store(b.copy(at, tail))
	return used
}

// copy writes data to a position and returns the next position.
func (b *buffer) copy(at uint64, data []byte) uint64 {
	n := copy(b.octets[at%bufferSize:], data)
	copy(b.octets[:], data[n:])
	return at + uint64(len(data))
}

// pending returns the complete frames in the buffer, as two consecutive parts. The parts are valid until release.
func (b *buffer) pending() (first, second []byte) {
	begin, end := b.read.Load(), b.written.Load()
	from, length := begin%bufferSize, end-begin
	if from+length <= bufferSize {
		return b.octets[from:][:length], nil
	}
	return b.octets[from:], b.octets[:from+length-bufferSize]
}

// release removes octets from the buffer, after they were sent.
func (b *buffer) release(octets int) { b.read.Add(uint64(octets)) }

// countFrames returns the number of frames in the first octets of the buffer, which end with a complete frame.
func (b *buffer) countFrames(octets int) (frames uint64) {
	at := b.read.Load()
	for end := at + uint64(octets); at < end; frames++ {
		var length [lengthSize]byte
		for i := range length {
			length[i] = b.octets[(at+uint64(i))%bufferSize]
		}
		at += lengthSize + uint64(binary.BigEndian.Uint32(length[:]))
	}
	return frames
}
