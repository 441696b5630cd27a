package harness

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// StopBound is how long a program may take to end after SIGTERM; then it is killed.
const StopBound = 15 * time.Second

// killBound is how long the kernel may take to end a process after SIGKILL.
const killBound = 15 * time.Second

// pipeBound is how long output is still read after a program has ended, should a child of its own hold the pipe.
const pipeBound = time.Second

// process is one running program, in a process group of its own so that a terminal's Ctrl-C reaches the harness only.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the program has ended and its output is read
}

func startProcess(argv, env []string, out io.Writer) (*process, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = env
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = OwnGroup()
	cmd.WaitDelay = pipeBound
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", argv[0], err)
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is in ProcessState
		close(p.done)
	}()
	return p, nil
}

func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// signal does nothing to a program that has ended.
func (p *process) signal(sig syscall.Signal) error {
	err := p.cmd.Process.Signal(sig)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// endWithin waits for the end and says whether it came in time.
func (p *process) endWithin(d time.Duration) bool {
	bound := time.NewTimer(d)
	defer bound.Stop()
	select {
	case <-p.done:
		return true
	case <-bound.C:
		return false
	}
}
