package wire

import "gslb.internal/shared/check"

// The fields of the messages, with their numbers on the wire.

func (m *Hello) fields(c *codec) {
	c.text(1, "node_id", &m.NodeID, MaxID)
	c.text(2, "version", &m.Version, MaxVersion)
	c.array(3, "boot_nonce", m.BootNonce[:])
	c.octets(4, "certificate", &m.Certificate, MaxCertificate)
	c.share(5, "share", &m.Share)
	c.need("node_id", m.NodeID != "")
	c.need("boot_nonce", m.BootNonce != [16]byte{})
	c.need("certificate", len(m.Certificate) > 0)
}

func (m *Enrol) fields(c *codec) {
	c.text(1, "agent_id", &m.AgentID, MaxID)
	c.text(2, "region", &m.Region, MaxRegion)
	c.text(3, "version", &m.Version, MaxVersion)
	c.octets(4, "certificate", &m.Certificate, MaxCertificate)
	list(c, 5, "proofs", &m.Proofs, MaxServices, (*Proof).fields)
	c.share(6, "share", &m.Share)
	c.need("agent_id", m.AgentID != "")
	c.need("certificate", len(m.Certificate) > 0)
	c.need("proofs", len(m.Proofs) > 0)
}

func (p *Proof) fields(c *codec) {
	c.service(1, "service", &p.Service)
	c.array(2, "mac", p.MAC[:])
	c.need("service", p.Service != "")
}

func (m *Heartbeat) fields(c *codec) {
	c.text(1, "region", &m.Region, MaxRegion)
	c.text(2, "version", &m.Version, MaxVersion)
	number(c, 3, "uptime_seconds", &m.UptimeSeconds)
	number(c, 4, "interval_millis", &m.IntervalMillis)
	number(c, 5, "missed_threshold", &m.MissedThreshold)
	list(c, 6, "backends", &m.Backends, MaxBackends, (*Backend).fields)
	c.nested(7, "figures", m.Figures.fields)
	list(c, 8, "rejected", &m.Rejected, MaxRejected, (*NodeCertificate).fields)
}

func (n *NodeCertificate) fields(c *codec) {
	c.text(1, "node_id", &n.NodeID, MaxID)
	c.array(2, "key_id", n.KeyID[:])
	c.need("node_id", n.NodeID != "")
	c.need("key_id", n.KeyID != [32]byte{})
}

func (f *Figures) fields(c *codec) {
	number(c, 1, "cpu_percent", &f.CPUPercent)
	number(c, 2, "memory_percent", &f.MemoryPercent)
	number(c, 3, "checks_total", &f.ChecksTotal)
	number(c, 4, "checks_failed", &f.ChecksFailed)
	number(c, 5, "cores", &f.Cores)
	number(c, 6, "rtt_micros", &f.RTTMicros)
}

func (m *Transition) fields(c *codec) { c.nested(1, "backend", m.Backend.fields) }

func (m *Deregister) fields(c *codec) { c.forPeople(1, "reason", &m.Reason) }

func (m *Signal) fields(c *codec) {
	list(c, 1, "backends", &m.Backends, MaxBackends, (*Warned).fields)
}

func (w *Warned) fields(c *codec) {
	c.service(1, "service", &w.Service)
	c.address(2, "address", &w.Address)
	number(c, 3, "port", &w.Port)
	c.nested(4, "warnings", w.Warnings.fields)
	c.need("service", w.Service != "")
	c.need("address", w.Address.IsValid())
	c.need("port", w.Port != 0)
}

func (w *Warnings) fields(c *codec) {
	number(c, 1, "cpu_millis", &w.CPUMillis)
	number(c, 2, "memory_millis", &w.MemoryMillis)
	number(c, 3, "error_rate_millis", &w.ErrorRateMillis)
}

func (m *Drain) fields(c *codec) { number(c, 1, "over_millis", &m.OverMillis) }

func (b *Backend) fields(c *codec) {
	c.service(1, "service", &b.Service)
	c.address(2, "address", &b.Address)
	number(c, 3, "port", &b.Port)
	number(c, 4, "weight", &b.Weight)
	numberTo(c, 5, "claim", &b.Claim, ClaimUnhealthy)
	c.flag(6, "draining", &b.Draining)
	number(c, 7, "consecutive_failures", &b.ConsecutiveFailures)
	number(c, 8, "consecutive_successes", &b.ConsecutiveSuccesses)
	number(c, 9, "latency_micros", &b.LatencyMicros)
	c.forPeople(10, "last_error", &b.LastError)
	c.nested(11, "check", b.Check.fields)
	c.nested(12, "warnings", b.Warnings.fields)
	number(c, 13, "drain_millis", &b.DrainMillis)
	numberTo(c, 14, "checked_at_millis", &b.CheckedAtMillis, 1<<63-1)
	c.need("service", b.Service != "")
	c.need("address", b.Address.IsValid())
	c.need("port", b.Port != 0)
}

func (k *Check) fields(c *codec) {
	c.text(1, "type", &k.Type, maxCheckType)
	c.text(2, "path", &k.Path, maxPath)
	c.text(3, "host", &k.Host, maxHost)
	number(c, 4, "timeout_millis", &k.TimeoutMillis)
	number(c, 5, "interval_millis", &k.IntervalMillis)
	number(c, 6, "failure_threshold", &k.FailureThreshold)
	number(c, 7, "success_threshold", &k.SuccessThreshold)
	c.text(8, "server_name", &k.ServerName, maxHost)
	c.flag(9, "insecure_skip_verify", &k.InsecureSkipVerify)
	settings := check.DetailSettings()
	for i := range settings {
		switch s := &settings[i]; {
		case s.Number == 0:
		case s.Printable:
			c.text(s.Number, s.Key, s.Text(&k.Detail), s.Limit)
		default:
			c.raw(s.Number, s.Key, s.Text(&k.Detail), s.Limit)
		}
	}
}

func (m *Ack) fields(c *codec) {
	number(c, 1, "acked_type", &m.AckedType)
	number(c, 2, "acked_seq", &m.AckedSeq)
	each(c, 3, "services", &m.Services, MaxServices, func(s *string) { c.service(3, "services", s) })
	list(c, 4, "refused", &m.Refused, maxRefused, (*RefusedClaim).fields)
	c.flag(5, "duplicate", &m.Duplicate)
	list(c, 6, "introduced", &m.Introduced, MaxRejected, (*NodeCertificate).fields)
	c.need("acked_type", m.AckedType != 0)
}

func (r *RefusedClaim) fields(c *codec) {
	c.service(1, "service", &r.Service)
	c.address(2, "address", &r.Address)
	number(c, 3, "port", &r.Port)
	number(c, 4, "code", &r.Code)
	number(c, 5, "rule", &r.Rule)
	c.need("service", r.Service != "")
	c.need("code", r.Code != 0)
}

func (m *Reject) fields(c *codec) {
	number(c, 1, "acked_type", &m.AckedType)
	number(c, 2, "acked_seq", &m.AckedSeq)
	c.array(3, "acked_key", m.AckedKey[:])
	number(c, 4, "code", &m.Code)
	c.service(5, "service", &m.Service)
	c.forPeople(6, "detail", &m.Detail)
	number(c, 7, "epoch", &m.Epoch)
	c.need("acked_type", m.AckedType != 0)
	c.need("code", m.Code != 0)
}
