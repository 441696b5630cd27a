package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

const (
	// flushPatience is the maximum time that a message waits for the disk. After it, the node sends the message without
	// storing it.
	flushPatience = 5 * time.Second
	// version is the version of the file format.
	version = 1
)

// content is the format of the file: the state of each target, or the state's JSON text, by name.
type content[T any] struct {
	Version int          `json:"version"`
	Targets map[string]T `json:"targets"`
}

// read returns the stored state of each target.
func read(path string) (targets map[string]kept, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]kept{}, nil
	}
	var c content[kept]
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err == nil && c.Version != version {
		err = fmt.Errorf("its version is %d, this program reads %d", c.Version, version)
	}
	if err != nil || c.Targets == nil {
		return map[string]kept{}, err
	}
	return c.Targets, nil
}

// writer schedules the writing of the file.
type writer struct {
	wake chan struct{} // contains a token while data is unwritten

	mu   sync.Mutex
	done chan struct{} // closed after the current marks were written, or the write failed
}

func newWriter() writer { return writer{wake: make(chan struct{}, 1), done: make(chan struct{})} }

// mark schedules a write of the file. The returned channel is closed after the write.
func (w *writer) mark() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return w.done
}

// flush waits until previous changes are in the file, at most flushPatience.
func (w *writer) flush(ctx context.Context) {
	select {
	case <-w.mark():
	case <-time.After(flushPatience):
	case <-ctx.Done():
	}
}

// write writes the file after each call of mark, and when ctx ends.
func (n *Notifier) write(ctx context.Context) {
	failing := false
	for more := true; more; {
		select {
		case <-n.writer.wake:
		case <-ctx.Done():
			more = false
		}
		n.writer.mu.Lock()
		done := n.writer.done
		n.writer.done = make(chan struct{})
		n.writer.mu.Unlock()
		err := n.writeFile()
		close(done)
		if err != nil && !failing {
			n.o.Logger.Error().Err(err).Msg("what waits to be notified cannot be stored: it is lost if the node ends before")
		}
		failing = err != nil
	}
}

// writeFile replaces the file. Without targets it deletes it.
func (n *Notifier) writeFile() error {
	_, targets := n.current()
	if len(targets) == 0 {
		if err := os.Remove(n.o.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	c := content[json.RawMessage]{version, make(map[string]json.RawMessage, len(targets))}
	for _, t := range targets {
		t.mu.Lock()
		text, err := json.Marshal(t.kept)
		t.mu.Unlock()
		if err != nil {
			return err
		}
		c.Targets[t.c.Name] = text
	}
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return replace(n.o.Path, text)
}

// replace replaces a file atomically.
func replace(path string, text []byte) error {
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
