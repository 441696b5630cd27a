package dnstap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// contentType is the content type of dnstap in Frame Streams.
const contentType = "protobuf:dnstap.Dnstap"

// lengthSize is the size of the length of a frame in octets.
const lengthSize = 4

// Types of control frames of Frame Streams (https://farsightsec.github.io/fstrm).
const (
	controlAccept = 1
	controlStart  = 2
	controlStop   = 3
	controlReady  = 4
	controlFinish = 5
)

// fieldContentType is the only field of a control frame.
const fieldContentType = 1

// maxControl is the largest size of a control frame in octets. The reference implementation has the same bound.
const maxControl = 512

// appendControl appends a control frame, with the content type of dnstap if typed is set.
func appendControl(out []byte, control uint32, typed bool) []byte {
	length := uint32(lengthSize)
	if typed {
		length += 2*lengthSize + uint32(len(contentType))
	}
	out = binary.BigEndian.AppendUint32(out, 0) // escape: a control frame follows
	out = binary.BigEndian.AppendUint32(out, length)
	out = binary.BigEndian.AppendUint32(out, control)
	if typed {
		out = binary.BigEndian.AppendUint32(out, fieldContentType)
		out = binary.BigEndian.AppendUint32(out, uint32(len(contentType)))
		out = append(out, contentType...)
	}
	return out
}

// errNotFrameStreams is the error of a peer that does not use Frame Streams.
var errNotFrameStreams = errors.New("the peer does not answer in Frame Streams: give the address of a dnstap consumer")

// readControl reads a control frame of at most maxControl octets. It returns its type and its content types.
func readControl(from io.Reader) (control uint32, types []string, err error) {
	var header [2 * lengthSize]byte
	if _, err := io.ReadFull(from, header[:]); err != nil {
		return 0, nil, err
	}
	length := binary.BigEndian.Uint32(header[lengthSize:])
	if binary.BigEndian.Uint32(header[:]) != 0 || length < lengthSize || length > maxControl {
		return 0, nil, errNotFrameStreams
	}
	frame := make([]byte, length)
	if _, err := io.ReadFull(from, frame); err != nil {
		return 0, nil, err
	}
	control = binary.BigEndian.Uint32(frame)
	for fields := frame[lengthSize:]; len(fields) > 0; {
		if len(fields) < 2*lengthSize || binary.BigEndian.Uint32(fields) != fieldContentType {
			return 0, nil, errNotFrameStreams
		}
		size := binary.BigEndian.Uint32(fields[lengthSize:])
		if fields = fields[2*lengthSize:]; uint64(size) > uint64(len(fields)) {
			return 0, nil, errNotFrameStreams
		}
		types, fields = append(types, string(fields[:size])), fields[size:]
	}
	return control, types, nil
}

// expectControl reads a control frame and returns an error unless it has the type.
func expectControl(from io.Reader, want uint32) (types []string, err error) {
	got, types, err := readControl(from)
	if err == nil && got != want {
		err = fmt.Errorf("control frame %d of Frame Streams instead of %d: give the address of a dnstap consumer", got, want)
	}
	return types, err
}
