package control

import (
	"context"
	"strings"
	"sync"
	"time"
)

const (
	// fileCheck is the interval of checks of a configuration file that failed to load. For a file that loads slowly, the
	// interval is longer, so that checks take at most a twentieth of the time.
	fileCheck = 5 * time.Second
	// maxFault is the maximum length of the reason of a fault in bytes.
	maxFault = 400
)

// fileFault stores the reason why the configuration file is not in use.
type fileFault struct {
	mu       sync.Mutex
	reason   string // empty: the last reload succeeded, or the file is valid now
	unloaded bool   // the file failed to load: the fault ends when the file loads
}

// set records the result of a reload: an error from loading or from applying the file.
func (f *fileFault) set(load, reload error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reason, f.unloaded = "", load != nil
	for _, err := range []error{load, reload} {
		if err != nil && f.reason == "" {
			f.reason = oneLine(err.Error())
		}
	}
}

// loaded ends the fault of a file that failed to load.
func (f *fileFault) loaded() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unloaded {
		f.reason, f.unloaded = "", false
	}
}

// waits reports whether the file could not be loaded.
func (f *fileFault) waits() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.unloaded
}

// oneLine returns a text without line breaks, truncated to maxFault bytes.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxFault {
		text = strings.ToValidUTF8(text[:maxFault], "") + "..."
	}
	return text
}

// ConfigFault returns the path of the configuration file, and the reason why the last reload failed. The reason is
// empty after a successful reload, and as soon as a file that failed to load is valid.
func (p *Plane) ConfigFault() (path, reason string) {
	p.fault.mu.Lock()
	defer p.fault.mu.Unlock()
	return p.o.ConfigPath, p.fault.reason
}

// WatchFile checks the configuration file periodically after a failed load. It returns nil when ctx ends.
func (p *Plane) WatchFile(ctx context.Context) error {
	interval := fileCheck
	for {
		timer := time.NewTimer(interval)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
		if interval = fileCheck; !p.fault.waits() {
			continue
		}
		interval = max(fileCheck, 20*p.checkFile())
	}
}

// checkFile ends the fault of a configuration file that loads. It returns the duration of the check.
func (p *Plane) checkFile() time.Duration {
	p.reloading.Lock() // a reload sets the fault of the same file
	defer p.reloading.Unlock()
	began := time.Now()
	if _, err := Load(p.o.ConfigPath); err == nil {
		p.fault.loaded()
	}
	return time.Since(began)
}
