package agent

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// read sends the node's answers to the channel until the socket is closed.
func (a *Agent) read() {
	raw, scratch := make([]byte, frame.MaxPacket+1), make([]byte, 0, frame.MaxPacket)
	for {
		n, err := a.udp.Read(raw)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		plain, fault := a.Cipher.keyring.OpenPacket(scratch, raw[:max(n, 0)])
		if err != nil || fault != frame.None {
			continue
		}
		p, fault := frame.ParsePacket(plain)
		if fault != frame.None || p.User == nil {
			continue // the answer to a ping
		}
		if got, ok := a.open(p.User); ok {
			select {
			case a.answers <- got:
			default:
			}
		}
	}
}

// open decodes an Ack or a Reject. It verifies the messages of a session. It does not verify other signatures, because
// only the node sends to this socket.
func (a *Agent) open(message []byte) (got answer, ok bool) {
	sealed, err := identity.Parse(message)
	if err != nil || sealed.InSession() && !sealed.Authentic(identity.NodeToAgent, a.session.Load()) {
		return got, false
	}
	switch wire.Type(sealed.Type) {
	case wire.TypeAck:
		err = got.ack.UnmarshalBinary(sealed.Payload)
		got.kind, got.seq = got.ack.AckedType, got.ack.AckedSeq
	case wire.TypeReject:
		got.reject = &wire.Reject{}
		err = got.reject.UnmarshalBinary(sealed.Payload)
		got.kind, got.seq = got.reject.AckedType, got.reject.AckedSeq
	default:
		return got, false
	}
	return got, err == nil
}

// Hello opens a push/pull with the node. It stores the nonce of the node's process from the answer. If the node offers
// sessions, Hello agrees on a session.
func (a *Agent) Hello() error {
	conn, err := a.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	request := append([]byte{byte(frame.PushPull)}, "\x83\xa5Nodes\x00\xacUserStateLen\x00\xa4Join\xc3"...)
	if _, err := conn.Write(a.Cipher.Stream(request)); err != nil {
		return err
	}
	header, fault := a.Cipher.keyring.ReadReplyHeader(conn)
	if fault != frame.None {
		return errors.New("answer to the push/pull: " + string(fault))
	}
	_, plain, fault := a.Cipher.keyring.ReadBody(conn, header, new(bytes.Buffer))
	if fault != frame.None {
		return errors.New("answer to the push/pull: " + string(fault))
	}
	sealed, err := userState(plain)
	if err != nil {
		return err
	}
	var hello wire.Hello
	if err := hello.UnmarshalBinary(sealed.Payload); err != nil {
		return err
	}
	a.Boot = sealed.BootNonce
	if hello.Share == (identity.Share{}) {
		return nil // an earlier version
	}
	a.share = a.half.Share()
	session, err := a.half.Agree(identity.Pairing{
		Agent: a.ID.KeyID, Node: sealed.KeyID, Boot: a.Boot, Epoch: a.Epoch, AgentShare: a.share, NodeShare: hello.Share,
	})
	a.session.Store(session)
	return err
}

// userState finds the sealed Hello at the end of the answer to a push/pull.
func userState(plain []byte) (identity.Sealed, error) {
	_, rest, found := bytes.Cut(plain, []byte("UserStateLen\xd1")) // MessagePack: a 16 bit number follows
	if !found || len(rest) < 2 || int(binary.BigEndian.Uint16(rest)) > len(rest) {
		return identity.Sealed{}, fmt.Errorf("no user state in %q", plain)
	}
	return identity.Parse(rest[len(rest)-int(binary.BigEndian.Uint16(rest)):])
}

func (a *Agent) dial() (net.Conn, error) {
	d := net.Dialer{Timeout: 3 * time.Second}
	if a.Source.IsValid() {
		d.LocalAddr = &net.TCPAddr{IP: a.Source.AsSlice()}
	}
	conn, err := d.Dial("tcp", a.Node.String())
	if err == nil {
		err = conn.SetDeadline(time.Now().Add(3 * time.Second))
	}
	return conn, err
}

// stream sends a user message as a stream, framed as memberlist does.
func (a *Agent) stream(message []byte) error {
	conn, err := a.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	head := append([]byte{byte(frame.User)}, "\x81\xaaUserMsgLen\xd1"...)
	head = binary.BigEndian.AppendUint16(head, uint16(len(message)-1))
	_, err = conn.Write(a.Cipher.Stream(append(head, message[1:]...)))
	return err
}
