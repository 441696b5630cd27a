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
	// lookEvery is the time between two looks at the files of agent.backends_from.
	lookEvery = 500 * time.Millisecond
	// maxFiles bounds the files of agent.backends_from: four for each backend.
	maxFiles = 256
)

// discovery reads the files of agent.backends_from, and finds the addresses of targets. One goroutine owns it.
type discovery struct {
	config  *config.Config
	files   map[string]*source
	targets map[string]*source // by service, name and port
	book    *resolve.Book
	leaving map[monitor.Backend]time.Time // backends that are in no file any more, with the end of their drain
	full    bool                          // there are more files than maxFiles
	gone    map[string]logging.Lines      // bounds the log lines about files that go, by path
	logger  zerolog.Logger
	count   *prometheus.GaugeVec
}

func newDiscovery(r config.Resolver, logger zerolog.Logger) *discovery {
	return &discovery{
		targets: map[string]*source{}, book: newBook(r),
		files: map[string]*source{}, leaving: map[monitor.Backend]time.Time{}, logger: logger,
		gone: map[string]logging.Lines{},
		count: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "gslb_agent_discovery_files",
			Help: "Files of agent.backends_from by state: read, or refused, for which the content of before counts.",
		}, []string{"state"}),
	}
}

// configure puts another configuration into force and reads every file anew. A file that is wrong now keeps the
// backends of its last right content.
func (d *discovery) configure(c *config.Config) {
	d.config = c
	d.followTargets()
	for _, s := range d.sources() { // agent.backends may now have the same ones
		s.next, s.backends, s.pending, s.read = s.backends, nil, true, nil
	}
	d.settle()
	d.look(true)
}

// look reads the files that have changed, and reports whether the backends have changed. A changed file is read when
// two looks in a row find it the same, because it may be half written before, and is gone when two looks in a row do
// not find it. With atOnce the first look is enough to forget a file, and to read one that is new.
func (d *discovery) look(atOnce bool) bool {
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
			if s.seen == nil || atOnce {
				d.logGone(path, len(s.backends))
				delete(d.files, path)
			}
			s.seen = nil
		}
	}
	for _, path := range slices.Sorted(maps.Keys(named)) {
		s := d.files[path]
		if s == nil && len(d.files) == maxFiles {
			continue // those behind it may be known
		}
		if s == nil {
			s = &source{logger: d.logger.With().Str("file", path).Logger()}
			d.files[path] = s
		}
		s.from = named[path]
		s.open(path, d.config, atOnce)
	}
	d.findTargets()
	d.settle()
	d.recordFaults(len(named))
	return d.depart(before)
}

// logGone logs that a file with this number of backends is gone.
func (d *discovery) logGone(path string, backends int) {
	if len(d.gone) >= maxFiles {
		clear(d.gone)
	}
	lines := d.gone[path]
	if ok, last := lines.Take(time.Now()); ok {
		d.logger.Info().Str("file", path).Int("backends", backends).Msg("a file with backends is gone" + often(last))
	}
	d.gone[path] = lines
}

// often returns the end of a log line about a file: "", or, on the last line that logging.Lines allows in a span, a
// notice that no more is logged of the file until the span is over.
func often(last bool) string {
	if last {
		return "; it changes often: no more is told of it for ten minutes"
	}
	return ""
}

// settle puts the pending backends of files and targets into force, each source as a whole. A source whose backends do
// not go with all others, such as a backend that is in two files, stays pending with a fault. settle tries again while
// it makes progress, so a backend may move between files in either order.
func (d *discovery) settle() {
	for again := true; again; {
		again = false
		for _, s := range d.sources() {
			if !s.pending {
				continue
			}
			kept := s.backends
			s.backends = s.next
			err := monitor.Check(append(monitored(d.config.Agent.Backends), d.discovered()...))
			if err != nil {
				s.backends, s.fault = kept, err.Error()
			} else {
				s.pending, s.fault, again = false, "", true
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

// discovered returns the backends of files and targets that are in force.
func (d *discovery) discovered() (all []monitor.Backend) {
	for _, s := range d.sources() {
		all = append(all, s.backends...)
	}
	return all
}

// recordFaults sets the metric of files and logs changes of the faults of files and targets. named is the number of
// files that the configuration names; it logs once if that is too many.
func (d *discovery) recordFaults(named int) {
	wrong := 0
	for _, s := range d.files {
		if s.fault != "" {
			wrong++
		}
		s.logFault("a file with backends is refused: what it said before counts", "the file with backends is right again")
	}
	for _, s := range d.targets {
		s.logFault("the target of a backend is not as it should be: its addresses of before count",
			"the target of a backend is right again")
	}
	d.count.WithLabelValues("read").Set(float64(len(d.files) - wrong))
	d.count.WithLabelValues("refused").Set(float64(wrong))
	if full := named > maxFiles; full != d.full {
		d.full = full
		if full {
			d.logger.Warn().Int("files", named).Int("read", maxFiles).Msg(
				"agent.backends_from names more files than are read: put several backends into one")
		}
	}
}
