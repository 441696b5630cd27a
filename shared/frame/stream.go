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
	wire  []byte // all octets read
	frame []byte // marker, length and cipher version inside wire
}

// ReadRequestHeader reads the header of a stream from a peer: label, marker, length, cipher version.
func (k *Keyring) ReadRequestHeader(r io.Reader) (StreamHeader, Fault) {
	return k.readHeader(r, len(k.lead))
}

// ReadReplyHeader reads the header of the answer on a stream that this process opened: it has no label.
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

// ReadBody reads the announced ciphertext and decrypts it. It returns all octets since the start of the stream, for
// memberlist, and the plain text, which belongs to the caller. wire uses the memory of room, which ReadBody resets
// first. The memory grows with the received octets, regardless of the announced length.
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

// ParseStream parses the message of a decrypted stream. It rejects trailing data.
func ParseStream(plain []byte) (Stream, Fault) {
	if len(plain) == 0 {
		return Stream{}, Malformed
	}
	s := Stream{Kind: Kind(plain[0])}
	c := cursor{rest: plain[1:]}
	switch s.Kind {
	case Ping:
		pingRecord.read(&c)
	case Ack:
		ackRecord.read(&c)
	case Error:
		errorRecord.read(&c)
	case User:
		v := userHeaderRecord.read(&c)
		s.User = c.nextOctets(int(v[0].integer))
		if len(s.User) == 0 {
			c.fail()
		}
	case PushPull:
		s.Listening, s.Announced = readPushPull(&c)
	default:
		c.fail()
	}
	if c.failed || len(c.rest) != 0 {
		return Stream{}, Malformed
	}
	return s, None
}

// readPushPull reads the header, the states of the nodes it announces and the user state. It reports whether one of the
// nodes has a port, and the name of the first.
func readPushPull(c *cursor) (listening bool, first string) {
	header := pushPullRecord.read(c)
	for range header[0].integer {
		v := stateRecord.read(c)
		if len(v[6].octets) != versions || !addressLength(v[1].octets) || v[5].integer != 0 && v[4].integer > maxAccused {
			c.fail()
		}
		if c.failed {
			return false, ""
		}
		if first == "" {
			first = string(v[0].octets)
		}
		listening = listening || v[2].integer != 0
	}
	c.nextOctets(int(header[1].integer))
	return listening, first
}
