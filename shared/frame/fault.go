package frame

// Fault is the reason why a packet or stream was refused. The values are a closed set, fit for a
// metric label.
type Fault string

const (
	// None means that the packet or stream was accepted.
	None Fault = ""
	// Size means shorter than any real message or longer than the limit.
	Size Fault = "size"
	// Label means another label: another program, another major version or garbage.
	Label Fault = "label"
	// Cipher means not encrypted, or not with encryption version 1.
	Cipher Fault = "cipher"
	// Key means encrypted with an unknown key, or damaged.
	Key Fault = "key"
	// Malformed means encrypted with a known key, but not a message that memberlist would send.
	Malformed Fault = "malformed"
	// Incomplete means that the peer closed the stream or timed out before all announced octets
	// arrived.
	Incomplete Fault = "incomplete"
)
