package harness // inside: it uses process and startProcess

import (
	"io"
	"runtime"
	"sync"
	"testing"
)

// The end of a thread, such as the thread of a goroutine in a network, does not end programs of other threads.
func TestProcess_OutlivesEveryThreadButItsOwn(t *testing.T) {
	const programs = 30
	over := make(chan struct{})
	var ending sync.WaitGroup
	for range 4 {
		ending.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					runtime.LockOSThread() // permanently
				}()
				<-ended
			}
		})
	}
	var started []*process
	for range programs {
		p, err := startProcess([]string{"sleep", "3600"}, nil, io.Discard, nil)
		if err != nil {
			t.Fatal(err)
		}
		started = append(started, p)
	}
	close(over)
	ending.Wait()
	killed := 0
	for _, p := range started {
		if !p.running() {
			killed++
			continue
		}
		if err := p.cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		<-p.done
	}
	if killed > 0 {
		t.Errorf("%d of %d programs were killed", killed, programs)
	}
}
