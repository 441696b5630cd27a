package frame

import (
	"bytes"
	"encoding/binary"
	"io"
)

// MaxStream bounds the encrypted message of a stream, in octets.
const MaxStream = 64 << 10

// StreamHeader is the part of a stream before the ciphertext.
type StreamHeader struct {
	wire  []byte // every octet read so far
	frame []byte // marker, length and cipher version inside wire
}

// ReadRequestHeader reads the header of a stream that a peer opened: label, marker, length, cipher version.
func (k *Keyring) ReadRequestHeader(r io.Reader) (StreamHeader, Fault) {
	return k.readHeader(r, len(k.lead))
}

// ReadReplyHeader reads the header of the answer on a stream that we opened: it carries no label.
func (k *Keyring) ReadReplyHeader(r io.Reader) (StreamHeader, Fault) {
	return k.readHeader(r, 0)
}

func (k *Keyring) readHeader(r io.Reader, lead int) (StreamHeader, Fault) {
	wire := make([]byte, lead+1+lengthFieldSize+1)
	if _, err := io.ReadFull(r, wire); err != nil {
		return StreamHeader{}, Incomplete
	}
	if !bytes.Equal(wire[:lead], k.lead[:lead]) {
		return StreamHeader{}, Label
	}
	h := StreamHeader{wire: wire, frame: wire[lead:]}
	if h.frame[0] != encryptMarker || h.frame[1+lengthFieldSize] != cipherVersion {
		return StreamHeader{}, Cipher
	}
	if n := h.length(); n <= cipherOverhead || n > MaxStream {
		return StreamHeader{}, Size
	}
	return h, None
}

// length returns the announced number of octets after the length field, including the cipher
// version.
func (h StreamHeader) length() uint32 { return binary.BigEndian.Uint32(h.frame[1:]) }

// ReadBody reads the announced ciphertext and opens it. It returns all octets read since the start of the stream, so
// that memberlist can be given them unchanged, and the plain text, which is the caller's. The former lie in room, which
// is emptied first. Its memory grows with what arrives, not with what was announced.
func (k *Keyring) ReadBody(r io.Reader, h StreamHeader, room *bytes.Buffer) (wire, plain []byte, fault Fault) {
	room.Reset()
	room.Write(h.wire)
	rest := int64(h.length()) - 1
	if n, err := io.CopyN(room, r, rest); n != rest || err != nil {
		return nil, nil, Incomplete
	}
	wire = room.Bytes()
	frame := wire[len(h.wire)-len(h.frame):]
	authenticated := append(append([]byte(nil), frame[:1+lengthFieldSize]...), k.label...)
	plain, ok := k.open(nil, frame[1+lengthFieldSize:], authenticated)
	if !ok {
		return nil, nil, Key
	}
	return wire, plain, None
}
