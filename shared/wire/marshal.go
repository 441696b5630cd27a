package wire

// Errors of MarshalBinary name the field that is missing or exceeds its limit. The caller may reuse the argument of
// UnmarshalBinary afterwards. After an error of UnmarshalBinary the message is invalid. UnmarshalBinary reuses the
// memory of the message's lists, so decode the next message into another value to retain the lists.

// MarshalBinary encodes the message.
func (m *Hello) MarshalBinary() ([]byte, error) { return marshal("hello", m.fields) }

// UnmarshalBinary decodes b.
func (m *Hello) UnmarshalBinary(b []byte) error { return unmarshal("hello", b, m.fields) }

// MarshalBinary encodes the message.
func (m *Enrol) MarshalBinary() ([]byte, error) { return marshal("enrol", m.fields) }

// UnmarshalBinary decodes b.
func (m *Enrol) UnmarshalBinary(b []byte) error { return unmarshal("enrol", b, m.fields) }

// MarshalBinary encodes the message.
func (m *Heartbeat) MarshalBinary() ([]byte, error) { return marshal("heartbeat", m.fields) }

// UnmarshalBinary decodes b.
func (m *Heartbeat) UnmarshalBinary(b []byte) error { return unmarshal("heartbeat", b, m.fields) }

// MarshalBinary encodes the message.
func (m *Transition) MarshalBinary() ([]byte, error) { return marshal("transition", m.fields) }

// UnmarshalBinary decodes b.
func (m *Transition) UnmarshalBinary(b []byte) error { return unmarshal("transition", b, m.fields) }

// MarshalBinary encodes the message.
func (m *Deregister) MarshalBinary() ([]byte, error) { return marshal("deregister", m.fields) }

// UnmarshalBinary decodes b.
func (m *Deregister) UnmarshalBinary(b []byte) error { return unmarshal("deregister", b, m.fields) }

// MarshalBinary encodes the message.
func (m *Ack) MarshalBinary() ([]byte, error) { return marshal("ack", m.fields) }

// UnmarshalBinary decodes b.
func (m *Ack) UnmarshalBinary(b []byte) error { return unmarshal("ack", b, m.fields) }

// MarshalBinary encodes the message.
func (m *Reject) MarshalBinary() ([]byte, error) { return marshal("reject", m.fields) }

// UnmarshalBinary decodes b.
func (m *Reject) UnmarshalBinary(b []byte) error { return unmarshal("reject", b, m.fields) }

// MarshalBinary encodes the message.
func (m *Signal) MarshalBinary() ([]byte, error) { return marshal("signal", m.fields) }

// UnmarshalBinary decodes b.
func (m *Signal) UnmarshalBinary(b []byte) error { return unmarshal("signal", b, m.fields) }

// MarshalBinary encodes the message.
func (m *Drain) MarshalBinary() ([]byte, error) { return marshal("drain", m.fields) }

// UnmarshalBinary decodes b.
func (m *Drain) UnmarshalBinary(b []byte) error { return unmarshal("drain", b, m.fields) }
