package check // inside: it uses clip

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// scripted returns a backend in memory. It calls serve for each connection after it has read the request header.
func scripted(t *testing.T, kind Type, serve func(net.Conn)) *Prober {
	t.Helper()
	spec := valid()
	spec.Type = kind
	prober, err := NewProber(spec, netip.MustParseAddrPort("192.0.2.1:80"), "test")
	if err != nil {
		t.Fatal(err)
	}
	prober.dial = func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			if kind == HTTP {
				for in := bufio.NewReader(far); ; {
					if line, err := in.ReadString('\n'); err != nil || line == "\r\n" {
						break
					}
				}
			}
			serve(far)
		}()
		return near, nil
	}
	return prober
}

// send returns a backend that answers with text.
func send(text string) func(net.Conn) {
	return func(c net.Conn) { io.WriteString(c, text) }
}

// drip sends an octet per second until the other side closes the connection.
func drip(c net.Conn) {
	for {
		if _, err := c.Write([]byte{'x'}); err != nil {
			return
		}
		time.Sleep(time.Second) // virtual
	}
}

// The bubble ends only when every goroutine of the probe and of the backend has ended, so each case also proves that
// no goroutine leaks.
//
// Fault 34.
func TestProbe_MisbehavingBackendFailsInTimeWithItsReason(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	for _, c := range []struct {
		name  string
		kind  Type
		serve func(net.Conn)
		want  string
	}{
		{"silence", HTTP, func(c net.Conn) { io.Copy(io.Discard, c) }, "timeout after 2s waiting for the answer"},
		{"closes without an answer", HTTP, send(""), "connection closed without an answer"},
		{"closes in the header", HTTP, send(ok + "Content-"), ""},
		{"closes in the body", HTTP, send(ok + "Content-Length: 10\r\n\r\nabc"),
			"connection closed in the middle of the body"},
		{"closes in a chunk", HTTP, send(ok + "Transfer-Encoding: chunked\r\n\r\na\r\nabc"),
			"connection closed in the middle of the body"},
		{"drips its header", HTTP, func(c net.Conn) { send(ok + "X: ")(c); drip(c) },
			"timeout after 2s waiting for the answer"},
		{"drips its body", HTTP, func(c net.Conn) { send(ok + "\r\n")(c); drip(c) }, "timeout after 2s reading the body"},
		{"endless body", HTTP, func(c net.Conn) {
			send(ok + "\r\n")(c)
			for chunk := make([]byte, 64<<10); ; {
				if _, err := c.Write(chunk); err != nil {
					return
				}
			}
		}, "body larger than 1048576 octets"},
		{"header of a megabyte", HTTP, send(ok + "X: " + strings.Repeat("a", 1<<20) + "\r\n\r\n"),
			"server response headers exceeded 32768 bytes; aborted"},
		{"a million header lines", HTTP, send(ok + strings.Repeat("X: a\r\n", 1<<20) + "\r\n"),
			"server response headers exceeded 32768 bytes; aborted"},
		{"endless 1xx answers", HTTP, func(c net.Conn) {
			for {
				if _, err := io.WriteString(c, "HTTP/1.1 103 Early Hints\r\nX: a\r\n\r\n"); err != nil {
					return
				}
			}
		}, ""},
		{"redirects to itself", HTTP, send("HTTP/1.1 302 Found\r\nLocation: /health\r\nContent-Length: 0\r\n\r\n"),
			"more than 5 redirects"},
		{"redirects to nonsense", HTTP, send("HTTP/1.1 302 Found\r\nLocation: http://[\r\n\r\n"), ""},
		{"not HTTP", HTTP, send("SSH-2.0-OpenSSH_9.9\r\n\r\n"), `malformed HTTP response "SSH-2.0-OpenSSH_9.9"`},
		{"control characters", HTTP, send(ok + "\x00\x1b[31m\xff: \n\n\r\n"), ""},
		{"status 500", HTTP, send("HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n"), "status 500 Internal Server Error"},
		{"status nobody knows", HTTP, send("HTTP/1.1 799 X\r\nContent-Length: 0\r\n\r\n"), "status 799"},
		{"switching protocols", HTTP, send("HTTP/1.1 101 X\r\nUpgrade: y\r\nConnection: upgrade\r\n\r\n"),
			"status 101 Switching Protocols"},
		{"plain HTTP where TLS is expected", HTTPS, send("HTTP/1.1 400 Bad Request\r\n\r\n"), ""},
		{"TLS garbage", HTTPS, send("\x16\x03\x03\x40\x00" + strings.Repeat("\xff", 1<<14)), ""},
		{"silence in the handshake", HTTPS, func(c net.Conn) { io.Copy(io.Discard, c) },
			"timeout after 2s in the TLS handshake"},
		{"closes in the handshake", HTTPS, func(c net.Conn) { c.Read(make([]byte, 1)) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				r := scripted(t, c.kind, c.serve).Probe(t.Context())
				took := time.Since(start)
				time.Sleep(time.Second) // virtual: a dripping backend notices at its next octet
				if r.Outcome != Failure || r.Err == "" || len(r.Err) > MaxReason {
					t.Fatalf("%s %q, want a failure with its reason", r.Outcome, r.Err)
				}
				if c.want != "" && r.Err != c.want {
					t.Errorf("reason %q, want %q", r.Err, c.want)
				}
				if strings.ContainsFunc(r.Err, func(r rune) bool { return r < ' ' || r > '~' }) {
					t.Errorf("reason %q is not plain text", r.Err)
				}
				if took > DefaultTimeout || r.Latency != took {
					t.Errorf("took %s and says %s, at most %s is allowed", took, r.Latency, DefaultTimeout)
				}
			})
		})
	}
}

func TestProbe_AnswerThatIsCompleteInTimeIsHealthy(t *testing.T) {
	for _, c := range []struct {
		name  string
		serve func(net.Conn)
	}{
		{"200", send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")},
		{"204", send("HTTP/1.1 204 No Content\r\n\r\n")},
		{"HTTP/1.0 until it closes", send("HTTP/1.0 200 OK\r\n\r\nok")},
		{"chunked", send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")},
		{"largest body", send("HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("a", MaxBody))},
		{"an informational answer first", send("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\n")},
		{"redirect to another host", send("HTTP/1.1 301 X\r\nLocation: http://www.example.com/\r\n\r\n")},
		{"redirect to https", send("HTTP/1.1 301 X\r\nLocation: https://192.0.2.1:80/health\r\n\r\n")},
		{"redirect without a place", send("HTTP/1.1 302 X\r\n\r\n")},
		{"304", send("HTTP/1.1 304 Not Modified\r\n\r\n")},
		{"slow but in time", func(c net.Conn) {
			time.Sleep(DefaultTimeout - time.Millisecond) // virtual
			send("HTTP/1.1 200 OK\r\n\r\n")(c)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if r := scripted(t, HTTP, c.serve).Probe(t.Context()); r.Outcome != Success || r.Err != "" {
					t.Errorf("%s %q, want success", r.Outcome, r.Err)
				}
			})
		})
	}
}

func TestProbe_StoppedByItsCallerSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prober := scripted(t, HTTP, func(c net.Conn) { io.Copy(io.Discard, c) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if r := prober.Probe(ctx); r.Outcome != Unknown || r.Latency != time.Second {
			t.Errorf("%s after %s (%s), want unknown after 1s", r.Outcome, r.Latency, r.Err)
		}
	})
}

// A process that was stopped in the middle of a check continues long after the timeout.
func TestProbe_HeldUpOnThisMachineSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prober := scripted(t, TCP, nil)
		prober.dial = func(context.Context, string, string) (net.Conn, error) {
			time.Sleep(time.Minute) // virtual
			return nil, errors.New("late")
		}
		if r := prober.Probe(t.Context()); r.Outcome != Unknown || !r.HeldUp || !strings.Contains(r.Err, "held up for 1m0s") {
			t.Errorf("%s (%s), want unknown", r.Outcome, r.Err)
		}
	})
}

func TestProbe_BlackHoleIsATimeoutWhileConnecting(t *testing.T) {
	for _, kind := range []Type{TCP, HTTP, HTTPS} {
		synctest.Test(t, func(t *testing.T) {
			prober := scripted(t, kind, nil)
			prober.dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, fmt.Errorf("dial: %w", ctx.Err())
			}
			if r := prober.Probe(t.Context()); r.Outcome != Failure || r.Err != "timeout after 2s connecting" {
				t.Errorf("%s: %s (%s)", kind, r.Outcome, r.Err)
			}
		})
	}
}

// A backend that sends a greeting before the request fails as a backend that does not speak HTTP, and net/http writes
// no greeting to the standard logger.
func TestProbe_GreetingBeforeTheRequestStaysOutOfTheLog(t *testing.T) {
	var logged strings.Builder
	log.SetOutput(&logged)
	defer log.SetOutput(os.Stderr)
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			prober := scripted(t, HTTP, nil)
			prober.dial = func(context.Context, string, string) (net.Conn, error) {
				near, far := net.Pipe()
				go func() {
					defer far.Close()
					go io.WriteString(far, "220 mail ESMTP\r\n")
					io.Copy(io.Discard, far)
				}()
				return near, nil
			}
			if r := prober.Probe(t.Context()); r.Outcome != Failure || !strings.Contains(r.Err, "malformed") {
				t.Errorf("%s %q", r.Outcome, r.Err)
			}
		})
	}
	if logged.Len() > 0 {
		t.Errorf("the standard logger got %.100q", logged.String())
	}
}

// The check closes the connection to a backend that sends frames without end after maxGRPCOctets. net/http logs a line
// about each unknown frame.
func TestProbe_AFloodOfFramesIsNotRead(t *testing.T) {
	log.SetOutput(io.Discard)
	defer log.SetOutput(os.Stderr)
	synctest.Test(t, func(t *testing.T) {
		spec := valid()
		spec.Type, spec.Path = GRPC, ""
		prober, err := NewProber(spec, netip.MustParseAddrPort("192.0.2.1:80"), "test")
		if err != nil {
			t.Fatal(err)
		}
		taken := 0
		prober.dial = func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			go io.Copy(io.Discard, far)
			go func() {
				defer far.Close()
				frame := []byte{0, 0, 0, 4, 0, 0, 0, 0, 0} // SETTINGS (RFC 9113 section 6.5), then an unknown type
				for err := error(nil); err == nil && taken <= 2*maxGRPCOctets; frame[3] = 0xff {
					var n int
					n, err = far.Write(frame)
					taken += n
				}
			}()
			return near, nil
		}
		r := prober.Probe(t.Context())
		synctest.Wait()
		if r.Outcome != Failure || r.Latency != 0 || taken > maxGRPCOctets {
			t.Errorf("%s %q after %s and %d octets", r.Outcome, r.Err, r.Latency, taken)
		}
	})
}

// Any octets as an answer result in an outcome, within the timeout, with a printable reason.
func FuzzProbe_AnyAnswer(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
	f.Add([]byte("HTTP/1.1 302 Found\r\nLocation: ?\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"))
	f.Add([]byte("HTTP/1.1 100 Continue\r\n\r\n\x00"))
	f.Add([]byte("\x15\x03\x01\x00\x02\x02\x28"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		for _, kind := range []Type{HTTP, HTTPS} {
			synctest.Test(t, func(t *testing.T) {
				r := scripted(t, kind, func(c net.Conn) { c.Write(answer) }).Probe(t.Context())
				if r.Outcome == Unknown || (r.Outcome == Success) != (r.Err == "") {
					t.Errorf("%s %q", r.Outcome, r.Err)
				}
				if len(r.Err) > MaxReason || r.Err != clip(r.Err) {
					t.Errorf("reason %q is not clean", r.Err)
				}
				if r.Latency > DefaultTimeout {
					t.Errorf("took %s", r.Latency)
				}
			})
		}
	})
}
