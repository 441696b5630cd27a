// Package logtest is for tests of what writes a log.
package logtest

import "sync"

// Buffer is a log in memory. Its zero value is empty; any number of goroutines may write to it and read it. A test in virtual time
// needs it too, since time alone orders nothing between the test and a goroutine that a timer wakes.
type Buffer struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer. It never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	return len(p), nil
}

// String is all that was written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}
