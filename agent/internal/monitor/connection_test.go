package monitor // inside: it replaces the dialer, and tests idleTimeout

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/shared/check"
)

// server is a backend with idle connections, in virtual time.
type server struct {
	idle     func(n int) time.Duration // age at which the server ends its connection n; 0: never
	greeting int                       // octets that it sends to a client

	mu    sync.Mutex
	down  bool
	conns []net.Conn
	ended int // connections that the client ended
}

func (s *server) dial(context.Context, netip.AddrPort) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return nil, errors.New("refused")
	}
	client, own := net.Pipe()
	n := len(s.conns)
	s.conns = append(s.conns, own)
	if s.idle != nil && s.idle(n) > 0 {
		time.AfterFunc(s.idle(n), func() { _ = own.Close() })
	}
	go func() {
		_, _ = own.Write(make([]byte, s.greeting))
		if _, err := own.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			return // the server ended it
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ended++
	}()
	return client, nil
}

// kill ends the server with all its connections.
func (s *server) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = true
	for _, c := range s.conns {
		_ = c.Close()
	}
}

func (s *server) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// endedByClient returns the number of connections that the client ended.
func (s *server) endedByClient() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// connected runs a test beside a monitor with a watched connection to a server. The checks of the backend succeed until
// the server is down, and follow every minute. It returns the log.
func connected(t *testing.T, s *server, test func(r *rig, p *script)) (log string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &script{find: func(context.Context, int) check.Result {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.down {
				return check.Result{Outcome: check.Failure, Refused: true, Err: "refused", At: time.Now()}
			}
			return check.Result{Outcome: check.Success, At: time.Now()}
		}}
		r := newRig(t, p)
		w := r.list()[0]
		w.backend.WatchConnection, w.dial, w.backend.Check.Interval = true, s.dial, time.Minute
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = r.Run(ctx, r.changed)
		}()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		test(r, p)
		cancel()
		<-ended
		synctest.Wait()
		log = r.log.String()
	})
	return log
}

// unhealthyAt returns the time of the first report of unhealthy, zero without one.
func (r *rig) unhealthyAt() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, b := range r.changes {
		if claim(check.StateUnhealthy) == b.Claim {
			return r.at[i]
		}
	}
	return time.Time{}
}

// The end of a server is reported after 150 ms, although checks follow every minute.
func TestConnection_ItsEndStartsTheCheckSequence(t *testing.T) {
	s := &server{greeting: 100}
	connected(t, s, func(r *rig, _ *script) {
		killed := time.Now()
		s.kill()
		time.Sleep(time.Second)
		if at := r.unhealthyAt(); at.IsZero() || at.Sub(killed) != settleTime+2*refusedInterval {
			t.Errorf("unhealthy after %s", at.Sub(killed))
		}
	})
}

// The server has an idle timeout: after two timeouts, the agent replaces its connection earlier, without a check.
// Within a day, the agent never reports the backend as unhealthy. Then the server ends, and the agent reports this as
// without a timeout.
func TestConnection_LearnsIdleTimeouts(t *testing.T) {
	for name, idle := range map[string]func(n int) time.Duration{
		"60 s":    func(int) time.Duration { return time.Minute },
		"5 s":     func(int) time.Duration { return 5 * time.Second },
		"1 h":     func(int) time.Duration { return time.Hour },
		"60-80 s": func(n int) time.Duration { return time.Minute + time.Duration(n*7%3)*10*time.Second },
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{idle: idle}
			connected(t, s, func(r *rig, p *script) {
				time.Sleep(24 * time.Hour)
				if at := r.unhealthyAt(); !at.IsZero() {
					t.Errorf("unhealthy at %s", at)
				}
				const regular = 24*60 + 1
				if extra := p.count() - regular; extra < 0 || extra > 3 {
					t.Errorf("%d checks, %d more than without a watch", p.count(), extra)
				}
				if n := s.connections() - 2; s.endedByClient() < n-1 {
					t.Errorf("the agent ended %d of %d connections", s.endedByClient(), n)
				}
				killed := time.Now()
				s.kill()
				time.Sleep(2 * time.Second)
				if at := r.unhealthyAt(); at.IsZero() || at.Sub(killed) > time.Second {
					t.Errorf("unhealthy %s after the end of the server", at.Sub(killed))
				}
			})
		})
	}
}

// The watch of a server that closes idle connections, or sends data, rests for ten minutes.
func TestConnection_RestsWhereItIsOfNoUse(t *testing.T) {
	for name, s := range map[string]*server{
		"closes at once": {idle: func(int) time.Duration { return 10 * time.Millisecond }},
		"sends data":     {greeting: 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			log := connected(t, s, func(_ *rig, p *script) {
				time.Sleep(9 * time.Minute)
				if n := s.connections(); n > maxShort {
					t.Errorf("%d connections", n)
				}
				if n := p.count(); n > 10+maxShort {
					t.Errorf("%d checks in nine minutes", n)
				}
				time.Sleep(2 * time.Minute)
				if n := s.connections(); n < 2 {
					t.Errorf("%d connections after the rest", n)
				}
			})
			if !strings.Contains(log, "only checks detect a failure") {
				t.Error("the log does not report it")
			}
		})
	}
}

// A removed backend has no connection, and a returned server gets one again.
func TestConnection_FollowsTheBackend(t *testing.T) {
	s := &server{}
	connected(t, s, func(r *rig, _ *script) {
		s.kill()
		time.Sleep(time.Minute)
		s.mu.Lock()
		s.down = false
		s.mu.Unlock()
		time.Sleep(2 * time.Minute)
		if n := s.connections(); n != 2 {
			t.Errorf("%d connections", n)
		}
		if _, err := r.Replace([]Backend{backend(9000)}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if s.endedByClient() != 1 {
			t.Error("the connection of a removed backend stays")
		}
	})
}

func TestIdleTimeout_IsLearnedFromARepeatedAge(t *testing.T) {
	const sec = time.Second
	for name, tc := range map[string]struct {
		ages    []time.Duration
		learned time.Duration
		failure bool // of the last age
	}{
		"first":               {[]time.Duration{60 * sec}, 0, true},
		"repeated":            {[]time.Duration{60 * sec, 61 * sec}, 60 * sec, true},
		"at the timeout":      {[]time.Duration{60 * sec, 61 * sec, 60 * sec}, 60 * sec, false},
		"before the renewal":  {[]time.Duration{60 * sec, 61 * sec, 20 * sec}, 60 * sec, true},
		"different ages":      {[]time.Duration{60 * sec, 20 * sec, 100 * sec}, 0, true},
		"a shorter timeout":   {[]time.Duration{60 * sec, 60 * sec, 20 * sec, 21 * sec}, 20 * sec, true},
		"too short to be one": {[]time.Duration{sec, sec, sec}, 0, true},
	} {
		var timeout idleTimeout
		failure := false
		for _, age := range tc.ages {
			failure = timeout.noteEnd(age)
		}
		if timeout.learned != tc.learned || failure != tc.failure {
			t.Errorf("%s: learned %s, may be a failure %t", name, timeout.learned, failure)
		}
	}
}
