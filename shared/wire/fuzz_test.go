package wire // inside: it shares wire_test.go

import (
	"bytes"
	"reflect"
	"testing"
)

// kinds are the messages by type number.
var kinds = map[uint8]func() message{
	uint8(TypeHello):      func() message { return new(Hello) },
	uint8(TypeEnrol):      func() message { return new(Enrol) },
	uint8(TypeHeartbeat):  func() message { return new(Heartbeat) },
	uint8(TypeTransition): func() message { return new(Transition) },
	uint8(TypeDeregister): func() message { return new(Deregister) },
	uint8(TypeAck):        func() message { return new(Ack) },
	uint8(TypeReject):     func() message { return new(Reject) },
	uint8(TypeSignal):     func() message { return new(Signal) },
	uint8(TypeDrain):      func() message { return new(Drain) },
}

// FuzzUnmarshal checks that decoding never panics. Encoding a decoded message returns the input without fields of later
// versions, and decoding the result returns the same message.
func FuzzUnmarshal(f *testing.F) {
	for kind, make := range kinds {
		for _, m := range samples() {
			if reflect.TypeOf(m) == reflect.TypeOf(make()) {
				f.Add(kind, encode(f, m))
			}
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		make := kinds[kind]
		if make == nil {
			return
		}
		first, second := make(), make()
		input := bytes.Clone(b)
		if first.UnmarshalBinary(b) != nil {
			return
		}
		if !bytes.Equal(b, input) {
			t.Fatal("decoding changed its input")
		}
		once, err := first.MarshalBinary()
		if err != nil {
			t.Fatalf("what decodes cannot be encoded: %v", err)
		}
		if len(once) > len(b) || (len(once) == len(b) && !bytes.Equal(once, b)) {
			t.Fatalf("two encodings of the same message:\n%x\n%x", b, once)
		}
		clear(b) // the message must not refer to b
		if err := second.UnmarshalBinary(once); err != nil {
			t.Fatalf("what was encoded does not decode: %v", err)
		}
		if !reflect.DeepEqual(first, second) {
			t.Fatalf("decoded differently:\n%+v\n%+v", first, second)
		}
	})
}
