package frame // inside: it uses cipherOverhead

import (
	"bytes"
	"testing"
)

func TestNewKeyring_RefusesWhatCannotBeAKey(t *testing.T) {
	for name, try := range map[string]struct {
		label string
		keys  [][]byte
	}{
		"no label":   {"", [][]byte{testKey}},
		"long label": {string(make([]byte, 256)), [][]byte{testKey}},
		"no key":     {label, nil},
		"short key":  {label, [][]byte{testKey, testKey[:16]}},
	} {
		if _, err := NewKeyring(try.label, try.keys); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestOpenPacket_TakesOnlyOurLabelKeyAndVersion(t *testing.T) {
	other := bytes.Repeat([]byte{8}, KeySize)
	version0 := append(lead(label), seal(t, 0, testKey, goodPing, []byte(label))...)
	foreign := append(lead("gslb/2"), seal(t, 1, testKey, goodPing, []byte("gslb/2"))...)
	tampered := packet(t, testKey, goodPing)
	tampered[len(tampered)-1] ^= 1
	for _, try := range []struct {
		name string
		b    []byte
		want Fault
	}{
		{"good", packet(t, testKey, goodPing), None},
		{"previous key", packet(t, other, goodPing), None},
		{"unknown key", packet(t, bytes.Repeat([]byte{1}, KeySize), goodPing), Key},
		{"tampered", tampered, Key},
		{"another label's cipher text under our label", append(lead(label), foreign[len(lead("gslb/2")):]...), Key},
		{"another label", foreign, Label},
		{"encryption version 0", version0, Cipher},
		{"plain text", append(lead(label), bytes.Repeat([]byte{3}, 60)...), Cipher},
		{"empty", nil, Size},
		{"too short", packet(t, testKey, []byte{0})[:MinPacket-1], Size},
		{"longest", packet(t, testKey, make([]byte, MaxPacket-len(lead(label))-cipherOverhead)), None},
		{"too long", packet(t, testKey, make([]byte, MaxPacket-len(lead(label))-cipherOverhead+1)), Size},
	} {
		if _, got := ring(t, testKey, other).OpenPacket(nil, try.b); got != try.want {
			t.Errorf("%s: fault %q, want %q", try.name, got, try.want)
		}
	}
}

func TestParsePacket_TakesWhatMemberlistSends(t *testing.T) {
	for _, try := range []struct {
		name  string
		plain []byte
		want  Kinds
	}{
		{"ping", goodPing, Of(Ping)},
		{"ping without source", object(Ping, "SeqNo", 1, "Node", ""), Of(Ping)},
		{"ack", goodAck, Of(Ack)},
		{"ack without payload", object(Ack, "SeqNo", 1, "Payload", nil), Of(Ack)},
		{"alive", goodAlive, Of(Alive)},
		{"suspect", object(Suspect, "Incarnation", 1, "Node", "a", "From", "b"), Of(Suspect)},
		{"dead", object(Dead, "Incarnation", 1, "Node", "a", "From", "b"), Of(Dead)},
		{"user", append([]byte{byte(User)}, "abc"...), Of(User)},
		{"user with checksum", withChecksum(append([]byte{byte(User)}, "abc"...)), Of(User)},
		{"compound", compoundOf(goodAck, goodAlive), Of(Ack, Alive)},
		{"compound with checksum", withChecksum(compoundOf(goodPing)), Of(Ping)},
	} {
		p, fault := ParsePacket(try.plain)
		if fault != None || p.Kinds != try.want {
			t.Errorf("%s: kinds %b, fault %q; want %b", try.name, p.Kinds, fault, try.want)
		}
	}
}

func TestParsePacket_HandsOutWhatTheDoorNeeds(t *testing.T) {
	if p, _ := ParsePacket(goodPing); string(p.SourceNode) != "agent" {
		t.Errorf("source node %q", p.SourceNode)
	}
	if p, _ := ParsePacket(compoundOf(goodAck)); string(p.AckPayload) != "0123456789abcdef" {
		t.Errorf("payload %q", p.AckPayload)
	}
	if p, _ := ParsePacket(withChecksum([]byte("\x08abc"))); string(p.User) != "abc" {
		t.Errorf("user message %q", p.User)
	}
}

func TestParsePacket_RefusesWhatMemberlistWouldChokeOn(t *testing.T) {
	broken := withChecksum(goodPing)
	broken[2] ^= 1
	for name, plain := range map[string][]byte{
		"empty":                    nil,
		"empty user message":       {byte(User)},
		"compressed":               {9, 1, 2, 3},
		"indirect ping":            object(1, "SeqNo", 1),
		"nack":                     object(11, "SeqNo", 1),
		"unknown type":             object(99, "SeqNo", 1),
		"checksum wrong":           broken,
		"checksum of nothing":      withChecksum(nil),
		"checksum in checksum":     withChecksum(withChecksum(goodPing)),
		"compound in compound":     compoundOf(compoundOf(goodPing)),
		"user message in compound": compoundOf(goodPing, []byte("\x08abc")),
		"empty compound":           compoundOf(),
		"empty part":               compoundOf(goodPing, nil),
		"compound cut off":         compoundOf(goodPing)[:20],
		"something behind":         append(bytes.Clone(goodPing), 0),
		"behind compound":          append(compoundOf(goodPing), 0),
		"not a map":                {byte(Ping), 0x91, 0x01},
		"unknown field":            object(Ping, "SeqNo", 1, "Nod", "x"),
		"doubled field":            object(Ping, "SeqNo", 1, "SeqNo", 2),
		"number for text":          object(Ping, "Node", 5),
		"text for number":          object(Ping, "SeqNo", "5"),
		"number too large":         object(Ping, "SeqNo", 1<<32),
		"negative number":          object(Ping, "SeqNo", []byte{0xff}),
		"negative wide number":     object(Ping, "SeqNo", []byte{0xd1, 0xff, 0xff}),
		"long name":                object(Ping, "Node", string(make([]byte, 256))),
		"text longer than packet":  object(Ping, "Node", []byte{0xdb, 0xff, 0xff, 0xff, 0xff}),
		"deep nesting":             object(Ping, "Node", bytes.Repeat([]byte{0x91}, 1000)),
		"long address":             object(Alive, "Addr", string(make([]byte, 17)), "Vsn", "\x01\x05\x02\x00\x00\x00"),
		"odd address":              object(Alive, "Addr", "\x7f\x00", "Vsn", "\x01\x05\x02\x00\x00\x00"),
		"no versions":              object(Alive, "Addr", "\x7f\x00\x00\x01"),
		"incarnation at its end":   object(Suspect, "Incarnation", 1<<32-1, "Node", "a"),
		"long metadata": object(Alive, "Addr", "\x7f\x00\x00\x01", "Meta", string(make([]byte, 513)), "Vsn",
			"\x01\x05\x02\x00\x00\x00"),
	} {
		if p, fault := ParsePacket(plain); fault != Malformed || p.Kinds != 0 {
			t.Errorf("%s: %+v, fault %q", name, p, fault)
		}
	}
}

func FuzzParsePacket(f *testing.F) {
	for _, plain := range [][]byte{goodPing, goodAck, goodAlive, withChecksum(goodPing), compoundOf(goodPing, goodAck),
		[]byte("\x08abc")} {
		f.Add(plain)
	}
	f.Fuzz(func(t *testing.T, plain []byte) {
		before := bytes.Clone(plain)
		p, fault := ParsePacket(plain)
		if !bytes.Equal(before, plain) {
			t.Error("input changed")
		}
		if (fault == None) == (p.Kinds == 0) {
			t.Errorf("kinds %b with fault %q", p.Kinds, fault)
		}
		if (p.User != nil) != p.Kinds.Has(User) || p.Kinds.Has(User) && p.Kinds != Of(User) {
			t.Errorf("user message of %d octets with kinds %b", len(p.User), p.Kinds)
		}
	})
}

func BenchmarkOpenPacket(b *testing.B) {
	k, plain := ring(b, testKey), append([]byte{byte(User)}, make([]byte, 600)...)
	raw, scratch := packet(b, testKey, plain), make([]byte, 0, MaxPacket)
	b.ReportAllocs()
	for b.Loop() {
		opened, fault := k.OpenPacket(scratch, raw)
		if fault != None {
			b.Fatal(fault)
		}
		if _, fault := ParsePacket(opened); fault != None {
			b.Fatal(fault)
		}
	}
}
