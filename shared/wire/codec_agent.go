package wire

// The messages that agents send: Enrol, Heartbeat, Transition, Deregister.

// MarshalBinary encodes the message; an error names the field that is beyond its limit.
func (m *Enrol) MarshalBinary() ([]byte, error) {
	var e encoder
	e.text(1, "enrol.agent_id", m.AgentID, MaxID)
	e.text(2, "enrol.region", m.Region, MaxRegion)
	e.text(3, "enrol.version", m.Version, MaxVersion)
	e.atMost("octets of enrol.certificate", len(m.Certificate), MaxCertificate)
	e.octets(4, m.Certificate)
	e.atMost("enrol.proofs", len(m.Proofs), MaxServices)
	for i := range m.Proofs {
		e.message(5, m.Proofs[i].encode)
	}
	e.share(6, m.Share)
	return e.finish()
}

// UnmarshalBinary decodes b, which may be reused afterwards. After an error the message must not be used.
func (m *Enrol) UnmarshalBinary(b []byte) error {
	*m = Enrol{}
	d := newDecoder("enrol", b)
	for d.next() {
		switch d.field {
		case 1:
			m.AgentID = d.text("agent_id", MaxID, "")
		case 2:
			m.Region = d.text("region", MaxRegion, "")
		case 3:
			m.Version = d.text("version", MaxVersion, "")
		case 4:
			m.Certificate = append([]byte(nil), d.octets("certificate", MaxCertificate)...)
		case 5:
			in := d.element("proofs", len(m.Proofs), MaxServices)
			m.Proofs = append(m.Proofs, decodeProof(&in))
			d.err = in.err
		case 6:
			m.Share = d.share("share")
		}
	}
	d.need("agent_id", m.AgentID != "")
	d.need("certificate", len(m.Certificate) > 0)
	d.need("proofs", len(m.Proofs) > 0)
	return d.err
}

func (p *Proof) encode(e *encoder) {
	e.service(1, p.Service)
	e.octets(2, p.MAC[:])
}

func decodeProof(d *decoder) (p Proof) {
	for d.next() {
		switch d.field {
		case 1:
			p.Service = d.service("service", "")
		case 2:
			d.exactly("mac", p.MAC[:])
		}
	}
	d.need("service", p.Service != "")
	return p
}

// MarshalBinary encodes the message; an error names the field that is beyond its limit.
func (m *Heartbeat) MarshalBinary() ([]byte, error) {
	e := encoder{out: make([]byte, 0, 64+128*len(m.Backends))}
	e.text(1, "heartbeat.region", m.Region, MaxRegion)
	e.text(2, "heartbeat.version", m.Version, MaxVersion)
	e.number(3, m.UptimeSeconds)
	e.number(4, uint64(m.IntervalMillis))
	e.number(5, uint64(m.MissedThreshold))
	e.atMost("heartbeat.backends", len(m.Backends), MaxBackends)
	for i := range m.Backends {
		e.message(6, m.Backends[i].encode)
	}
	e.nested(7, m.Figures.encode)
	return e.finish()
}

// UnmarshalBinary decodes b, which may be reused afterwards. After an error the message must not be
// used. Decoding reuses the memory of m.Backends, so decode the next message into another value to
// keep the backends of this one.
func (m *Heartbeat) UnmarshalBinary(b []byte) error {
	*m = Heartbeat{Backends: m.Backends[:0]}
	d := newDecoder("heartbeat", b)
	for d.next() {
		switch d.field {
		case 1:
			m.Region = d.text("region", MaxRegion, "")
		case 2:
			m.Version = d.text("version", MaxVersion, "")
		case 3:
			m.UptimeSeconds = d.number("uptime_seconds", 1<<64-1)
		case 4:
			m.IntervalMillis = uint32(d.number("interval_millis", 1<<32-1))
		case 5:
			m.MissedThreshold = uint32(d.number("missed_threshold", 1<<32-1))
		case 6:
			m.decodeBackend(d)
		case 7:
			in := d.nested("figures")
			m.Figures = decodeFigures(&in)
			d.err = in.err
		}
	}
	return d.err
}

// decodeBackend decodes a backend and appends it. Text equal to the previous backend's shares its
// memory.
func (m *Heartbeat) decodeBackend(d *decoder) {
	in := d.element("backends", len(m.Backends), MaxBackends)
	var like Backend
	if n := len(m.Backends); n > 0 {
		like = m.Backends[n-1]
	}
	m.Backends = append(m.Backends, decodeBackend(&in, &like))
	d.err = in.err
}

func (f *Figures) encode(e *encoder) {
	e.number(1, uint64(f.CPUPercent))
	e.number(2, uint64(f.MemoryPercent))
	e.number(3, f.ChecksTotal)
	e.number(4, f.ChecksFailed)
	e.number(5, uint64(f.Cores))
	e.number(6, uint64(f.RTTMicros))
}

func decodeFigures(d *decoder) (f Figures) {
	for d.next() {
		switch d.field {
		case 1:
			f.CPUPercent = uint16(d.number("cpu_percent", 1<<16-1))
		case 2:
			f.MemoryPercent = uint16(d.number("memory_percent", 1<<16-1))
		case 3:
			f.ChecksTotal = d.number("checks_total", 1<<64-1)
		case 4:
			f.ChecksFailed = d.number("checks_failed", 1<<64-1)
		case 5:
			f.Cores = uint16(d.number("cores", 1<<16-1))
		case 6:
			f.RTTMicros = uint32(d.number("rtt_micros", 1<<32-1))
		}
	}
	return f
}

// MarshalBinary encodes the message; an error names the field that is beyond its limit.
func (m *Transition) MarshalBinary() ([]byte, error) {
	var e encoder
	e.message(1, m.Backend.encode)
	return e.finish()
}

// UnmarshalBinary decodes b, which may be reused afterwards. After an error the message must not be used.
func (m *Transition) UnmarshalBinary(b []byte) error {
	*m = Transition{}
	d := newDecoder("transition", b)
	for d.next() {
		if d.field == 1 {
			in := d.nested("backend")
			m.Backend = decodeBackend(&in, &Backend{})
			d.err = in.err
		}
	}
	d.need("backend", m.Backend.Service != "")
	return d.err
}

// MarshalBinary encodes the message; an error names the field that is beyond its limit.
func (m *Deregister) MarshalBinary() ([]byte, error) {
	var e encoder
	e.text(1, "deregister.reason", forPeople(m.Reason), MaxText)
	return e.finish()
}

// UnmarshalBinary decodes b, which may be reused afterwards. After an error the message must not be used.
func (m *Deregister) UnmarshalBinary(b []byte) error {
	*m = Deregister{}
	d := newDecoder("deregister", b)
	for d.next() {
		if d.field == 1 {
			m.Reason = d.text("reason", MaxText, "")
		}
	}
	return d.err
}
