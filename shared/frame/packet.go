package frame

import "bytes"

const (
	// MinPacket is the length in octets below which no packet can hold a message.
	MinPacket = 42
	// SafePacket is the UDP payload that every IPv6 path, and nearly every IPv4 path, carries
	// without fragments, which many firewalls drop (RFC 8200 section 5). Nothing that gslb sends is
	// longer.
	SafePacket = 1232
	// MaxPacket is the longest accepted packet: the UDP payload of a full Ethernet frame over IPv4,
	// which earlier versions sent.
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
