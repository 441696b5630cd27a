package check // inside: it looks at dial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// holdVariable in the environment of a process selects the stopped process of the test.
const holdVariable = "GSLB_TEST_HOLD"

// A process that is stopped for most of a check cannot tell whether the backend answered. The check is Unknown,
// regardless of the time at which the test continues the process.
func TestProbe_StoppedProcessDoesNotBlameTheBackend(t *testing.T) {
	if at := os.Getenv(holdVariable); at != "" {
		probeStopped(t, at)
		return
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	child.Env = append(os.Environ(), holdVariable+"="+silent.Addr().String())
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
		_, err = syscall.Wait4(child.Process.Pid, &status, syscall.WUNTRACED, nil)
	}
	if err != nil || !status.Stopped() {
		t.Fatalf("the process has not stopped: %v, %v", status, err)
	}
	time.Sleep(DefaultTimeout * 5 / 4) // real: the time of another process: it cannot be virtual
	if err := child.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(string(said), "ended unknown true ") {
		t.Errorf("%s", said)
	}
}

// probeStopped makes a check that stops this process at its beginning.
func probeStopped(t *testing.T, at string) {
	spec := valid()
	spec.Type, spec.Path, spec.Detail = TCP, "", Detail{Expect: "x"}.Details()
	p, err := NewProber(spec, netip.MustParseAddrPort(at), "test")
	if err != nil {
		t.Fatal(err)
	}
	dial := p.dial
	p.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
			t.Error(err)
		}
		return conn, err
	}
	r := p.Probe(t.Context())
	fmt.Printf("\nended %s %v %s\n", r.Outcome, r.HeldUp, r.Err)
}
