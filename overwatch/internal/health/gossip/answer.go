package gossip

import (
	"encoding"
	"time"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// answer seals a message for the sender of a and sends it by datagram to wherever that agent is known to be. The epoch
// in its envelope is that of the message that is answered: an agent takes no answer that was meant for another process.
// An answer that is lost is not repeated; the agent asks again. It is sealed as the message was: in a session, or
// signed if that is nil.
func (n *Node) answer(a arrival, t wire.Type, m encoding.BinaryMarshaler, session *identity.Session) {
	targets := n.transport.paths.answerAddresses(a.head.KeyID, a.head.Epoch, a.from, time.Now())
	if len(targets) == 0 {
		return
	}
	payload, err := encodeToFit(m)
	if err != nil {
		n.options.Logger.Error().Err(err).Stringer("type", t).Msg("encoding an answer")
		return
	}
	seal := n.options.Identity.Seal
	if session != nil {
		seal = session.Seal
	}
	sealed := seal(identity.NodeToAgent, identity.Envelope{
		Major: wire.Major, Minor: wire.Minor, Type: uint8(t), BootNonce: n.options.Boot,
		Epoch: a.head.Epoch, Seq: n.answers.Add(1), SentAtMillis: time.Now().UnixMilli(), Payload: payload,
	})
	for _, to := range targets {
		if err := n.transport.send(sealed, to); err != nil {
			n.options.Logger.Debug().Err(err).Str("to", to.String()).Msg("sending an answer")
		}
	}
}

// encodeToFit encodes a message to at most one datagram. Of an Ack that is longer it drops as many entries of the lists
// as it must; they only explain.
func encodeToFit(m encoding.BinaryMarshaler) ([]byte, error) {
	for {
		payload, err := m.MarshalBinary()
		if err != nil || len(payload) <= wire.MaxDatagram-identity.Overhead {
			return payload, err
		}
		ack, ok := m.(*wire.Ack)
		switch {
		case ok && len(ack.Refused) > 0:
			ack.Refused = ack.Refused[:len(ack.Refused)/2]
		case ok && len(ack.Services) > 0:
			ack.Services = ack.Services[:len(ack.Services)/2]
		default:
			return payload, nil // nothing else is that long
		}
	}
}
