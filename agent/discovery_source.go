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

// source is a file of agent.backends_from, or a target, with its backends. The goroutine of discovery uses it.
type source struct {
	from        *config.BackendsFrom // of a file
	target      *config.Backend      // of a target
	lastInfo    fs.FileInfo          // file at the last call; nil if it was missing
	readInfo    fs.FileInfo          // file at the last reading; nil if it must be read
	next        []monitor.Backend    // pending backends
	pending     bool                 // next waits for activatePending
	backends    []monitor.Backend    // active
	fault       string               // the error of the last content, or ""
	loggedFault string               // the last logged fault
	logger      zerolog.Logger
	lines       logging.Lines // limits the log lines about faults
}

// logFault logs a change of the fault: wrong for a new fault, right after its end.
func (s *source) logFault(wrong, right string) {
	if s.fault == s.loggedFault {
		return
	}
	ok, last := s.lines.Take(time.Now())
	if !ok {
		return
	}
	s.loggedFault = s.fault
	event, message := s.logger.Info(), right
	if s.fault != "" {
		event, message = s.logger.Warn().Str("error", s.fault), wrong
	}
	event.Int("backends", len(s.backends)).Msg(message + frequencyNote(last))
}

// existenceUnknown reports whether this process cannot determine if a file exists, for example without permission for
// its directory.
func existenceUnknown(path string) bool {
	_, err := os.Stat(path)
	return err != nil && !errors.Is(err, fs.ErrNotExist)
}

// readIfChanged reads the file if it has changed and the last call found the same file. With atOnce, it also reads a
// new file. A file that changes between two calls may be incomplete.
func (s *source) readIfChanged(path string, c *config.Config, atOnce bool) {
	before := s.lastInfo
	info, err := os.Stat(path)
	if err != nil {
		s.readInfo, s.fault = nil, err.Error()
		return
	}
	s.lastInfo = info
	if isSameFile(info, s.readInfo) || !isSameFile(info, before) && (before != nil || !atOnce) {
		return
	}
	s.readInfo, s.fault, s.pending = info, "", false
	list, err := c.ReadBackends(path, s.from)
	if err != nil {
		first, more, _ := strings.Cut(err.Error(), "\n")
		if s.fault = first; more != "" {
			s.fault += "; gslb-agent --validate lists all errors"
		}
		return
	}
	s.next, s.pending = monitored(list), true
}

// isSameFile reports whether a and b are the same file with the same size and modification time. It is false if b is
// nil.
func isSameFile(a, b fs.FileInfo) bool {
	return b != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
