package frame // inside: it uses checksum, cipherOverhead and cipherVersion

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"hash/crc32"
	"testing"
)

const label = "gslb/1"

var testKey = bytes.Repeat([]byte{7}, KeySize)

func ring(t testing.TB, keys ...[]byte) *Keyring {
	t.Helper()
	k, err := NewKeyring(label, keys)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// seal encrypts like memberlist.
func seal(t testing.TB, version byte, key, plain, authenticated []byte) []byte {
	t.Helper()
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	nonce := bytes.Repeat([]byte{9}, nonceSize)
	return aead.Seal(append([]byte{version}, nonce...), nonce, plain, authenticated)
}

func lead(l string) []byte { return append([]byte{labelMarker, byte(len(l))}, l...) }

func packet(t testing.TB, key, plain []byte) []byte {
	return append(lead(label), seal(t, cipherVersion, key, plain, []byte(label))...)
}

func stream(t testing.TB, withLead bool, key, plain []byte) []byte {
	head := binary.BigEndian.AppendUint32([]byte{encryptMarker}, uint32(len(plain)+cipherOverhead))
	b := append(head, seal(t, cipherVersion, key, plain, append(bytes.Clone(head), label...))...)
	if withLead {
		return append(lead(label), b...)
	}
	return b
}

// object encodes a message: its type, then a map.
func object(k Kind, pairs ...any) []byte {
	return append([]byte{byte(k)}, plainObject(pairs...)...)
}

func plainObject(pairs ...any) []byte {
	out := []byte{0x80 | byte(len(pairs)/2)}
	for _, v := range pairs {
		switch v := v.(type) {
		case string:
			out = append(append(out, 0xda, byte(len(v)>>8), byte(len(v))), v...)
		case int:
			out = binary.BigEndian.AppendUint64(append(out, 0xcf), uint64(v))
		case bool:
			out = append(out, map[bool]byte{false: 0xc2, true: 0xc3}[v])
		case nil:
			out = append(out, 0xc0)
		case []byte: // raw msgpack
			out = append(out, v...)
		}
	}
	return out
}

func compoundOf(parts ...[]byte) []byte {
	out := []byte{byte(compound), byte(len(parts))}
	for _, p := range parts {
		out = binary.BigEndian.AppendUint16(out, uint16(len(p)))
	}
	return append(out, bytes.Join(parts, nil)...)
}

func withChecksum(b []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{byte(checksum)}, crc32.ChecksumIEEE(b)), b...)
}

var (
	goodPing = object(Ping, "SeqNo", 5, "Node", "ow-1", "SourceAddr", "\x7f\x00\x00\x01", "SourcePort", 0, "SourceNode",
		"agent")
	goodAck   = object(Ack, "SeqNo", 5, "Payload", "0123456789abcdef")
	goodAlive = object(Alive, "Incarnation", 1, "Node", "n", "Addr", "\x7f\x00\x00\x01", "Port", 7946, "Meta", nil, "Vsn",
		"\x01\x05\x02\x00\x00\x00")
	goodState = plainObject("Name", "n", "Addr", "\x7f\x00\x00\x01", "Port", 7946, "Meta", nil, "Incarnation", 1, "State",
		0, "Vsn", "\x01\x05\x02\x00\x00\x00")
	goodUser = append(object(User, "UserMsgLen", 3), "abc"...)
)

func pushPull(nodes, userLength int, rest ...[]byte) []byte {
	return append(object(PushPull, "Nodes", nodes, "UserStateLen", userLength, "Join", true), bytes.Join(rest, nil)...)
}
