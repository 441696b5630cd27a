package harness

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// StopBound is the time from SIGTERM to SIGKILL. Only a hanging program needs so long.
const StopBound = time.Minute

// killBound is the time limit for the kernel to end a process after SIGKILL.
const killBound = 15 * time.Second

// pipeBound is the time limit for reading output after the end of a program if a child of the program has the pipe
// open. The machine may pause for seconds between the end of the program and its last line.
const pipeBound = 10 * time.Second

// process is a running program.
type process struct {
	cmd  *exec.Cmd
	done <-chan struct{} // closed when the program has ended and its output is read
}

// startProcess starts a program, through inside if inside is not nil (see StartTied). The output is written to out.
func startProcess(argv, env []string, out io.Writer, inside func(func() error) error) (*process, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = env
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = pipeBound
	done, err := StartTied(cmd, inside)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", argv[0], err)
	}
	return &process{cmd: cmd, done: done}, nil
}

// StartTied starts a program that does not outlive this process, on Linux not even its SIGKILL. The program has a
// separate process group, so that a terminal's Ctrl-C does not reach it.
//
// inside calls its argument, for example on a thread in another network namespace. The thread stays in the namespace
// until the program ends. If inside is nil, StartTied calls the function directly. ended is closed when the program has
// ended and has been waited for; cmd.ProcessState then has the exit status.
func StartTied(cmd *exec.Cmd, inside func(func() error) error) (ended <-chan struct{}, err error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	tie(cmd.SysProcAttr)
	if inside == nil {
		inside = onOneThread
	}
	over, started := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(over)
		err := inside(func() error {
			err := cmd.Start()
			started <- err
			if err == nil {
				_ = cmd.Wait() // ProcessState has the result
			}
			return nil
		})
		if err != nil {
			started <- err
		}
	}()
	return over, <-started
}

// onOneThread calls f on a thread without other goroutines. A tied program ends with the thread that started it.
// Another goroutine on the thread could end the thread, for example a goroutine that enters a network namespace.
func onOneThread(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return f()
}

func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// signal sends a signal to the program, unless the program has ended.
func (p *process) signal(sig syscall.Signal) error {
	err := p.cmd.Process.Signal(sig)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// endWithin reports whether the program ends within a time.
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
