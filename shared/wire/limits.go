package wire

// Limits of the protocol. Both sides apply them: the codec neither encodes nor decodes a message beyond a limit.
const (
	// MaxBackends bounds the backends that one agent may report.
	MaxBackends = 64
	// MaxServices bounds the services of an agent.
	MaxServices = 16

	// MaxRejected bounds the rejected nodes in a heartbeat, and the introduced nodes in an Ack.
	MaxRejected = 4

	// MaxMessage is the largest sealed message, in octets. A stream of 64 KiB has room for it with
	// memberlist's framing and encryption (some 50 octets).
	MaxMessage = 64<<10 - 256
	// MaxDatagram is the largest sealed message sent by datagram, in octets: a packet of 1232
	// (frame.SafePacket) without the label (8), encryption (29), memberlist's type and checksum
	// (6), and a few octets to spare.
	MaxDatagram = 1184
	// MaxPayload is the largest payload, in octets: a message less its envelope, which is smaller than 256 octets.
	MaxPayload = MaxMessage - 256

	// MaxID bounds agent and node ids, in octets.
	MaxID = 128
	// MaxService bounds service names, in octets: they are domain names.
	MaxService = 253
	// MaxRegion bounds region names, in octets.
	MaxRegion = 64
	// MaxVersion bounds version texts, in octets.
	MaxVersion = 64
	// MaxCertificate bounds certificates, in octets of DER; an Ed25519 certificate of gslb has some 300.
	MaxCertificate = 1024
	// MaxText bounds text for people (last error, reason, detail), in octets. Encoding truncates longer text.
	MaxText = 200

	maxCheckType = 16
	maxPath      = 512
	maxHost      = 255
	maxRefused   = MaxBackends + MaxServices
)
