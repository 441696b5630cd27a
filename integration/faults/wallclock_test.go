package faults_test

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

// wallClock is the wall clock of one running program. It can be set without an effect on other programs. Programs read
// the time with a function that the kernel maps into their memory (vdso(7)). The test replaces this function: it makes
// a system call and adds a number of seconds to the wall clock, and nothing to the monotonic clock, as after a change
// of the system clock.
type wallClock struct {
	memory *os.File // of the program
	offset int64    // where in it the seconds are that are added
}

// clockCode is the machine code that replaces clock_gettime(clock, *timespec), followed by the number of seconds.
var clockCode = []byte{
	0xb8, 0xe4, 0x00, 0x00, 0x00, // mov eax, 228: clock_gettime
	0x0f, 0x05, // syscall
	0x85, 0xff, // test edi, edi: CLOCK_REALTIME is 0
	0x75, 0x0a, // jne to the end
	0x48, 0x8b, 0x0d, 0x06, 0x00, 0x00, 0x00, // mov rcx, [rip+6]: the seconds
	0x48, 0x01, 0x0e, // add [rsi], rcx
	0xc3,       // ret
	0x90, 0x90, // the seconds are aligned
}

// ownClock gives a running program a separate wall clock until it ends. It skips the test on a machine that does not
// permit this.
func ownClock(t *testing.T, u *harness.Unit) *wallClock {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("the clock of a running program is set by code for amd64")
	}
	c, err := replaceClock(u.PID())
	if err != nil {
		t.Skipf("the clock of a running program cannot be set here: %v", err)
	}
	t.Cleanup(func() { _ = c.memory.Close() })
	return c
}

// replaceClock writes clockCode into free space of the kernel's pages, and a jump to it at the start of clock_gettime.
func replaceClock(pid int) (_ *wallClock, err error) {
	memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = memory.Close()
		}
	}()
	base, pages, err := kernelFunctions(pid, memory)
	if err != nil {
		return nil, err
	}
	image, err := elf.NewFile(bytes.NewReader(pages))
	if err != nil {
		return nil, err
	}
	symbols, err := image.DynamicSymbols()
	if err != nil {
		return nil, err
	}
	var entry int64
	for _, s := range symbols {
		if s.Name == "__vdso_clock_gettime" {
			entry = int64(s.Value)
		}
	}
	used := (int64(len(bytes.TrimRight(pages, "\x00"))) + 0xff) &^ 0xff
	if entry == 0 || used+int64(len(clockCode))+8 > int64(len(pages)) {
		return nil, fmt.Errorf("clock_gettime is at %d, and %d of %d bytes are used", entry, used, len(pages))
	}
	if _, err := memory.WriteAt(append(clockCode[:len(clockCode):len(clockCode)], make([]byte, 8)...),
		base+used); err != nil {
		return nil, err
	}
	jump := binary.LittleEndian.AppendUint32([]byte{0xe9}, uint32(used-entry-5))
	if err := stopped(pid, base+entry, func() error {
		_,
			err := memory.WriteAt(jump, base+entry)
		return err
	}); err != nil {
		return nil, err
	}
	return &wallClock{memory, base + used + int64(len(clockCode))}, nil
}

// kernelFunctions returns the pages with the kernel's functions in a program's memory.
func kernelFunctions(pid int, memory *os.File) (base int64, pages []byte, err error) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, nil, err
	}
	for line := range strings.Lines(string(maps)) {
		var end int64
		if _, err := fmt.Sscanf(line, "%x-%x", &base, &end); err == nil && strings.Contains(line, "[vdso]") {
			pages = make([]byte, end-base)
			_, err = memory.ReadAt(pages, base)
			return base, pages, err
		}
	}
	return 0, nil, fmt.Errorf("process %d has no functions of the kernel", pid)
}

// stopped calls a function while all threads of a program are stopped and none is within the first five bytes of
// clock_gettime.
func stopped(pid int, function int64, do func() error) error {
	for range 100 {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			return err
		}
		var err error
		safe := standing(pid, function)
		if safe {
			err = do()
		}
		if goOn := syscall.Kill(pid, syscall.SIGCONT); safe || goOn != nil {
			return err
		}
		runtime.Gosched()
	}
	return fmt.Errorf("the threads of process %d do not stand still", pid)
}

// standing waits until all threads have stopped outside the code to change, and reports whether they have.
func standing(pid int, function int64) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for range testbed.Every(ctx, time.Millisecond) {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
		if err != nil || len(threads) == 0 {
			return false
		}
		still := true
		for _, thread := range threads {
			stat, err := os.ReadFile(filepath.Join(thread, "stat"))
			_, state, _ := strings.Cut(string(stat), ") ")
			still = still && err == nil && strings.HasPrefix(state, "T")
		}
		if !still {
			continue
		}
		for _, thread := range threads {
			text, err := os.ReadFile(filepath.Join(thread, "syscall"))
			words := strings.Fields(string(text))
			if err != nil || len(words) < 2 {
				return false
			}
			at, err := strconv.ParseInt(strings.TrimPrefix(words[len(words)-1], "0x"), 16, 64)
			if err != nil || at > function && at < function+5 {
				return false
			}
		}
		return true
	}
	return false
}

// set sets the difference between the program's wall clock and the system clock.
func (c *wallClock) set(t *testing.T, ahead time.Duration) {
	t.Helper()
	if _, err := c.memory.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(int64(ahead/time.Second))),
		c.offset); err != nil {
		t.Fatal(err)
	}
}
