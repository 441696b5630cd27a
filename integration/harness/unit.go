package harness

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Unit is a program of a cluster. A test can end it in several ways and restart it with the same arguments.
type Unit struct {
	Name string
	Log  string   // file with the whole output
	Env  []string // of the program, in the form of exec.Cmd; a test may replace it between starts

	Inside func(func() error) error // calls the start of the program, in a network namespace for example; see StartTied

	agent bool // of gslb
	argv  []string
	story *Story
	ports []*Reservation // open until the first start, claimed until the end

	mu      sync.Mutex
	process *process
}

// Start starts the program. It returns when the process exists, and does not wait until the program serves.
func (u *Unit) Start() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.process != nil && u.process.running() {
		return fmt.Errorf("%s runs already", u.Name)
	}
	u.release()
	file, err := os.OpenFile(u.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("log of %s: %w", u.Name, err)
	}
	p, err := startProcess(u.argv, u.Env, io.MultiWriter(file, &output{story: u.story, source: u.Name}), u.Inside)
	if err != nil {
		_ = file.Close() // nothing was written
		return err
	}
	u.process = p
	u.story.Event("%s started, pid %d", u.Name, p.cmd.Process.Pid)
	go func() {
		<-p.done
		_ = file.Close() // it is a copy for people; the story has what matters
		u.story.Event("%s ended: %s", u.Name, p.cmd.ProcessState)
	}()
	return nil
}

// Use sets another program for the next start, with the same arguments, such as another version.
func (u *Unit) Use(program string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.argv = append([]string{program}, u.argv[1:]...)
}

// alive returns nil while the program runs. Once it has ended, the error has the last line that it printed.
func (u *Unit) alive() error {
	if u.Running() {
		return nil
	}
	words := ""
	for _, l := range u.Output() {
		words = l.Text
	}
	return fmt.Errorf("%s %w, its last words: %s", u.Name, errEnded, words)
}

// Running reports whether the program was started and has not ended.
func (u *Unit) Running() bool {
	p := u.current()
	return p != nil && p.running()
}

// PID returns the number of the program's process, 0 when none was started.
func (u *Unit) PID() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.process == nil {
		return 0
	}
	return u.process.cmd.Process.Pid
}

// Signal sends a signal to the program and does not wait for the effect. It does nothing if the program has ended.
func (u *Unit) Signal(sig syscall.Signal) error {
	p := u.current()
	if p == nil {
		return nil
	}
	u.story.Event("%s to %s", unix.SignalName(sig), u.Name)
	if err := p.signal(sig); err != nil {
		return fmt.Errorf("%s to %s: %w", unix.SignalName(sig), u.Name, err)
	}
	return nil
}

// Kill ends the program with SIGKILL, as a crash or a lost machine would, and waits for its end. It returns the time at
// which the signal was sent.
func (u *Unit) Kill() (time.Time, error) {
	at := time.Now()
	p := u.current()
	if p == nil {
		return at, nil
	}
	if err := u.Signal(syscall.SIGKILL); err != nil {
		return at, err
	}
	if !p.endWithin(killBound) {
		return at, fmt.Errorf("%s is still there %s after SIGKILL", u.Name, killBound)
	}
	return at, nil
}

// Stop sends SIGTERM to the program and waits. After StopBound it kills the program and returns an error.
func (u *Unit) Stop() error {
	p := u.current()
	if p == nil || !p.running() {
		return nil
	}
	if err := u.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if p.endWithin(StopBound) {
		return nil
	}
	if _, err := u.Kill(); err != nil {
		return err
	}
	return fmt.Errorf("%s did not end within %s of SIGTERM and was killed", u.Name, StopBound)
}

// Output returns the last lines of the program, over all its starts.
func (u *Unit) Output() []Line {
	return u.story.Tail(u.Name, keptLines)
}

// close ends the program if it runs, and releases its ports.
func (u *Unit) close() error {
	u.mu.Lock()
	u.release()
	u.mu.Unlock()
	err := u.Stop()
	for _, p := range u.ports {
		p.Close()
	}
	return err
}

// release closes the sockets that reserve the ports for a program that has not been started. The caller holds u.mu.
func (u *Unit) release() {
	for _, p := range u.ports {
		p.Release()
	}
}

func (u *Unit) current() *process {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.process
}

func (c *Cluster) newUnit(name string, argv []string, ports ...*Reservation) *Unit {
	u := &Unit{Name: name, Log: filepath.Join(c.Dir, name+".log"), argv: argv, Env: c.env, story: c.Story, ports: ports}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.units = append(c.units, u)
	return u
}
