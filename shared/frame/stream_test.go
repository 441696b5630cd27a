package frame // inside: it uses cipherOverhead, encryptMarker and maxName

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

func readRequest(k *Keyring, r io.Reader) (wire, plain []byte, fault Fault) {
	h, fault := k.ReadRequestHeader(r)
	if fault != None {
		return nil, nil, fault
	}
	return k.ReadBody(r, h, new(bytes.Buffer))
}

func TestReadRequest_TakesOnlyOurLabelKeyAndVersion(t *testing.T) {
	good := stream(t, true, testKey, goodUser)
	edit := func(at int, v byte) []byte {
		b := bytes.Clone(good)
		b[at] = v
		return b
	}
	headAt := len(lead(label))
	for _, try := range []struct {
		name string
		b    []byte
		want Fault
	}{
		{"good", good, None},
		{"empty", nil, Incomplete},
		{"header cut off", good[:10], Incomplete},
		{"body cut off", good[:len(good)-1], Incomplete},
		{"web server's client", []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), Label},
		{"another label", edit(3, 'x'), Label},
		{"not encrypted", edit(headAt, byte(User)), Cipher},
		{"encryption version 0", edit(headAt+5, 0), Cipher},
		{"announces 4 GiB", edit(headAt+1, 0xff), Size},
		{"announces nothing", append(bytes.Clone(good[:headAt+1]), 0, 0, 0, cipherOverhead, 1), Size},
		{"another key", stream(t, true, bytes.Repeat([]byte{1}, KeySize), goodUser), Key},
		{"tampered", edit(len(good)-1, good[len(good)-1]^1), Key},
	} {
		if _, _, got := readRequest(ring(t, testKey), bytes.NewReader(try.b)); got != try.want {
			t.Errorf("%s: fault %q, want %q", try.name, got, try.want)
		}
	}
}

func TestReadBody_ReturnsTheWireUnchangedAndThePlainText(t *testing.T) {
	raw := stream(t, true, testKey, goodUser)
	wire, plain, fault := readRequest(ring(t, testKey), bytes.NewReader(append(bytes.Clone(raw), "more"...)))
	if fault != None || !bytes.Equal(wire, raw) || !bytes.Equal(plain, goodUser) {
		t.Errorf("wire %x, plain %x, fault %q", wire, plain, fault)
	}
}

func TestParseStream_TakesWhatMemberlistSends(t *testing.T) {
	for name, plain := range map[string][]byte{
		"ping":                 goodPing,
		"ack":                  goodAck,
		"error":                object(Error, "Error", "no"),
		"user":                 goodUser,
		"push/pull":            pushPull(2, 3, goodState, goodState, []byte("abc")),
		"push/pull, no states": pushPull(0, 0),
	} {
		s, fault := ParseStream(plain)
		if fault != None || s.Kind != Kind(plain[0]) {
			t.Errorf("%s: %+v, fault %q", name, s, fault)
		}
		if s.Kind == User && string(s.User) != "abc" {
			t.Errorf("user message %q", s.User)
		}
	}
}

func TestParseStream_RefusesWhatMemberlistWouldChokeOn(t *testing.T) {
	many := make([][]byte, maxNodes+1)
	for i := range many {
		many[i] = goodState
	}
	for name, plain := range map[string][]byte{
		"empty":                  {},
		"compressed":             {9, 1, 2, 3},
		"alive":                  goodAlive,
		"encrypted in encrypted": {encryptMarker, 0, 0, 0, 1},
		"empty user message":     object(User, "UserMsgLen", 0),
		"announces 20 MiB":       object(User, "UserMsgLen", 20<<20),
		"announces less":         append(object(User, "UserMsgLen", 2), "abc"...),
		"announces more":         append(object(User, "UserMsgLen", 4), "abc"...),
		"a million nodes":        pushPull(1<<20, 0),
		"too many nodes":         pushPull(len(many), 0, many...),
		"fewer nodes":            pushPull(2, 0, goodState),
		"more nodes":             pushPull(1, 0, goodState, goodState),
		"20 MiB of user state":   pushPull(0, 20<<20),
		"user state cut off":     pushPull(0, 3, []byte("ab")),
		"node without versions":  pushPull(1, 0, plainObject("Name", "n", "Addr", "\x7f\x00\x00\x01")),
		"node with an unknown state": pushPull(1, 0,
			plainObject("Name", "n", "Addr", "\x7f\x00\x00\x01", "State", 9, "Vsn", "\x01\x05\x02\x00\x00\x00")),
	} {
		if s, fault := ParseStream(plain); fault != Malformed {
			t.Errorf("%s: %+v, fault %q", name, s, fault)
		}
	}
}

// serve answers a connection and closes it.
func serve(t *testing.T, answer []byte) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		if c, err := ln.Accept(); err == nil {
			c.Write(answer)
			c.Close()
		}
	}()
	return ln.Addr().String()
}

func TestDialer_RefusesWhatIsNotAReply(t *testing.T) {
	other := bytes.Repeat([]byte{1}, KeySize)
	for _, try := range []struct {
		name string
		sent []byte
		want Fault
	}{
		{"good", stream(t, false, testKey, pushPull(0, 0)), None},
		{"closed without a word", nil, Incomplete},
		{"web server", []byte("HTTP/1.1 400 Bad Request\r\n\r\n"), Cipher},
		{"another key", stream(t, false, other, pushPull(0, 0)), Key},
		{"empty", stream(t, false, testKey, nil), Size},
		{"unasked", stream(t, false, testKey, goodUser), Malformed},
		{"malformed", stream(t, false, testKey, pushPull(1<<20, 0)), Malformed},
	} {
		got := None
		d := Dialer{Keyring: ring(t, testKey), Allowed: Of(PushPull), Refused: func(f Fault) { got = f }}
		conn, err := d.Dial(t.Context(), serve(t, try.sent), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(conn)
		if got != try.want || (err == nil) != (try.want == None) || try.want == None && !bytes.Equal(b, try.sent) {
			t.Errorf("%s: fault %q (%v), want %q", try.name, got, err, try.want)
		}
		conn.Close()
	}
}

// late reports whether an error is a timeout.
func late(err error) bool {
	timed, is := errors.AsType[net.Error](err)
	return is && timed.Timeout()
}

func TestDialer_StreamEndsWithItsContextOrItsTime(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	d := Dialer{Keyring: ring(t, testKey), Allowed: Of(PushPull)}
	for _, timeout := range []time.Duration{time.Minute, 20 * time.Millisecond} {
		ctx, cancel := context.WithCancel(t.Context())
		conn, err := d.Dial(ctx, silent.Addr().String(), timeout)
		for again := 0; again < 20 && late(err); again++ { // the machine was overloaded
			conn, err = d.Dial(ctx, silent.Addr().String(), timeout)
		}
		if err != nil {
			t.Fatal(err)
		}
		if timeout == time.Minute {
			cancel()
		}
		if _, err := io.ReadAll(conn); err == nil {
			t.Error("something was read of a silent peer")
		}
		conn.Close()
		cancel()
	}
}

func TestAgentName_DiffersByKeyAndEpoch(t *testing.T) {
	a, b := AgentName([32]byte{1}, 7), AgentName([32]byte{1}, 8)
	if a == b || a == AgentName([32]byte{2}, 7) || len(a) > maxName || strings.ContainsAny(a, " /\n") {
		t.Errorf("names %q and %q", a, b)
	}
}

func FuzzParseStream(f *testing.F) {
	for _, plain := range [][]byte{goodPing, goodUser, pushPull(1, 3, goodState, []byte("abc")),
		object(Error, "Error", "no")} {
		f.Add(plain)
	}
	f.Fuzz(func(t *testing.T, plain []byte) {
		s, fault := ParseStream(plain)
		if fault == None && len(s.User) > len(plain) {
			t.Errorf("user message of %d octets in %d", len(s.User), len(plain))
		}
	})
}

func FuzzReadRequest(f *testing.F) {
	f.Add(stream(f, true, testKey, goodUser))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	k := ring(f, testKey)
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, _, fault := readRequest(k, bytes.NewReader(b)); fault == None && len(b) < len(lead(label))+5+cipherOverhead {
			t.Errorf("%d octets taken", len(b))
		}
		k.OpenPacket(nil, b)
	})
}
