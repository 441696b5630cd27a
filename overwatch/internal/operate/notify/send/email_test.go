package send // inside: it adds a test server to the trusted certificates

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
)

// mailServer accepts one mail. It has a response for each command that it rejects.
type mailServer struct {
	tls     *tls.Config // nil: it offers no STARTTLS
	refuses map[string]string
	said    []string // commands; the mail is one element
}

// serve handles one client.
func (s *mailServer) serve(conn net.Conn) {
	in := bufio.NewReader(conn)
	_, _ = io.WriteString(conn, "220 mail.example\r\n")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		s.said = append(s.said, strings.TrimSpace(line))
		verb, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		reply := "250 well\r\n"
		switch {
		case s.refuses[verb] != "":
			reply = s.refuses[verb] + "\r\n"
		case verb == "EHLO" && s.tls != nil:
			reply = "250-mail.example\r\n250-AUTH PLAIN\r\n250 STARTTLS\r\n"
		case verb == "STARTTLS":
			_, _ = io.WriteString(conn, "220 go\r\n")
			conn = tls.Server(conn, s.tls)
			in = bufio.NewReader(conn)
			continue
		case verb == "AUTH":
			reply = "235 welcome\r\n"
		case verb == "DATA":
			_, _ = io.WriteString(conn, "354 go\r\n")
			var mail strings.Builder
			for line := ""; line != ".\r\n" && err == nil; line, err = in.ReadString('\n') {
				mail.WriteString(line)
			}
			s.said = append(s.said, mail.String())
		case verb == "QUIT":
			_, _ = io.WriteString(conn, "221 bye\r\n")
			return
		}
		_, _ = io.WriteString(conn, reply)
	}
}

// sent sends a mail to the server, and returns the outcome after both sides end.
func (s *mailServer) sent(t *testing.T, c config.NotificationTarget, roots *x509.CertPool) error {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if conn, err := l.Accept(); err == nil {
			s.serve(conn)
			_ = conn.Close()
		}
	}()
	c.Server, c.From, c.To = l.Addr().String(), "gslb@example.com", []string{"a@example.com", "b@example.com"}
	e := newEmail(&c)
	e.tls.RootCAs = roots
	err = e.Send(t.Context(), Message{ID: "id1", Key: "name ä.example\r\nBcc: x@example.com", Severity: api.EventError,
		Node: "ow-1", Events: []api.Event{{Sentence: ".b1 ist zurück"}}})
	_ = l.Close()
	<-done
	return err
}

func TestEmail_IsSentOverTLSAfterLogin(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	s := &mailServer{tls: &tls.Config{Certificates: web.TLS.Certificates}}
	if err := s.sent(t, config.NotificationTarget{Username: "u", Secret: "p"}, roots); err != nil {
		t.Fatal(err)
	}
	said := strings.Join(s.said, "|")
	for _, want := range []string{"|STARTTLS|EHLO ", "|AUTH PLAIN AHUAcA==|MAIL FROM:<gslb@example.com>",
		"|RCPT TO:<a@example.com>|RCPT TO:<b@example.com>|DATA|", "Subject: =?utf-8?q?[gslb]_error:_name_=C3=A4.example",
		"Message-ID: <id1@example.com>\r\n", "b1 ist zur=C3=BCck"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in %s", want, said)
		}
	}
	if strings.Contains(said, "\nBcc:") {
		t.Errorf("a subject makes a header: %s", said)
	}
	if err := (&mailServer{tls: s.tls}).sent(t, config.NotificationTarget{}, x509.NewCertPool()); err == nil {
		t.Error("a certificate of nobody was taken")
	}
}

func TestEmail_TheServersRefusalsArePermanentIfItSaysSo(t *testing.T) {
	for _, tc := range []struct {
		verb, answer string
		permanent    bool
	}{{"MAIL", "550 no", true}, {"RCPT", "451 later", false}, {"DATA", "554 no", true}, {"EHLO", "421 busy", false}} {
		s := &mailServer{refuses: map[string]string{tc.verb: tc.answer, "HELO": tc.answer}}
		err := s.sent(t, config.NotificationTarget{}, nil)
		if _, permanent := errors.AsType[*Permanent](err); err == nil || permanent != tc.permanent {
			t.Errorf("%s %s: %v", tc.verb, tc.answer, err)
		}
	}
}

// The client stops reading an endless greeting.
func TestEmail_AnEndlessGreetingIsLeft(t *testing.T) {
	for _, endless := range []string{"220-hello\r\n", "220 hello"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			conn, err := l.Accept()
			for err == nil {
				_, err = io.WriteString(conn, endless)
			}
		}()
		e := newEmail(&config.NotificationTarget{Server: l.Addr().String(), From: "a@b.example"})
		if err := e.Send(t.Context(), Message{}); err == nil || !strings.Contains(err.Error(), "more than 65536 octets") {
			t.Errorf("%q: %v", endless, err)
		}
	}
}

// A server at a non-loopback address must offer STARTTLS.
func TestEmail_NothingGoesInTheClear(t *testing.T) {
	here, there := net.Pipe()
	s := &mailServer{}
	go s.serve(there)
	e := newEmail(&config.NotificationTarget{Server: "mail.example:25", From: "a@b.example", To: []string{"c@d.example"}})
	err := e.talk(here, false, &Message{})
	if _, permanent := errors.AsType[*Permanent](err); !permanent || !errors.Is(err, errNoTLS) {
		t.Errorf("%v", err)
	}
	_ = here.Close()
}

// A silent server delays an attempt until its timeout, but not longer.
func TestEmail_EndsWithItsContext(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	e := newEmail(&config.NotificationTarget{Server: l.Addr().String(), From: "a@b.example"})
	if err := e.Send(ctx, Message{}); err == nil {
		t.Error(fmt.Errorf("it was sent: %w", ctx.Err()))
	}
}
