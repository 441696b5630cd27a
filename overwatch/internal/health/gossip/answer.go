package gossip

import (
	"encoding"
	"time"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// sendAnswer seals a message and sends it to the known addresses of the agent. The envelope contains the epoch of the
// answered message, so another process of the agent ignores the answer. sendAnswer does not repeat a lost answer,
// because the agent repeats its message. A nil session means a signed answer.
func (n *Node) sendAnswer(a arrival, t wire.Type, m encoding.BinaryMarshaler, session *identity.Session) {
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

// encodeToFit encodes a message for one datagram. It shortens the lists of an Ack that would exceed the datagram.
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
			return payload, nil // other messages are shorter
		}
	}
}
