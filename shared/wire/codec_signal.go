package wire

// The messages that agents send about traffic that should become less: Signal, Drain.

// MarshalBinary encodes the message; an error names the field that is beyond its limit.
func (m *Signal) MarshalBinary() ([]byte, error) {
	var e encoder
	e.atMost("signal.backends", len(m.Backends), MaxBackends)
	for i := range m.Backends {
		e.message(1, m.Backends[i].encode)
	}
	return e.finish()
}

// UnmarshalBinary decodes b, which may be reused afterwards. After an error the message must not be used.
func (m *Signal) UnmarshalBinary(b []byte) error {
	*m = Signal{}
	d := newDecoder("signal", b)
	for d.next() {
		if d.field == 1 {
			in := d.element("backends", len(m.Backends), MaxBackends)
			m.Backends = append(m.Backends, decodeWarned(&in))
			d.err = in.err
		}
	}
	return d.err
}

func (w *Warned) encode(e *encoder) {
	e.service(1, w.Service)
	e.address(2, w.Address)
	e.number(3, uint64(w.Port))
	e.nested(4, w.Warnings.encode)
}

func decodeWarned(d *decoder) (w Warned) {
	for d.next() {
		switch d.field {
		case 1:
			w.Service = d.service("service", "")
		case 2:
			w.Address = d.address("address")
		case 3:
			w.Port = uint16(d.number("port", 1<<16-1))
		case 4:
			w.Warnings = d.warnings()
		}
	}
	d.need("service", w.Service != "")
	d.need("address", w.Address.IsValid())
	d.need("port", w.Port != 0)
	return w
}

func (w *Warnings) encode(e *encoder) {
	e.number(1, uint64(w.CPUMillis))
	e.number(2, uint64(w.MemoryMillis))
	e.number(3, uint64(w.ErrorRateMillis))
}

// warnings reads a field of nested Warnings.
func (d *decoder) warnings() (w Warnings) {
	in := d.nested("warnings")
	for in.next() {
		switch in.field {
		case 1:
			w.CPUMillis = uint32(in.number("cpu_millis", 1<<32-1))
		case 2:
			w.MemoryMillis = uint32(in.number("memory_millis", 1<<32-1))
		case 3:
			w.ErrorRateMillis = uint32(in.number("error_rate_millis", 1<<32-1))
		}
	}
	d.err = in.err
	return w
}

// MarshalBinary encodes the message; it cannot fail.
func (m *Drain) MarshalBinary() ([]byte, error) {
	var e encoder
	e.number(1, uint64(m.OverMillis))
	return e.finish()
}

// UnmarshalBinary decodes b, which may be reused afterwards. After an error the message must not be used.
func (m *Drain) UnmarshalBinary(b []byte) error {
	*m = Drain{}
	d := newDecoder("drain", b)
	for d.next() {
		if d.field == 1 {
			m.OverMillis = uint32(d.number("over_millis", 1<<32-1))
		}
	}
	return d.err
}
