//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/miekg/dns"
)

const (
	startBound = 90 * time.Second // some servers need a while for 100 000 names
	stopBound  = 5 * time.Second
	poll       = 20 * time.Millisecond
)

// setup is the input for the start of a server.
type setup struct {
	dir   string // new and separate
	bin   string // directory of the gslb programs
	port  int
	names int
	ask   asking
}

// server is a compared DNS server.
type server struct {
	name    string
	program string
	signed  bool
	asking  asking
	most    int // maximum number of measured names, if more would take minutes to prepare; 0: unlimited
	// prepare writes the server's files and returns the command that starts it in the foreground.
	prepare     func(setup) (argv []string, err error)
	environment []string // added to the environment of this process
}

// running is a started server.
type running struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

// subject is a started server with a number of names.
type subject struct {
	server server
	names  int
	port   int
	run    *running
	ready  time.Duration // from the start to the first answer
}

// begin starts a server in a new directory, on a free port. It returns the errors of start.
func begin(ctx context.Context, o options, of server, names int, dir string) (s *subject, err error) {
	s = &subject{server: of, names: names}
	if err = os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if s.port, err = freePort(); err != nil {
		return nil, err
	}
	began := time.Now()
	if s.run, err = start(ctx, of, setup{dir, o.bin, s.port, names, of.asking}); err != nil {
		return nil, err
	}
	s.ready = time.Since(began)
	return s, nil
}

// start starts the server on the first core and waits until it answers. An error that begins with "skipped" means that
// the server cannot be measured on this machine.
func start(ctx context.Context, s server, at setup) (*running, error) {
	if at.names > s.most && s.most > 0 {
		return nil, fmt.Errorf("skipped: measured with %d names at most", s.most)
	}
	if _, err := exec.LookPath(s.program); err != nil && s.program != "" {
		return nil, fmt.Errorf("skipped: %s is not installed", s.program)
	}
	argv, err := s.prepare(at)
	if err != nil {
		return nil, fmt.Errorf("skipped: %w", err)
	}
	out, err := os.Create(filepath.Join(at.dir, "output"))
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command("taskset", append([]string{"-c", "0"}, argv...)...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = append(os.Environ(), s.environment...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r := &running{cmd: cmd, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(r.ended)
	}()
	if err := r.answers(ctx, s, at); err != nil {
		r.stop()
		return nil, fmt.Errorf("skipped: %w", err)
	}
	return r, nil
}

// answers waits until the first name has an address and, if the server signs, a signature.
func (r *running) answers(ctx context.Context, s server, at setup) error {
	query := new(dns.Msg).SetQuestion(at.ask.name(0)+".", dns.TypeA)
	query.SetEdns0(1232, s.signed)
	client := &dns.Client{Timeout: 200 * time.Millisecond}
	problem := errors.New("no answer")
	for deadline := time.Now().Add(startBound); time.Now().Before(deadline); {
		reply, _, err := client.ExchangeContext(ctx, query, "127.0.0.1:"+strconv.Itoa(at.port))
		if err == nil {
			want := 1
			if s.signed {
				want = 2
			}
			if reply.Rcode == dns.RcodeSuccess && len(reply.Answer) >= want {
				return nil
			}
			problem = fmt.Errorf("answered %s with %d records", dns.RcodeToString[reply.Rcode], len(reply.Answer))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-r.ended:
			return fmt.Errorf("it ended: %s", lastLine(filepath.Join(at.dir, "output")))
		case <-time.After(poll):
		}
	}
	return problem
}

// stop ends the server and all other processes of its session.
func (r *running) stop() {
	group := r.cmd.Process.Pid
	_ = syscall.Kill(-group, syscall.SIGTERM)
	select {
	case <-r.ended:
	case <-time.After(stopBound):
	}
	for _, pid := range session(group) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	<-r.ended
}

// lastLine returns the last line of a file, at most 200 octets of it.
func lastLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	line := lines[len(lines)-1]
	return line[:min(len(line), 200)]
}
