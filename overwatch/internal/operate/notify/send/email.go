package send

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/smtp"
	"net/textproto"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/readlimit"
)

// maxSubject bounds a subject, in octets.
const maxSubject = 200

// maxMailOctets is the maximum number of octets read from a mail server, for its certificates and responses. net/smtp
// reads lines of any length.
const maxMailOctets = 64 << 10

// email sends messages by SMTP (RFC 5321), with TLS from the start at port 465 (RFC 8314) and STARTTLS (RFC 3207) at
// other ports. Only a server on a loopback address may lack STARTTLS.
type email struct {
	server, from   string
	to             []string
	user, password string // empty: no login
	tls            tls.Config
}

func newEmail(c *config.NotificationTarget) *email {
	host, _, _ := net.SplitHostPort(c.Server) // checked by package config
	return &email{server: c.Server, from: c.From, to: c.To, user: c.Username, password: c.Secret.Reveal(),
		tls: tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}}
}

// Send implements Sender.
func (e *email) Send(ctx context.Context, m Message) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", e.server)
	if err != nil {
		return fmt.Errorf("it cannot be reached: %w", err)
	}
	defer conn.Close()
	conn = readlimit.Conn(conn, maxMailOctets)
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	loopback := conn.RemoteAddr().(*net.TCPAddr).IP.IsLoopback()
	if strings.HasSuffix(e.server, ":465") {
		conn = tls.Client(conn, &e.tls)
	}
	if err := e.talk(conn, loopback, &m); err != nil {
		if answer, ok := errors.AsType[*textproto.Error](err); ok && answer.Code >= 500 {
			return &Permanent{fmt.Errorf("it answers: %w", err)}
		}
		return err
	}
	return nil
}

// errNoTLS is the error of a remote server without STARTTLS.
var errNoTLS = errors.New("it does not offer STARTTLS: nothing is sent to it in the clear")

// talk sends a message to the server over a connection.
func (e *email) talk(conn net.Conn, loopback bool, m *Message) error {
	c, err := smtp.NewClient(conn, e.tls.ServerName)
	if err != nil {
		return err
	}
	if _, encrypted := conn.(*tls.Conn); !encrypted {
		if offers, _ := c.Extension("STARTTLS"); offers {
			if err := c.StartTLS(&e.tls); err != nil {
				return err
			}
		} else if !loopback {
			return &Permanent{errNoTLS}
		}
	}
	if e.user != "" {
		if err := c.Auth(smtp.PlainAuth("", e.user, e.password, e.tls.ServerName)); err != nil {
			return err
		}
	}
	if err := c.Mail(e.from); err != nil {
		return err
	}
	for _, to := range e.to {
		if err := c.Rcpt(to); err != nil {
			return err
		}
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err = w.Write(e.text(m)); err != nil {
		return err
	}
	if err := w.Close(); err != nil { // returns the response of the server to the message
		return err
	}
	_ = c.Quit()
	return nil
}

// text returns a message in the form of a mail (RFC 5322).
func (e *email) text(m *Message) []byte {
	var b bytes.Buffer
	_, domain, _ := strings.Cut(e.from, "@")
	for _, header := range [][2]string{{"From", e.from}, {"To", strings.Join(e.to, ", ")},
		{"Subject", mime.QEncoding.Encode("utf-8", cut(m.title(), maxSubject))},
		{"Date", time.Now().UTC().Format(time.RFC1123Z)},
		{"Message-ID", "<" + m.ID + "@" + domain + ">"}, {"Auto-Submitted", "auto-generated"}, {"MIME-Version", "1.0"},
		{"Content-Type", "text/plain; charset=utf-8"}, {"Content-Transfer-Encoding", "quoted-printable"}} {
		_, _ = fmt.Fprintf(&b, "%s: %s\r\n", header[0], header[1])
	}
	b.WriteString("\r\n")
	w := quotedprintable.NewWriter(&b)
	_, _ = fmt.Fprintf(w, "%s\nTold by node %s.\n", m.lines(), m.Node)
	_ = w.Close()
	return b.Bytes()
}
