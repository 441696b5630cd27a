package observability_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"gslb.internal/integration/harness/testbed"
)

// mailServer passes on each accepted mail. It offers a login only after STARTTLS, and accepts no mail before the login.
type mailServer struct{ taken chan mailOf }

// mailOf is a mail and its envelope.
type mailOf struct {
	from string
	to   []string
	text string
}

const mailUser, mailPassword = "gslb", "a password of the mail server"

func (s mailServer) NewSession(*smtp.Conn) (smtp.Session, error) { return &mailSession{server: s}, nil }

type mailSession struct {
	server   mailServer
	loggedIn bool
	mailOf
}

func (s *mailSession) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *mailSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != mailUser || password != mailPassword {
			return smtp.ErrAuthFailed
		}
		s.loggedIn = true
		return nil
	}), nil
}

func (s *mailSession) Mail(from string, _ *smtp.MailOptions) error {
	if !s.loggedIn {
		return smtp.ErrAuthRequired
	}
	s.from = from
	return nil
}

func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = append(s.to, to)
	return nil
}

func (s *mailSession) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	s.text = string(text)
	select {
	case s.server.taken <- s.mailOf:
	default:
		err = errors.New("more mails than the test waits for")
	}
	return err
}

func (s *mailSession) Reset()        { s.mailOf = mailOf{} }
func (s *mailSession) Logout() error { return nil }

// startMailServer returns the address of a mail server, the file of its certificate, and the accepted mails.
func startMailServer(t *testing.T) (at, certificate string, taken <-chan mailOf) {
	t.Helper()
	_, files := testbed.SelfSigned(t, t.TempDir())
	pair, err := tls.LoadX509KeyPair(files[0], files[1])
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	mails := make(chan mailOf, 100)
	s := smtp.NewServer(mailServer{mails})
	s.Domain, s.TLSConfig = "mail.example", &tls.Config{Certificates: []tls.Certificate{pair},
		MinVersion: tls.VersionTLS12}
	s.ErrorLog = log.New(t.Output(), "mail server: ", 0)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Close()
		<-ended
	})
	return l.Addr().String(), files[0], mails
}

// A mail server that requires STARTTLS and a login receives a mail about a name when its backend fails, and another
// mail after the recovery.
func TestNotifications_AMailServerTakesThem(t *testing.T) {
	at, certificate, taken := startMailServer(t)
	s := testbed.NewSite(t, 1, 2)
	n := s.Nodes[0]
	n.File.Overwatch.Notifications = map[string]any{"targets": []any{map[string]any{"name": "mail", "type": "email",
		"server": at, "from": "gslb@example.com", "to": []string{"on-call@example.com", "boss@example.com"},
		"username": mailUser, "secret": mailPassword, "group_wait": "1s", "names": []string{testbed.AppName}}}}
	n.Env = append(n.Env, "SSL_CERT_FILE="+certificate)
	s.StartAll(t)
	comes := func(what string, words ...string) {
		t.Helper()
		testbed.Until(t, time.Minute, "a mail of "+what, func(context.Context) error {
			select {
			case m := <-taken:
				return m.has(words)
			default:
				return errors.New("no mail")
			}
		})
	}
	testbed.Kill(t, s.Backends[0])
	comes("the dead backend", testbed.AppName, s.Backends[0].At.String())
	testbed.Start(t, s.Backends[0])
	comes("its end", testbed.AppName, "resolved")
}

// has returns an error if a mail is malformed or lacks one of the words.
func (m mailOf) has(words []string) error {
	parsed, err := mail.ReadMessage(strings.NewReader(m.text))
	if err != nil {
		return err
	}
	if m.from != "gslb@example.com" || fmt.Sprint(m.to) != "[on-call@example.com boss@example.com]" ||
		parsed.Header.Get("From") == "" || parsed.Header.Get("Date") == "" || parsed.Header.Get("Message-Id") == "" {
		return fmt.Errorf("the mail is from %s to %s, and has %v", m.from, m.to, parsed.Header)
	}
	for _, w := range words {
		if !strings.Contains(m.text, w) {
			return fmt.Errorf("the mail does not say %q:\n%s", w, m.text)
		}
	}
	return nil
}
