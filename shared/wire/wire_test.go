package wire // inside: it uses kindNumber, kindOctets and maxHost

import (
	"encoding"
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"gslb.internal/shared/check"
)

// message has the methods of all messages, as pointers.
type message interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// samples contains a message of each type with all fields set, by the name of its golden frame.
func samples() map[string]message {
	backend := Backend{
		Service: "app.gslb.test", Address: netip.MustParseAddr("192.0.2.10"), Port: 8080, Weight: 100,
		Claim: ClaimUnhealthy, Draining: true, ConsecutiveFailures: 3, ConsecutiveSuccesses: 1, LatencyMicros: 1234,
		LastError: "connection refused",
		Check: Check{
			Type: "https", Path: "/healthz", Host: "app.gslb.test", TimeoutMillis: 2000, IntervalMillis: 5000,
			FailureThreshold: 3, SuccessThreshold: 2, ServerName: "app.internal", InsecureSkipVerify: true,
			Detail: check.Detail{
				Method: "GET", Headers: "Accept: text/plain\nX-Probe: 1", ExpectedStatus: "200,301-308", BodyContains: "ready\n",
				BodyMatches: "^ok", Expect: "+PONG\r\n", GRPCService: "shop.v1.Orders", Counting: "leaky",
				Authorities: "-----BEGIN CERTIFICATE-----\n",
			},
		},
		Warnings: Warnings{CPUMillis: 30_000, MemoryMillis: 30_001, ErrorRateMillis: 60_000}, DrainMillis: 5000,
		CheckedAtMillis: 1_700_000_000_123,
	}
	second := Backend{Service: "db.gslb.test", Address: netip.MustParseAddr("2001:db8::1"), Port: 5432,
		Claim: ClaimHealthy, Check: Check{Type: "tcp"}}
	return map[string]message{
		"hello": &Hello{NodeID: "ow-1", Version: "1.0.0",
			BootNonce: [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, Certificate: []byte("DER"),
			Share: [32]byte{31: 5}},
		"enrol": &Enrol{
			AgentID: "eu-web-1", Region: "eu", Version: "1.0.0", Certificate: []byte("DER"),
			Proofs: []Proof{{Service: "app.gslb.test", MAC: [32]byte{1, 2, 3}}, {Service: "db.gslb.test", MAC: [32]byte{4}}},
			Share:  [32]byte{6},
		},
		"heartbeat": &Heartbeat{
			Region: "eu", Version: "1.0.0", UptimeSeconds: 86400, IntervalMillis: 10000, MissedThreshold: 3,
			Backends: []Backend{backend, second}, Figures: Figures{CPUPercent: 1250, MemoryPercent: 4075, ChecksTotal: 123456,
				ChecksFailed: 78, Cores: 4, RTTMicros: 12345},
			Rejected: []NodeCertificate{{NodeID: "ow-2", KeyID: [32]byte{31: 7}}},
		},
		"transition": &Transition{Backend: backend},
		"deregister": &Deregister{Reason: "stopped"},
		"signal": &Signal{Backends: []Warned{
			{Service: backend.Service, Address: backend.Address, Port: backend.Port, Warnings: backend.Warnings},
			{Service: second.Service, Address: second.Address, Port: second.Port},
		}},
		"drain": &Drain{OverMillis: 30_000},
		"ack": &Ack{
			AckedType: TypeHeartbeat, AckedSeq: 42, Services: []string{"app.gslb.test", "db.gslb.test"},
			Refused: []RefusedClaim{
				{Service: "db.gslb.test", Address: netip.MustParseAddr("2001:db8::1"), Port: 5432, Code: CodePolicy,
					Rule: RuleNetworks},
				{Service: "web.gslb.test", Code: CodeWrongToken},
			}, Duplicate: true, Introduced: []NodeCertificate{{NodeID: "ow-2", KeyID: [32]byte{31: 7}}},
		},
		"reject": &Reject{AckedType: TypeEnrol, AckedSeq: 1, AckedKey: [32]byte{31: 9}, Code: CodeWrongToken,
			Service: "app.gslb.test", Detail: "the token is another", Epoch: 1_700_000_000_123},
	}
}

// fresh returns an empty message of the same type.
func fresh(m message) message {
	return reflect.New(reflect.TypeOf(m).Elem()).Interface().(message)
}

func encode(t testing.TB, m message) []byte {
	t.Helper()
	b, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The samples must set all fields, or these tests and the golden frames would not cover the fields.
func TestSamples_HaveEveryFieldInUse(t *testing.T) {
	for name, m := range samples() {
		noZero(t, name, reflect.ValueOf(m).Elem())
	}
}

func noZero(t *testing.T, path string, v reflect.Value) {
	t.Helper()
	switch {
	case strings.HasSuffix(path, ".Check.Detail.Send"): // not part of messages
	case v.IsZero():
		t.Errorf("%s is not in use", path)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		noZero(t, path+"[0]", v.Index(0))
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[netip.Addr]():
		for i := range v.NumField() {
			noZero(t, path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	}
}

func TestDecode_TruncatedAnywhereIsAnErrorOrAnotherMessage(t *testing.T) {
	for name, m := range samples() {
		b := encode(t, m)
		for n := range b {
			got := fresh(m)
			if err := got.UnmarshalBinary(b[:n]); err == nil && reflect.DeepEqual(got, m) {
				t.Errorf("%s: decodes the same without its last %d octets", name, len(b)-n)
			}
		}
	}
}

func TestDecode_UnknownFieldsAreSkipped(t *testing.T) {
	for name, m := range samples() {
		b := encode(t, m)
		b = append(b, 40<<1|kindNumber, 7)
		b = append(b, 41<<1|kindOctets, 3, 'n', 'e', 'w')
		b = append(b, 41<<1|kindOctets, 0)
		got := fresh(m)
		if err := got.UnmarshalBinary(b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(got, m) {
			t.Errorf("%s: unknown fields changed it", name)
		}
	}
}

func TestDecode_RefusesWhatHasAnotherEncoding(t *testing.T) {
	for name, b := range map[string][]byte{
		"long varint":               {3<<1 | kindNumber, 0x81, 0x00},
		"varint beyond 64 bits":     {3<<1 | kindNumber, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
		"unfinished varint":         {3<<1 | kindNumber, 0x80},
		"zero written out":          {3<<1 | kindNumber, 0},
		"empty text written out":    {1<<1 | kindOctets, 0},
		"fields out of order":       {4<<1 | kindNumber, 1, 3<<1 | kindNumber, 1},
		"field twice":               {3<<1 | kindNumber, 1, 3<<1 | kindNumber, 1},
		"field number zero":         {0, 1},
		"number in place of text":   {1<<1 | kindNumber, 1},
		"text in place of number":   {3<<1 | kindOctets, 1, 'x'},
		"number too large":          {4<<1 | kindNumber, 0x80, 0x80, 0x80, 0x80, 0x10},
		"longer than the message":   {1<<1 | kindOctets, 5, 'e', 'u'},
		"length beyond all bounds":  {1<<1 | kindOctets, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
		"control character":         {1<<1 | kindOctets, 2, 'e', '\n'},
		"not UTF-8":                 {1<<1 | kindOctets, 2, 'e', 0xff},
		"direction override":        append([]byte{1<<1 | kindOctets, 5}, "e\u202eu"...),
		"region too long":           append([]byte{1<<1 | kindOctets, MaxRegion + 1}, strings.Repeat("x", MaxRegion+1)...),
		"empty figures written out": {7<<1 | kindOctets, 0},
		"backend without service":   {6<<1 | kindOctets, 0},
	} {
		var h Heartbeat
		if err := h.UnmarshalBinary(b); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

func TestDecode_RefusesBackendsThatCannotBe(t *testing.T) {
	good := []byte("\x03\x05a.tst\x05\x04\xc0\x00\x02\x01\x06\x50")
	with := func(field, replacement string) []byte {
		return []byte(strings.Replace(string(good), field, replacement, 1))
	}
	for name, b := range map[string][]byte{
		"no address":          with("\x05\x04\xc0\x00\x02\x01", ""),
		"no port":             with("\x06\x50", ""),
		"port beyond 65535":   with("\x06\x50", "\x06\x80\x80\x04"),
		"address of 5 octets": with("\x05\x04\xc0\x00\x02\x01", "\x05\x05\xc0\x00\x02\x01\x01"),
		"IPv4 mapped into IPv6": with("\x05\x04\xc0\x00\x02\x01",
			"\x05\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xc0\x00\x02\x01"),
		"service in capitals":  with("a.tst", "A.tst"),
		"service with a colon": with("a.tst", "a:tst"),
		"service with a dot":   with("a.tst", "a.ts."),
		"service with a slash": with("a.tst", "a/tst"),
		"unknown claim":        append(append([]byte{}, good...), 5<<1, 3),
		"flag of two":          append(append([]byte{}, good...), 6<<1, 2),
	} {
		var m Transition
		if err := m.UnmarshalBinary(append([]byte{1<<1 | kindOctets, byte(len(b))}, b...)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	var m Transition
	if err := m.UnmarshalBinary(append([]byte{1<<1 | kindOctets, byte(len(good))}, good...)); err != nil {
		t.Errorf("the good one: %v", err)
	}
}

func TestDecode_RefusesMoreThanTheLimits(t *testing.T) {
	many := func(field, count int, element string) (b []byte) {
		for range count {
			b = append(b, byte(field<<1|kindOctets), byte(len(element)))
			b = append(b, element...)
		}
		return b
	}
	backend := "\x03\x01a\x05\x04\xc0\x00\x02\x01\x06\x50"
	proof := "\x03\x01a\x05\x20" + strings.Repeat("m", 32)
	var h Heartbeat
	if err := h.UnmarshalBinary(many(6, MaxBackends, backend)); err != nil || len(h.Backends) != MaxBackends {
		t.Errorf("%d backends: %v", MaxBackends, err)
	}
	for name, err := range map[string]error{
		"backends": h.UnmarshalBinary(many(6, MaxBackends+1, backend)),
		"proofs":   new(Enrol).UnmarshalBinary(append([]byte("\x03\x01a\x09\x01c"), many(5, MaxServices+1, proof)...)),
		"services": new(Ack).UnmarshalBinary(append([]byte("\x02\x01"), many(3, MaxServices+1, "a")...)),
		"octets":   h.UnmarshalBinary(make([]byte, MaxPayload+1)),
	} {
		if !errors.Is(err, ErrMalformed) {
			t.Errorf("too many %s: error is %v", name, err)
		}
	}
}

func TestDecode_MissingWhatMustBeThere(t *testing.T) {
	for name, m := range samples() {
		if name == "heartbeat" || name == "deregister" || name == "signal" || name == "drain" {
			continue // an agent without backends, a leave message without a reason, no warnings, no duration
		}
		if err := fresh(m).UnmarshalBinary(nil); !errors.Is(err, ErrMalformed) {
			t.Errorf("empty %s: error is %v", name, err)
		}
	}
}

func TestEncode_RefusesWhatCouldNotBeDecoded(t *testing.T) {
	good := Backend{Service: "a.test", Address: netip.MustParseAddr("192.0.2.1"), Port: 80}
	changed := func(change func(*Backend)) *Transition {
		b := good
		change(&b)
		return &Transition{Backend: b}
	}
	for name, m := range map[string]message{
		"id too long":          &Hello{NodeID: strings.Repeat("x", MaxID+1)},
		"region with newline":  &Heartbeat{Region: "eu\n"},
		"certificate too long": &Enrol{Certificate: make([]byte, MaxCertificate+1)},
		"too many backends":    &Heartbeat{Backends: make([]Backend, MaxBackends+1)},
		"too many services":    &Ack{Services: make([]string, MaxServices+1)},
		"no service":           changed(func(b *Backend) { b.Service = "" }),
		"service with space":   changed(func(b *Backend) { b.Service = "a b" }),
		"no address":           changed(func(b *Backend) { b.Address = netip.Addr{} }),
		"address with zone":    changed(func(b *Backend) { b.Address = netip.MustParseAddr("fe80::1%eth0") }),
		"no port":              changed(func(b *Backend) { b.Port = 0 }),
		"path too long":        changed(func(b *Backend) { b.Check.Path = strings.Repeat("/", maxPath+1) }),
	} {
		if _, err := m.MarshalBinary(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	big := Heartbeat{Backends: make([]Backend, MaxBackends)}
	for i := range big.Backends {
		big.Backends[i] = good
		big.Backends[i].Check = Check{Path: strings.Repeat("/", maxPath), Host: strings.Repeat("h", maxHost),
			ServerName: strings.Repeat("s", maxHost)}
		big.Backends[i].LastError = strings.Repeat("e", MaxText)
	}
	if _, err := big.MarshalBinary(); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large altogether: error is %v", err)
	}
}

func TestEncode_MakesNamesCanonicalAndTextFit(t *testing.T) {
	m := Transition{Backend: Backend{
		Service: "App.GSLB.test.", Address: netip.MustParseAddr("::ffff:192.0.2.1"), Port: 80,
		LastError: "two\nlines \xff" + strings.Repeat("é", MaxText),
	}}
	var got Transition
	if err := got.UnmarshalBinary(encode(t, &m)); err != nil {
		t.Fatal(err)
	}
	b := got.Backend
	if b.Service != "app.gslb.test" || b.Address != netip.MustParseAddr("192.0.2.1") {
		t.Errorf("service %q, address %s", b.Service, b.Address)
	}
	if !strings.HasPrefix(b.LastError, "two lines ?é") || len(b.LastError) > MaxText || len(b.LastError) < MaxText-1 {
		t.Errorf("last error of %d octets: %q", len(b.LastError), b.LastError)
	}
}

func TestNumbersOnTheWire_StayAsTheyAre(t *testing.T) {
	types := []Type{TypeHello, TypeEnrol, TypeHeartbeat, TypeTransition, TypeDeregister, TypeAck, TypeReject}
	for i, want := range []string{"hello", "enrol", "heartbeat", "transition", "deregister", "ack", "reject"} {
		if types[i] != Type(i+1) || Type(i+1).String() != want {
			t.Errorf("type %d is %s", i+1, Type(i+1))
		}
	}
	for i, want := range []string{"wrong_token", "unknown_service", "revoked", "expired", "not_yet_valid", "pin_mismatch",
		"conflicting_claim", "version", "boot_nonce", "not_enrolled", "limit", "policy", "unavailable", "locked"} {
		if got := RejectCode(i + 1).String(); got != want {
			t.Errorf("code %d is %s", i+1, got)
		}
	}
	for i, want := range []string{"none", "healthy", "unhealthy"} {
		if got := Claim(i).String(); got != want {
			t.Errorf("claim %d is %s", i, got)
		}
	}
	if Type(99).String() != "type 99" || RejectCode(99).String() != "code 99" || Claim(99).String() != "claim 99" {
		t.Error("numbers of later versions must be shown as such")
	}
}
