package agent

import (
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/agent/internal/config"
	"gslb.internal/agent/internal/monitor"
	"gslb.internal/shared/logging"
	"gslb.internal/shared/resolve"
)

const (
	// readInterval is the interval of checks for changes of the files of agent.backends_from.
	readInterval = 500 * time.Millisecond
	// maxFiles is the maximum number of files of agent.backends_from: four for each backend.
	maxFiles = 256
)

// discovery reads the files of agent.backends_from, and resolves the addresses of targets. It belongs to a single
// goroutine.
type discovery struct {
	config       *config.Config
	files        map[string]*source
	targets      map[string]*source // by service, name and port
	book         *resolve.Book
	leaving      map[monitor.Backend]time.Time // removed backends, with the end of their drain
	full         bool                          // the configuration names more than maxFiles files
	removedLines map[string]logging.Lines      // limits the log lines about removed files, by path
	logger       zerolog.Logger
	count        *prometheus.GaugeVec
}

func newDiscovery(r config.Resolver, logger zerolog.Logger) *discovery {
	return &discovery{
		targets: map[string]*source{}, book: newBook(r),
		files: map[string]*source{}, leaving: map[monitor.Backend]time.Time{}, logger: logger,
		removedLines: map[string]logging.Lines{},
		count: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "gslb_agent_discovery_files",
			Help: "Files of agent.backends_from by state: read, or refused, with the previous backends in use.",
		}, []string{"state"}),
	}
}

// setConfig applies another configuration and reads each file. An invalid file retains the backends of its last valid
// content.
func (d *discovery) setConfig(c *config.Config) {
	d.config = c
	d.followTargets()
	for _, s := range d.sources() { // agent.backends may contain the same backends
		s.next, s.backends, s.pending, s.readInfo = s.backends, nil, true, nil
	}
	d.activatePending()
	d.readChanged(true)
}

// readChanged reads the changed files, and reports whether the backends have changed. A changed file may be incomplete,
// so it is read when two consecutive calls find the same file. A file is removed when two consecutive calls do not find
// it. With atOnce, a single call is sufficient for a missing or new file.
func (d *discovery) readChanged(atOnce bool) bool {
	named := map[string]*config.BackendsFrom{}
	for i := range d.config.Agent.BackendsFrom {
		from := &d.config.Agent.BackendsFrom[i]
		for _, path := range from.Files() {
			if named[path] == nil {
				named[path] = from
			}
		}
	}
	before := d.discovered()
	for path, s := range d.files {
		if named[path] == nil && !existenceUnknown(path) {
			if s.lastInfo == nil || atOnce {
				d.logGone(path, len(s.backends))
				delete(d.files, path)
			}
			s.lastInfo = nil
		}
	}
	for _, path := range slices.Sorted(maps.Keys(named)) {
		s := d.files[path]
		if s == nil && len(d.files) == maxFiles {
			continue // later files may be known
		}
		if s == nil {
			s = &source{logger: d.logger.With().Str("file", path).Logger()}
			d.files[path] = s
		}
		s.from = named[path]
		s.readIfChanged(path, d.config, atOnce)
	}
	d.findTargets()
	d.activatePending()
	d.recordFaults(len(named))
	return d.startDrains(before)
}

// logGone logs the removal of a file with this number of backends.
func (d *discovery) logGone(path string, backends int) {
	if len(d.removedLines) >= maxFiles {
		clear(d.removedLines)
	}
	lines := d.removedLines[path]
	if ok, last := lines.Take(time.Now()); ok {
		d.logger.Info().Str("file", path).Int("backends", backends).Msg("a file with backends was removed" +
			frequencyNote(last))
	}
	d.removedLines[path] = lines
}

// frequencyNote returns the end of a log line about a file: a note on the last line that logging.Lines allows for some
// time, otherwise "".
func frequencyNote(last bool) string {
	if last {
		return "; it changes often, further changes are not logged for ten minutes"
	}
	return ""
}

// activatePending activates the pending backends of files and targets, each source as a whole. A source with a backend
// of another source stays pending with a fault. activatePending repeats the search after each success, so that a
// backend can move between files in any order.
func (d *discovery) activatePending() {
	for hasProgress := true; hasProgress; {
		hasProgress = false
		for _, s := range d.sources() {
			if !s.pending {
				continue
			}
			previous := s.backends
			s.backends = s.next
			err := monitor.Check(append(monitored(d.config.Agent.Backends), d.discovered()...))
			if err != nil {
				s.backends, s.fault = previous, err.Error()
			} else {
				s.pending, s.fault, hasProgress = false, "", true
			}
		}
	}
}

// sources returns the files, then the targets, each sorted by their key.
func (d *discovery) sources() (all []*source) {
	for _, of := range []map[string]*source{d.files, d.targets} {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			all = append(all, of[name])
		}
	}
	return all
}

// discovered returns the active backends of files and targets.
func (d *discovery) discovered() (all []monitor.Backend) {
	for _, s := range d.sources() {
		all = append(all, s.backends...)
	}
	return all
}

// recordFaults sets the metric of files and logs changes of the faults of files and targets. named is the number of
// files in the configuration; it logs once if this exceeds maxFiles.
func (d *discovery) recordFaults(named int) {
	wrong := 0
	for _, s := range d.files {
		if s.fault != "" {
			wrong++
		}
		s.logFault("a file with backends is invalid, its previous backends are used", "the file with backends is valid")
	}
	for _, s := range d.targets {
		s.logFault("resolving the target of a backend failed, its previous addresses are used",
			"the target of a backend is resolved")
	}
	d.count.WithLabelValues("read").Set(float64(len(d.files) - wrong))
	d.count.WithLabelValues("refused").Set(float64(wrong))
	if full := named > maxFiles; full != d.full {
		d.full = full
		if full {
			d.logger.Warn().Int("files", named).Int("read", maxFiles).Msg(
				"agent.backends_from names more than the maximum number of files; put several backends into a file")
		}
	}
}
