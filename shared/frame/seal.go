package frame

import "encoding/binary"

// SealPacket encrypts a message with the first key and appends the packet to dst. Receivers reject
// packets longer than MaxPacket. plain and dst must not share memory.
func (k *Keyring) SealPacket(dst, plain []byte) []byte {
	return k.seal(append(dst, k.lead...), plain, k.label)
}

// SealReply encrypts the answer on a stream that a peer opened, and appends it to dst.
func (k *Keyring) SealReply(dst, plain []byte) []byte {
	begin := len(dst)
	dst = append(dst, encryptMarker)
	dst = binary.BigEndian.AppendUint32(dst, uint32(cipherOverhead+len(plain)))
	authenticated := append(append([]byte(nil), dst[begin:]...), k.label...)
	return k.seal(dst, plain, authenticated)
}

// seal is the counterpart of open. The nonce is random.
func (k *Keyring) seal(dst, plain, authenticated []byte) []byte {
	return k.aeads[0].Seal(append(dst, cipherVersion), nil, plain, authenticated)
}

// AppendAck appends the acknowledgement of a ping, as memberlist writes it, to dst. The payload has at most 31 octets.
func AppendAck(dst []byte, sequence uint32, payload []byte) []byte {
	dst = append(dst, byte(Ack), 0x82) // a map of two
	dst = append(dst, "\xa5SeqNo\xce"...)
	dst = binary.BigEndian.AppendUint32(dst, sequence)
	dst = append(dst, "\xa7Payload"...)
	return append(append(dst, 0xa0|byte(len(payload))), payload...)
}

// AppendPushPull appends the answer to a push/pull that lists no nodes and holds a user state of less than 32 KiB.
func AppendPushPull(dst, userState []byte) []byte {
	dst = append(dst, byte(PushPull), 0x83) // a map of three
	dst = append(dst, "\xa5Nodes\x00\xacUserStateLen\xd1"...)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(userState)))
	return append(append(dst, "\xa4Join\xc2"...), userState...)
}
