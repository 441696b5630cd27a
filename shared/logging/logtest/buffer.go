// Package logtest provides an in-memory log for tests. No program links it.
package logtest

import "sync"

// Buffer is a log in memory. Its zero value is empty; any number of goroutines may use it. Tests in virtual time also
// need a Buffer, because virtual time does not order a test and a goroutine that a timer wakes.
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

// String returns all written text.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}
