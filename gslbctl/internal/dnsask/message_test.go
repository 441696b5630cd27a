package dnsask // inside: it uses question

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// reply makes the answer of a server.
func reply(t testing.TB, query []byte, code dnsmessage.RCode, ttls ...uint32) []byte {
	t.Helper()
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil {
		t.Fatal(err)
	}
	m.Response, m.RCode = true, code
	for i, ttl := range ttls {
		var body dnsmessage.ResourceBody = &dnsmessage.AResource{A: [4]byte{192, 0, 2, byte(i + 1)}}
		if m.Questions[0].Type == dnsmessage.TypeAAAA {
			body = &dnsmessage.AAAAResource{AAAA: [16]byte{0x20, 1, 0xd, 0xb8, 15: byte(i + 1)}}
		}
		m.Answers = append(m.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Class: dnsmessage.ClassINET, TTL: ttl}, Body: body})
	}
	packed, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

// serve answers each query of one connection after another.
func serve(t *testing.T, of func([]byte) []byte) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for {
					var length [2]byte
					if _, err := io.ReadFull(conn, length[:]); err != nil {
						return
					}
					query := make([]byte, binary.BigEndian.Uint16(length[:]))
					if _, err := io.ReadFull(conn, query); err != nil {
						return
					}
					if answer := of(query); answer != nil {
						_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

func TestAsk_TellsAddressesTTLAndFailure(t *testing.T) {
	code, ttls := dnsmessage.RCodeSuccess, []uint32{30, 20}
	address := serve(t, func(query []byte) []byte { return reply(t, query, code, ttls...) })
	c, err := Dial(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, v6 := range []bool{false, true} {
		a, err := c.Ask(t.Context(), "app.example.com", v6)
		if err != nil || len(a.Addresses) != 2 || a.TTL != 20*time.Second || a.Failure != "" || a.Addresses[0].Is6() != v6 {
			t.Errorf("%+v, %v", a, err)
		}
	}
	ttls = nil
	if a, err := c.Ask(t.Context(), "app.example.com.", false); err != nil || len(a.Addresses) != 0 || a.Failure != "" {
		t.Errorf("no data: %+v, %v", a, err)
	}
	for rcode, want := range map[dnsmessage.RCode]string{dnsmessage.RCodeServerFailure: "SERVFAIL",
		dnsmessage.RCodeNameError: "NXDOMAIN", 11: "response code 11"} {
		code = rcode
		if a, err := c.Ask(t.Context(), "app.example.com", false); err != nil || a.Failure != want {
			t.Errorf("%+v, %v, want %s", a, err, want)
		}
	}
	if _, err := c.Ask(t.Context(), strings.Repeat("a", 300), false); err == nil {
		t.Error("a name that is too long is asked for")
	}
}

func TestAsk_EndsWithItsContext(t *testing.T) {
	c, err := Dial(t.Context(), serve(t, func([]byte) []byte { return nil }))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Ask(ctx, "app.example.com", false); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestAnswer_AboutSomethingElseIsRefused(t *testing.T) {
	q := question{id: 7, name: "app.example.com"}
	query, err := q.message()
	if err != nil {
		t.Fatal(err)
	}
	good := reply(t, query, 0, 30)
	for name, bytes := range map[string][]byte{
		"a question": query, "another id": append([]byte{0, 8}, good[2:]...), "nothing": nil, "a part": good[:len(good)-1],
	} {
		if a, err := q.answer(bytes); err == nil {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	q := question{id: 7, name: "app.example.com"}
	query, err := q.message()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(query)
	f.Add(reply(f, query, 0, 30, 20))
	f.Add(reply(f, query, 2))
	f.Fuzz(func(t *testing.T, bytes []byte) {
		a, err := q.answer(bytes)
		if err == nil && (a.Failure != "") == (len(a.Addresses) > 0) && a.Failure != "" {
			t.Errorf("a failure with addresses: %+v", a)
		}
	})
}
