package agent

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"gslb.internal/agent/internal/config"
	"gslb.internal/agent/internal/monitor"
	"gslb.internal/shared/logging"
)

// source is one file of agent.backends_from, or one target, with what it says.
type source struct {
	from     *config.BackendsFrom // of a file
	target   *config.Backend      // of a target
	seen     fs.FileInfo          // at the last look; nil: it was not there
	read     fs.FileInfo          // when it was read; nil: not by this configuration
	next     []monitor.Backend    // what it says now, while that has not taken the place of backends
	pending  bool                 // next counts
	backends []monitor.Backend    // what it said when it was right
	fault    string               // why next does not count, or cannot be read
	told     string               // the fault that was logged
	lines    logging.Lines
}

// hidden reports whether a file may be there and cannot be seen, as below a directory that others have closed.
func hidden(path string) bool {
	_, err := os.Stat(path)
	return err != nil && !errors.Is(err, fs.ErrNotExist)
}

// open reads the file if it has changed: at once, or when it looks as it did before. One that changes is not read at
// once, since it may be half written, and what it said counts on.
func (s *source) open(path string, c *config.Config, atOnce bool) {
	before := s.seen
	info, err := os.Stat(path)
	if err != nil {
		s.read, s.fault = nil, err.Error()
		return
	}
	s.seen = info
	if same(info, s.read) || !same(info, before) && (before != nil || !atOnce) {
		return
	}
	s.read, s.fault, s.pending = info, "", false
	list, err := c.ReadBackends(path, s.from)
	if err != nil {
		first, more, _ := strings.Cut(err.Error(), "\n")
		if s.fault = first; more != "" {
			s.fault += "; gslb-agent --validate tells what else is wrong"
		}
		return
	}
	s.next, s.pending = monitored(list), true
}

// same reports whether nothing speaks for another content: a file is written in place or replaced, itself or by a link
// on the way to it.
func same(a, b fs.FileInfo) bool {
	return b != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
