package agent

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/agent/internal/config"
	"gslb.internal/agent/internal/monitor"
	"gslb.internal/shared/logging"
)

// source is one file of agent.backends_from, or one target, with its backends. The goroutine of discovery owns it.
type source struct {
	from     *config.BackendsFrom // of a file
	target   *config.Backend      // of a target
	seen     fs.FileInfo          // of the file at the last look; nil: it was not there
	read     fs.FileInfo          // of the file when it was read; nil: not read since the configuration changed
	next     []monitor.Backend    // newer backends, valid while pending
	pending  bool                 // next waits for settle
	backends []monitor.Backend    // in force
	fault    string               // the reason why the newest content is not in force; "" if it is
	told     string               // the fault that was logged last
	logger   zerolog.Logger
	lines    logging.Lines // bounds the log lines about fault
}

// logFault logs a change of the fault: wrong for a new one, right if there is none any more.
func (s *source) logFault(wrong, right string) {
	if s.fault == s.told {
		return
	}
	ok, last := s.lines.Take(time.Now())
	if !ok {
		return
	}
	s.told = s.fault
	event, message := s.logger.Info(), right
	if s.fault != "" {
		event, message = s.logger.Warn().Str("error", s.fault), wrong
	}
	event.Int("backends", len(s.backends)).Msg(message + often(last))
}

// existenceUnknown reports whether this process cannot find out if a file exists, such as without permission for its
// directory.
func existenceUnknown(path string) bool {
	_, err := os.Stat(path)
	return err != nil && !errors.Is(err, fs.ErrNotExist)
}

// open reads the file if it differs from the one that was read, and the last look found it the same; with atOnce, also
// if there was no look before. A file that changes between two looks may be half written and is left for the next look.
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

// same reports whether a and b are the same file with the same size and time of change. It is false if b is nil.
func same(a, b fs.FileInfo) bool {
	return b != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
