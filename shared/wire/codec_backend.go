package wire

func (b *Backend) encode(e *encoder) {
	e.service(1, b.Service)
	if !b.Address.IsValid() || b.Port == 0 {
		e.fail("backend of "+b.Service, "address and port must be given")
	}
	e.address(2, b.Address)
	e.number(3, uint64(b.Port))
	e.number(4, uint64(b.Weight))
	e.number(5, uint64(b.Claim))
	e.flag(6, b.Draining)
	e.number(7, uint64(b.ConsecutiveFailures))
	e.number(8, uint64(b.ConsecutiveSuccesses))
	e.number(9, uint64(b.LatencyMicros))
	e.text(10, "last_error", forPeople(b.LastError), MaxText)
	e.nested(11, b.Check.encode)
	e.nested(12, b.Warnings.encode)
	e.number(13, uint64(b.DrainMillis))
	e.number(14, b.CheckedAtMillis)
}

// decodeBackend decodes a backend. Text equal to like's shares its memory, so that backends with
// the same check cost no memory for it.
func decodeBackend(d *decoder, like *Backend) (b Backend) {
	for d.next() {
		switch d.field {
		case 1:
			b.Service = d.service("service", like.Service)
		case 2:
			b.Address = d.address("address")
		case 3:
			b.Port = uint16(d.number("port", 1<<16-1))
		case 4:
			b.Weight = uint16(d.number("weight", 1<<16-1))
		case 5:
			b.Claim = Claim(d.number("claim", uint64(ClaimUnhealthy)))
		case 6:
			b.Draining = d.flag("draining")
		case 7:
			b.ConsecutiveFailures = uint32(d.number("consecutive_failures", 1<<32-1))
		case 8:
			b.ConsecutiveSuccesses = uint32(d.number("consecutive_successes", 1<<32-1))
		case 9:
			b.LatencyMicros = uint32(d.number("latency_micros", 1<<32-1))
		case 10:
			b.LastError = d.text("last_error", MaxText, like.LastError)
		case 11:
			in := d.nested("check")
			b.Check = decodeCheck(&in, &like.Check)
			d.err = in.err
		case 12:
			b.Warnings = d.warnings()
		case 13:
			b.DrainMillis = uint32(d.number("drain_millis", 1<<32-1))
		case 14:
			b.CheckedAtMillis = d.number("checked_at_millis", 1<<63-1)
		}
	}
	d.need("service", b.Service != "")
	d.need("address", b.Address.IsValid())
	d.need("port", b.Port != 0)
	return b
}

func (c *Check) encode(e *encoder) {
	e.text(1, "check.type", c.Type, maxCheckType)
	e.text(2, "check.path", c.Path, maxPath)
	e.text(3, "check.host", c.Host, maxHost)
	e.number(4, uint64(c.TimeoutMillis))
	e.number(5, uint64(c.IntervalMillis))
	e.number(6, uint64(c.FailureThreshold))
	e.number(7, uint64(c.SuccessThreshold))
	e.text(8, "check.server_name", c.ServerName, maxHost)
	e.flag(9, c.InsecureSkipVerify)
	e.text(10, "check.method", c.Method, maxCheckType)
	e.raw(11, "check.headers", c.Headers, maxHeaders)
	e.text(12, "check.expected_status", c.ExpectedStatus, maxStatuses)
	e.raw(13, "check.body_contains", c.BodyContains, maxCheckText)
	e.raw(14, "check.body_matches", c.BodyMatches, maxCheckText)
	e.raw(15, "check.expect", c.Expect, maxCheckText)
	e.text(16, "check.grpc_service", c.GRPCService, maxCheckText)
	e.text(17, "check.counting", c.Counting, maxCheckType)
	e.raw(18, "check.authorities", c.Authorities, maxAuthorities)
}

func decodeCheck(d *decoder, like *Check) (c Check) {
	for d.next() {
		switch d.field {
		case 1:
			c.Type = d.text("type", maxCheckType, like.Type)
		case 2:
			c.Path = d.text("path", maxPath, like.Path)
		case 3:
			c.Host = d.text("host", maxHost, like.Host)
		case 4:
			c.TimeoutMillis = uint32(d.number("timeout_millis", 1<<32-1))
		case 5:
			c.IntervalMillis = uint32(d.number("interval_millis", 1<<32-1))
		case 6:
			c.FailureThreshold = uint16(d.number("failure_threshold", 1<<16-1))
		case 7:
			c.SuccessThreshold = uint16(d.number("success_threshold", 1<<16-1))
		case 8:
			c.ServerName = d.text("server_name", maxHost, like.ServerName)
		case 9:
			c.InsecureSkipVerify = d.flag("insecure_skip_verify")
		case 10:
			c.Method = d.text("method", maxCheckType, like.Method)
		case 11:
			c.Headers = d.raw("headers", maxHeaders, like.Headers)
		case 12:
			c.ExpectedStatus = d.text("expected_status", maxStatuses, like.ExpectedStatus)
		case 13:
			c.BodyContains = d.raw("body_contains", maxCheckText, like.BodyContains)
		case 14:
			c.BodyMatches = d.raw("body_matches", maxCheckText, like.BodyMatches)
		case 15:
			c.Expect = d.raw("expect", maxCheckText, like.Expect)
		case 16:
			c.GRPCService = d.text("grpc_service", maxCheckText, like.GRPCService)
		case 17:
			c.Counting = d.text("counting", maxCheckType, like.Counting)
		case 18:
			c.Authorities = d.raw("authorities", maxAuthorities, like.Authorities)
		}
	}
	return c
}
