package frame

import "bytes"

const (
	// MinPacket is the length in octets below which no packet can hold a message.
	MinPacket = 42
	// MaxPacket is the UDP payload of a full Ethernet frame over IPv4: nothing that gslb sends is longer.
	MaxPacket = 1472
)

// OpenPacket checks size, label and encryption of a packet, cheapest first, and returns the decrypted octets appended
// to dst. It keeps no reference to b.
func (k *Keyring) OpenPacket(dst, b []byte) ([]byte, Fault) {
	if len(b) < MinPacket || len(b) > MaxPacket {
		return nil, Size
	}
	if !bytes.HasPrefix(b, k.lead) {
		return nil, Label
	}
	sealed := b[len(k.lead):]
	if len(sealed) <= cipherOverhead {
		return nil, Size
	}
	if sealed[0] != cipherVersion {
		return nil, Cipher
	}
	plain, ok := k.open(dst, sealed, k.label)
	if !ok {
		return nil, Key
	}
	return plain, None
}
