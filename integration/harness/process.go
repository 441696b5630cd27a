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

// pipeBound is how long output is still read after a program has ended, should a child of its own hold the pipe. A machine may stand still for
// seconds between that end and the last line.
const pipeBound = 10 * time.Second

// process is one running program, in a process group of its own so that a terminal's Ctrl-C reaches the harness only.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the program has ended and its output is read
}

// startProcess starts a program, inside what inside leads to if that is not nil: a network of its own, say.
func startProcess(argv, env []string, out io.Writer, inside func(func() error) error) (*process, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = env
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = OwnGroup()
	cmd.WaitDelay = pipeBound
	if inside == nil {
		inside = func(f func() error) error { return f() }
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		defer close(p.done)
		err := inside(func() error {
			err := cmd.Start()
			started <- err
			if err == nil {
				_ = cmd.Wait() // in the thread that started it, whose end it would not survive; how it ended is in ProcessState
			}
			return nil
		})
		if err != nil {
			started <- err
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", argv[0], err)
	}
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
