package wire

// The messages that nodes send: Hello, Ack, Reject.

// MarshalBinary encodes the message; an error names the field that is beyond its limit.
func (m *Hello) MarshalBinary() ([]byte, error) {
	var e encoder
	e.text(1, "hello.node_id", m.NodeID, MaxID)
	e.text(2, "hello.version", m.Version, MaxVersion)
	e.octets(3, m.BootNonce[:])
	e.atMost("octets of hello.certificate", len(m.Certificate), MaxCertificate)
	e.octets(4, m.Certificate)
	e.share(5, m.Share)
	return e.finish()
}

// UnmarshalBinary decodes b, which may be reused afterwards. After an error the message must not be used.
func (m *Hello) UnmarshalBinary(b []byte) error {
	*m = Hello{}
	d := newDecoder("hello", b)
	for d.next() {
		switch d.field {
		case 1:
			m.NodeID = d.text("node_id", MaxID, "")
		case 2:
			m.Version = d.text("version", MaxVersion, "")
		case 3:
			d.exactly("boot_nonce", m.BootNonce[:])
		case 4:
			m.Certificate = append([]byte(nil), d.octets("certificate", MaxCertificate)...)
		case 5:
			m.Share = d.share("share")
		}
	}
	d.need("node_id", m.NodeID != "")
	d.need("boot_nonce", m.BootNonce != [16]byte{})
	d.need("certificate", len(m.Certificate) > 0)
	return d.err
}

// MarshalBinary encodes the message; an error names the field that is beyond its limit.
func (m *Ack) MarshalBinary() ([]byte, error) {
	var e encoder
	e.number(1, uint64(m.AckedType))
	e.number(2, m.AckedSeq)
	e.atMost("ack.services", len(m.Services), MaxServices)
	for _, s := range m.Services {
		e.service(3, s)
	}
	e.atMost("ack.refused", len(m.Refused), maxRefused)
	for i := range m.Refused {
		e.message(4, m.Refused[i].encode)
	}
	return e.finish()
}

// UnmarshalBinary decodes b, which may be reused afterwards. After an error the message must not be used.
func (m *Ack) UnmarshalBinary(b []byte) error {
	*m = Ack{}
	d := newDecoder("ack", b)
	for d.next() {
		switch d.field {
		case 1:
			m.AckedType = Type(d.number("acked_type", 255))
		case 2:
			m.AckedSeq = d.number("acked_seq", 1<<64-1)
		case 3:
			d.element("services", len(m.Services), MaxServices)
			d.again = false // each element counts as a first one
			m.Services = append(m.Services, d.service("services", ""))
		case 4:
			in := d.element("refused", len(m.Refused), maxRefused)
			m.Refused = append(m.Refused, decodeRefused(&in))
			d.err = in.err
		}
	}
	d.need("acked_type", m.AckedType != 0)
	return d.err
}

func (r *RefusedClaim) encode(e *encoder) {
	e.service(1, r.Service)
	e.address(2, r.Address)
	e.number(3, uint64(r.Port))
	e.number(4, uint64(r.Code))
}

func decodeRefused(d *decoder) (r RefusedClaim) {
	for d.next() {
		switch d.field {
		case 1:
			r.Service = d.service("service", "")
		case 2:
			r.Address = d.address("address")
		case 3:
			r.Port = uint16(d.number("port", 1<<16-1))
		case 4:
			r.Code = RejectCode(d.number("code", 255))
		}
	}
	d.need("service", r.Service != "")
	d.need("code", r.Code != 0)
	return r
}

// MarshalBinary encodes the message; an error names the field that is beyond its limit.
func (m *Reject) MarshalBinary() ([]byte, error) {
	var e encoder
	e.number(1, uint64(m.AckedType))
	e.number(2, m.AckedSeq)
	e.octets(3, m.AckedKey[:])
	e.number(4, uint64(m.Code))
	if m.Service != "" {
		e.service(5, m.Service)
	}
	e.text(6, "reject.detail", forPeople(m.Detail), MaxText)
	return e.finish()
}

// UnmarshalBinary decodes b, which may be reused afterwards. After an error the message must not be used.
func (m *Reject) UnmarshalBinary(b []byte) error {
	*m = Reject{}
	d := newDecoder("reject", b)
	for d.next() {
		switch d.field {
		case 1:
			m.AckedType = Type(d.number("acked_type", 255))
		case 2:
			m.AckedSeq = d.number("acked_seq", 1<<64-1)
		case 3:
			d.exactly("acked_key", m.AckedKey[:])
		case 4:
			m.Code = RejectCode(d.number("code", 255))
		case 5:
			m.Service = d.service("service", "")
		case 6:
			m.Detail = d.text("detail", MaxText, "")
		}
	}
	d.need("acked_type", m.AckedType != 0)
	d.need("code", m.Code != 0)
	return d.err
}
