package cli_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// demoBound is the time limit of the transcript, from start to exit.
const demoBound = 60 * time.Second

// demoRun is the demo in a separate process, as `make run` starts it.
type demoRun struct {
	cmd  *exec.Cmd
	temp string // its TMPDIR
	mark string // in the environment of all its processes
	out  output
	done chan struct{}
}

// output collects the output of a program. Its String is the visible part.
type output interface {
	io.Writer
	fmt.Stringer
}

// screen collects the output of a program for concurrent inspection by a test.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// runDemo starts the demo. prepare may first change its streams and attributes.
func runDemo(t *testing.T, prepare func(*exec.Cmd)) *demoRun {
	t.Helper()
	b := testbed.Binaries(t)
	d := &demoRun{temp: t.TempDir(), mark: "demo-" + rand.Text(), out: &screen{}, done: make(chan struct{})}
	program := filepath.Join(t.TempDir(), "demo")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program,
		"gslb.internal/integration/cmd/demo").CombinedOutput(); err != nil {
		t.Fatalf("building the demo: %v\n%s", err, out)
	}
	// One directory contains all programs, regardless of their origin.
	bin := t.TempDir()
	for _, path := range []string{b.Overwatch, b.Agent, b.Control, b.Launcher, b.Backend} {
		if err := os.Symlink(path, filepath.Join(bin, filepath.Base(path))); err != nil {
			t.Fatal(err)
		}
	}
	d.cmd = exec.Command(program, "-bin", bin)
	d.cmd.Env = append(os.Environ(), "TMPDIR="+d.temp, testbed.RunMark+"="+d.mark, "TERM=xterm")
	d.cmd.Stdout, d.cmd.Stderr = d.out, d.out
	prepare(d.cmd)
	testbed.Start(t, d.cmd)
	go func() {
		defer close(d.done)
		_ = d.cmd.Wait() // how it ended is in ProcessState
	}()
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill() // it has ended, unless the test failed
		<-d.done
		if t.Failed() {
			t.Logf("the demo printed:\n%s", d.out)
		}
	})
	return d
}

// shows waits until the demo has printed a text.
func (d *demoRun) shows(t *testing.T, bound time.Duration, text string) {
	t.Helper()
	testbed.Until(t, bound, fmt.Sprintf("the demo to show %q", text), func(context.Context) error {
		if !strings.Contains(d.out.String(), text) {
			return errors.New("not there")
		}
		return nil
	})
}

// ends waits for the exit, and checks the exit code and that no process or file is left.
func (d *demoRun) ends(t *testing.T, bound time.Duration, code int) {
	t.Helper()
	select {
	case <-d.done:
	case <-time.After(bound + testbed.Patience):
		t.Fatalf("the demo did not end within %s", bound+testbed.Patience)
	}
	if got := d.cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("the demo ended with %d, want %d", got, code)
	}
	if left := testbed.Leftovers(d.temp, d.mark); len(left) > 0 {
		t.Errorf("the demo left behind:\n%s", strings.Join(left, "\n"))
	}
}

func TestDemo_TranscriptKeepsItsPromisesAndLeavesNothingBehind(t *testing.T) {
	d := runDemo(t, func(*exec.Cmd) {})
	d.shows(t, demoBound, "asking both nodes")
	tryHints(t, d.out.String())
	bothNodes(t, d.out.String())
	d.ends(t, demoBound, testbed.ExitOK)
	for _, text := range []string{
		"dig @127.0.0.1 -p ", "curl http://127.0.0.1:", " --api http://127.0.0.1:",
		"kill -9 eu-1", "last answer: ow-eu ", "eu-1 serves again", "first answer: ow-eu ",
		"all promises hold", "all processes ended, all files removed",
	} {
		if !strings.Contains(d.out.String(), text) {
			t.Errorf("the transcript does not have %q", text)
		}
	}
	t.Logf("the transcript:\n%s", d.out)
}

// The command lines that the demo prints for the operator.
var (
	digHint     = regexp.MustCompile(`try: dig @(\S+) -p (\d+) (?:\+tcp )?(\S+)`)
	curlHint    = regexp.MustCompile(`try: curl (http://\S+)`)
	apiOf       = regexp.MustCompile(`is ready: .* API (\S+),`)
	controlHint = regexp.MustCompile(`try: (.*gslbctl'? .*)`)
)

// tryHints executes the command lines.
func tryHints(t *testing.T, transcript string) {
	t.Helper()
	digs, curls, controls := digHint.FindAllStringSubmatch(transcript, -1), curlHint.FindAllStringSubmatch(transcript, -1),
		controlHint.FindAllStringSubmatch(transcript, -1)
	if len(digs) < 2 || len(curls) < 1 || len(controls) < 2 {
		t.Errorf("the demo offers %d dig lines, %d curl lines and %d gslbctl lines", len(digs), len(curls), len(controls))
	}
	for _, m := range digs {
		r, _, err := (&dns.Client{Timeout: testbed.Patience}).ExchangeContext(t.Context(),
			new(dns.Msg).SetQuestion(m[3]+".", dns.TypeA), net.JoinHostPort(m[1], m[2]))
		if err != nil || len(r.Answer) != 1 {
			t.Errorf("%s: %v, %v", m[0], err, r)
		}
	}
	for _, m := range curls {
		resp, err := http.Get(m[1])
		if err != nil {
			t.Errorf("%s: %v", m[0], err)
			continue
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", m[0], resp.Status)
		}
	}
	for _, m := range controls {
		testbed.Command(t, "sh", "-c", m[1]).Want(t, testbed.ExitOK, "eu")
	}
}

// bothNodes checks that the nodes list each other, and replicate a drain.
func bothNodes(t *testing.T, transcript string) {
	t.Helper()
	addresses := apiOf.FindAllStringSubmatch(transcript, -1)
	if len(addresses) != 2 {
		t.Fatalf("the demo has %d nodes", len(addresses))
	}
	var nodes []*api.Client
	for _, m := range addresses {
		client, err := api.NewClient(api.ClientOptions{Node: "http://" + m[1], Timeout: testbed.Patience})
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, client)
	}
	for _, n := range nodes {
		list, err := n.OverwatchNodes(t.Context())
		if err != nil || list.Total != 2 {
			t.Errorf("%s lists %+v, %v", n.Node(), list.Nodes, err)
		}
	}
	backends, err := nodes[0].Backends(t.Context(), api.BackendFilter{})
	if err != nil {
		t.Fatal(err)
	}
	first := backends.Backends[0]
	weight := api.WeightRequest{Weight: &first.Weight, Reason: "a test of replication"}
	if _, err := nodes[0].SetWeight(t.Context(), first.Service, first.Address, first.Port, weight); err != nil {
		t.Fatal(err)
	}
	testbed.Until(t, demoBound, "the weight on the other node", func(ctx context.Context) error {
		orders, err := nodes[1].Orders(ctx)
		if err == nil && orders.Total != 1 {
			err = fmt.Errorf("it has %d", orders.Total)
		}
		return err
	})
}

// Ctrl-C ends all processes at any time, even if it is pressed twice.
func TestDemo_InterruptLeavesNothingBehind(t *testing.T) {
	for _, moment := range []string{"looking for the programs", "processes started", "kill -9 eu-1"} {
		t.Run(moment, func(t *testing.T) {
			d := runDemo(t, func(*exec.Cmd) {})
			d.shows(t, demoBound, moment)
			for range 2 {
				if err := d.cmd.Process.Signal(syscall.SIGINT); err != nil && !errors.Is(err, os.ErrProcessDone) {
					t.Fatal(err)
				}
			}
			d.ends(t, 2*harness.StopBound+10*time.Second, testbed.ExitFailure)
		})
	}
}
