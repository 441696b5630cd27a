package frame

import "bytes"

const (
	// MinPacket is the length in octets below which no packet can hold a message.
	MinPacket = 42
	// SafePacket is the UDP payload that every way of IPv6, and nearly every one of IPv4, carries without cutting it into fragments, which many
	// firewalls drop (RFC 8200 section 5): nothing that gslb sends is longer.
	SafePacket = 1232
	// MaxPacket is the UDP payload of a full Ethernet frame over IPv4, which versions before sent: the longest packet that is taken.
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
