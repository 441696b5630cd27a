package frame

// Fault says why a packet or stream was refused; the values are a closed set, fit for a metric label.
type Fault string

const (
	// None means that nothing was found wrong.
	None Fault = ""
	// Size: shorter than any real message or longer than the limit.
	Size Fault = "size"
	// Label: another label, hence another program, another major version or plain garbage.
	Label Fault = "label"
	// Cipher: not encrypted, or not with encryption version 1.
	Cipher Fault = "cipher"
	// Key: encrypted, but with none of our keys, or damaged.
	Key Fault = "key"
	// Malformed: our key, but not a message that memberlist would send.
	Malformed Fault = "malformed"
	// Incomplete: the peer closed the stream or let the time pass before the announced octets had come.
	Incomplete Fault = "incomplete"
)
