package control

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/settings"
)

// databaseCheck is the interval of checks of the geolocation database file, which is replaced weekly or daily.
const databaseCheck = 5 * time.Second

// geography compiles the location table from the configuration and the database file. It caches the last table, and
// compiles a new table only after a change of the configuration or the file. It is not safe for concurrent use.
type geography struct {
	log      zerolog.Logger
	loaded   prometheus.Gauge
	failures prometheus.Counter

	problem atomic.Pointer[string] // reason why the file is unusable; nil: no fault

	early    *DatabaseReading // early reading; nil if missing or already used
	tried    attempt
	database *geo.Database // the last valid database, or nil

	from  geo.Sources // sources of table
	table *geo.Table
}

// attempt identifies a version of the database file, or its absence.
type attempt struct {
	path string
	info os.FileInfo // nil: the file was missing
}

func newGeography(registerer prometheus.Registerer, log zerolog.Logger) (*geography, error) {
	g := &geography{
		log: log,
		loaded: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "gslb_geo_database_loaded", Help: "1 while a geolocation database is in use.",
		}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "gslb_geo_reload_failures_total",
			Help: "Geolocation database files that could not be used; the previous database stays in use.",
		}),
	}
	return g, errors.Join(registerer.Register(g.loaded), registerer.Register(g.failures))
}

// places returns the table for a configuration and the current database file. It logs an unusable file once, and keeps
// the previous database.
func (g *geography) places(cfg *config.Config) (*geo.Table, error) {
	g.read(cfg.Overwatch.Geolocation.DatabasePath)
	from := placeSources(cfg)
	from.Database = g.database
	if g.table != nil && reflect.DeepEqual(withoutDatabase(from), withoutDatabase(g.from)) &&
		from.Database == g.from.Database {
		return g.table, nil
	}
	table, err := geo.New(from)
	if err != nil {
		return nil, err
	}
	g.from, g.table = from, table
	return table, nil
}

// preview returns the table for a configuration with the current database. It does not cache the table.
func (g *geography) preview(cfg *config.Config) (*geo.Table, error) {
	from := placeSources(cfg)
	if g.table != nil && reflect.DeepEqual(withoutDatabase(from), withoutDatabase(g.from)) {
		return g.table, nil
	}
	from.Database = g.database
	return geo.New(from)
}

// read reads the database file after a change of the file.
func (g *geography) read(path string) {
	if path == "" {
		g.tried, g.database = attempt{}, nil
		g.problem.Store(nil)
		g.loaded.Set(0)
		return
	}
	info, err := os.Stat(path)
	now := attempt{path: path}
	if err == nil {
		now.info = info
	}
	if now.same(g.tried) {
		return
	}
	g.tried = now
	database, err := g.readFile(now)
	if err != nil {
		g.failures.Inc()
		g.logUnusable(err)
		return
	}
	g.database = database
	g.problem.Store(nil)
	g.loaded.Set(1)
	g.log.Info().Str("path", path).Msg("geolocation database read")
}

// readFile reads the database file, or returns the early reading if it is of the same file.
func (g *geography) readFile(now attempt) (*geo.Database, error) {
	if early := g.early; early != nil {
		g.early = nil
		early.Wait()
		database := early.database
		early.database = nil // the root has a reference to the reading
		if early.same(now) {
			return database, early.err
		}
	}
	return geo.ReadDatabase(now.path)
}

// DatabaseReading reads a geolocation database in the background, while the node opens the store.
type DatabaseReading struct {
	attempt
	done     chan struct{}
	database *geo.Database
	err      error
}

// StartReadingDatabase starts the reading of the database file at path. It returns nil for an empty path.
func StartReadingDatabase(path string) *DatabaseReading {
	if path == "" {
		return nil
	}
	r := &DatabaseReading{attempt: attempt{path: path}, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		if info, err := os.Stat(path); err == nil {
			r.info = info
		}
		r.database, r.err = geo.ReadDatabase(path)
	}()
	return r
}

// Wait returns at the end of the reading. It accepts a nil r.
func (r *DatabaseReading) Wait() {
	if r != nil {
		<-r.done
	}
}

// logUnusable logs why the database file is unusable.
func (g *geography) logUnusable(err error) {
	remains := "until then only overwatch.geolocation.custom_mappings and default_region locate clients"
	if g.database != nil {
		remains = "the previous database stays in use"
	}
	message := "overwatch.geolocation.database_path: the file cannot be used: " + remains
	if errors.Is(err, fs.ErrNotExist) {
		message = "overwatch.geolocation.database_path: there is no such file: " + remains
	}
	g.log.Warn().Err(err).Msg(message)
	problem := err.Error() + ": " + remains
	g.problem.Store(&problem)
}

// DatabaseProblem returns the path of the geolocation database and the reason why the file is unusable. The reason is
// empty if the file is in use, or if no database is configured.
func (s *State) DatabaseProblem() (path, reason string) {
	if problem := s.geography.problem.Load(); problem != nil {
		return s.Config().Overwatch.Geolocation.DatabasePath, *problem
	}
	return "", ""
}

func (a attempt) same(other attempt) bool {
	if a.path != other.path || (a.info == nil) != (other.info == nil) {
		return false
	}
	return a.info == nil || os.SameFile(a.info, other.info) && a.info.Size() == other.info.Size() &&
		a.info.ModTime().Equal(other.info.ModTime())
}

// placeSources returns the parts of a configuration that define client locations.
func placeSources(cfg *config.Config) geo.Sources {
	s := geo.Sources{DefaultRegion: cfg.Overwatch.Geolocation.DefaultRegion}
	disabled := map[string]bool{}
	for i := range cfg.Regions {
		r := &cfg.Regions[i]
		if !r.Enabled { // its number stays, because the other numbers must not change
			disabled[r.Name] = true
			s.Regions = append(s.Regions, geo.Region{Name: r.Name})
			continue
		}
		region := geo.Region{Name: r.Name, Countries: r.Countries, Continents: r.Continents}
		if r.Latitude != nil && r.Longitude != nil {
			region.Position = &geo.Position{Latitude: *r.Latitude, Longitude: *r.Longitude}
		}
		s.Regions = append(s.Regions, region)
	}
	var last *config.Domain
	for d := range cfg.AllDomains {
		alike := last != nil && d.RoutingAlgorithm == last.RoutingAlgorithm &&
			d.FallbackAlgorithm == last.FallbackAlgorithm
		if last = d; alike {
			continue // the common case
		}
		s.WithLocations = s.WithLocations || config.Uses(d, func(a *policy.Algorithm) bool { return a.NeedsPosition })
	}
	for _, m := range cfg.Overwatch.Geolocation.CustomMappings {
		if !disabled[m.Region] {
			s.Mappings = append(s.Mappings, geo.Mapping{CIDR: m.CIDR, Region: m.Region, Comment: m.Comment})
		}
	}
	if disabled[s.DefaultRegion] {
		s.DefaultRegion = ""
	}
	return s
}

func withoutDatabase(s geo.Sources) geo.Sources {
	s.Database = nil
	return s
}

// checkPlaces returns the problems of the settings that define client locations.
func checkPlaces(cfg *config.Config) settings.Problems {
	if _, err := geo.New(placeSources(cfg)); err != nil {
		return settings.Problems{{Key: "overwatch.geolocation", Message: err.Error()}}
	}
	return nil
}

// WatchDatabase calls CheckDatabase every few seconds until ctx ends. It logs errors and returns nil.
func (p *Plane) WatchDatabase(ctx context.Context) error {
	ticker := time.NewTicker(databaseCheck)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if err := p.CheckDatabase(ctx); err != nil && ctx.Err() == nil {
			p.log.Error().Err(err).Msg("using the new geolocation database: the previous database stays in use")
		}
	}
}

// CheckDatabase applies the geolocation database after a change of its file, even if a failed change has already read
// the file. After an error the previous database stays in use.
func (p *Plane) CheckDatabase(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	addresses, err := publish.NodeAddresses(p.o.Listening())
	if err != nil {
		return err
	}
	wanted, err := p.Settings(p.Config(), addresses)
	if err != nil || wanted.Places == p.o.Publisher.View().RegionTable() {
		return err
	}
	return p.o.Publisher.Reconfigure(ctx, wanted, nil)
}
