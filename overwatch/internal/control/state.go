package control

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/logging"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

// State holds the current configuration and its sources: the file and the definitions of the API. Readers never wait;
// only the Plane changes a State.
type State struct {
	log       zerolog.Logger
	store     *store.Store
	logging   *logging.Control
	running   *config.Config // configuration of the start; its restart keys stay active
	geography *geography     // under mu

	mu    sync.Mutex // locked while a reload or a change is applied
	file  *config.Config
	names definitions.Names // names of the file's objects
	set   *definitions.Set  // the definitions of the API, with definitions that the file hides
	left  leftOut           // objects of set that do not fit the file

	// recordsChanged has a token after the records of the API may have changed.
	recordsChanged chan struct{}

	shown         atomic.Pointer[shown]
	current       atomic.Pointer[current]
	creationTimes atomic.Pointer[creationTimes]
	// agentChecks are the rules of the current configuration.
	agentChecks atomic.Pointer[agentChecks]
}

// shown has the definitions of the API for readers. It is immutable.
type shown struct {
	base *config.Config // the file with the API's settings over it
	set  *definitions.Set
	left leftOut
}

// current is a configuration and the time at which it was applied.
type current struct {
	config  *config.Config
	regions config.RegionNames // of the configuration and of the API, including disabled regions
	since   time.Time
}

func newCurrent(joined *config.Config, set *definitions.Set, since time.Time) *current {
	return &current{config: joined, regions: set.RegionNames(joined), since: since}
}

// StateOptions configures a State.
type StateOptions struct {
	File       *config.Config // checked
	Started    time.Time
	Store      *store.Store
	Logging    *logging.Control
	Database   *DatabaseReading // nil: the geolocation database is read when it is needed
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
}

// OpenState loads the API's definitions and joins them with the configuration file.
func OpenState(o StateOptions) (*State, error) {
	set, err := definitions.Load(o.Store)
	if err != nil {
		return nil, fmt.Errorf("loading the definitions of the API: %w", err)
	}
	s := &State{log: o.Logger, store: o.Store, logging: o.Logging, set: set, recordsChanged: make(chan struct{}, 1)}
	if err := s.dropExpired(); err != nil {
		return nil, fmt.Errorf("removing expired records: %w", err)
	}
	set = s.set
	if s.geography, err = newGeography(o.Registerer, o.Logger); err != nil {
		return nil, err
	}
	s.geography.early = o.Database
	times, err := o.Store.LoadCreationTimes()
	if err != nil {
		return nil, fmt.Errorf("loading when domains came into the configuration: %w", err)
	}
	known := decodeCreationTimes(times)
	s.creationTimes.Store(&known)
	joined, base, left := s.join(o.File, set, nil)
	s.setFile(o.File, left)
	s.running = joined
	_ = s.logging.Set(joined.Logging) // validated before
	s.publish(base, set)
	s.current.Store(newCurrent(joined, set, o.Started))
	s.agentChecks.Store(newAgentChecks(joined))
	return s, nil
}

// Config returns the current configuration, which is immutable.
func (s *State) Config() *config.Config { return s.current.Load().config }

// InForce returns the current configuration, and the time at which it was applied.
func (s *State) InForce() (*config.Config, time.Time) {
	c := s.current.Load()
	return c.config, c.since
}

// Domains returns the load-balanced names.
func (s *State) Domains() []string {
	cfg := s.Config()
	names := make([]string, 0, cfg.CountDomains())
	for d := range cfg.AllDomains {
		names = append(names, d.Name)
	}
	return names
}

// Zones returns the names of the zones, without the final dot.
func (s *State) Zones() []string {
	zones := s.Config().DNS.Zones
	names := make([]string, 0, len(zones))
	for i := range zones {
		names = append(names, zones[i].Name)
	}
	return names
}

// DrainTime returns the default duration of a drain: the TTL of the domain.
func (s *State) DrainTime(service string) time.Duration {
	cfg := s.Config()
	own := 0
	for d := range cfg.AllDomains {
		if d.Name == service {
			own = d.TTL
		}
	}
	return time.Duration(cfg.DNS.TTL(own)) * time.Second
}

// RegionName returns the id of the region with a name in any case, or the name if there is no such region.
func (s *State) RegionName(text string) string { return s.current.Load().regions.Of(text) }

// Regions returns the names of the active regions.
func (s *State) Regions() []string {
	var names []string
	for _, r := range s.Config().Regions {
		names = append(names, r.Name)
	}
	return names
}

// Defined returns the definitions of the API without definitions that the file hides, and the file with the overlays
// and settings of the API.
func (s *State) Defined() (*definitions.Set, *config.Config) {
	shown := s.shown.Load()
	return shown.set, shown.base
}

// RestartRequired returns the keys with a value that the next start will change.
func (s *State) RestartRequired() []string {
	return settings.Changed(s.running, s.shown.Load().base, settings.Restart)
}

// setFile sets the file, and the objects of the set that do not fit it.
func (s *State) setFile(file *config.Config, left leftOut) {
	s.file, s.names, s.left = file, definitions.NamesIn(file), left
	s.noteCreationTimes(s.names[store.KindDomain])
}

// publish publishes a set, without the objects that the file hides, to readers.
func (s *State) publish(base *config.Config, set *definitions.Set) {
	s.shown.Store(&shown{base, set.Unhidden(base, s.names), s.left})
	s.signalRecords()
}

// join returns a file joined with the definitions of the API, and the file with the overlays and settings of the API.
// join logs and omits an object that cannot be served with the file.
func (s *State) join(file *config.Config, set *definitions.Set, addresses []netip.Addr) (joined, base *config.Config,
	left leftOut) {
	base, fits := s.applySettings(file, set)
	names := definitions.NamesIn(file)
	serves := func(set *definitions.Set) bool {
		over, err := set.Over(file)
		if err != nil {
			return false
		}
		c := set.Join(over, names).WithRecords(nil) // the publisher omits records that cannot be served
		return len(publish.Check(DNSSettings(c, addresses)))+len(checkPlaces(c)) == 0
	}
	if !fits.Empty() && !serves(fits) { // the file was validated when it was read
		fits = s.fitting(fits, serves)
		if over, err := fits.Over(file); err == nil {
			base = over
		}
	}
	return fits.Join(base, names), base, missingIn(set, fits)
}

// applySettings applies the overlays and settings of the API to a file. It logs and omits settings that do not fit the
// file. The returned set has only the applied settings.
func (s *State) applySettings(file *config.Config, set *definitions.Set) (*config.Config, *definitions.Set) {
	base, draft := file, set.Edit(file, file, nil)
	for _, section := range definitions.Sections() {
		laid, err := set.Only(section).Over(base)
		if err == nil {
			if problems := definitions.Check(section, laid); len(problems) > 0 {
				err = problems
			}
		}
		if err == nil {
			base = laid
			continue
		}
		draft.PutSetting(section, nil)
		s.log.Error().Err(err).Str("section", section).Msg("settings of the API do not go with the configuration " +
			"and have no effect: change them or delete them through the API")
	}
	for key, value := range set.Settings {
		if err := definitions.CheckOverlay(key, value); err != nil {
			draft.PutSetting(key, nil)
			s.logUnusedOverlay(key, err)
		}
	}
	if over, err := draft.Set().Over(file); err == nil { // all settings of the draft are valid
		base = over
	}
	return base, draft.Set()
}

// logUnusedOverlay logs that an overlay has no effect.
func (s *State) logUnusedOverlay(key string, err error) {
	s.log.Error().Err(err).Str("object", key).Msg("an overlay does not fit the configuration and has no effect: " +
		"change it, or delete it with gslbctl domains, regions or servers reset")
}

// fitting returns the servable subset of a set. It logs and omits invalid overlays and domains individually, and
// invalid regions and mappings together.
func (s *State) fitting(set *definitions.Set, serves func(*definitions.Set) bool) *definitions.Set {
	fits := *set
	if settings := (&definitions.Set{Settings: set.Settings}); !serves(settings) {
		fits.Settings = s.fittingOverlays(set.Settings, serves)
	}
	fits.Domains = nil
	if !serves(&fits) {
		s.log.Error().Msg("the regions and mappings of the API do not go with the configuration and have no effect")
		fits = definitions.Set{Settings: fits.Settings, Records: set.Records, Nodes: set.Nodes, Tokens: set.Tokens}
	}
	fits.Domains = map[string]*model.Domain{}
	addServable(set.Domains, fits.Domains, slices.Sorted(maps.Keys(set.Domains)), func() bool { return serves(&fits) },
		func(name string) {
			s.log.Error().Str("domain", name).
				Msg("a domain that the API created does not go with the configuration and is not served")
		})
	return &fits
}

// fittingOverlays returns settings without the overlays that cannot be served.
func (s *State) fittingOverlays(all map[string]json.RawMessage,
	serves func(*definitions.Set) bool) map[string]json.RawMessage {
	fits := definitions.Set{Settings: make(map[string]json.RawMessage, len(all))}
	var overlays []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if _, _, is := definitions.SplitOverlay(key); is {
			overlays = append(overlays, key)
			continue
		}
		fits.Settings[key] = all[key]
	}
	addServable(all, fits.Settings, overlays, func() bool { return serves(&fits) },
		func(key string) { s.logUnusedOverlay(key, nil) })
	return fits.Settings
}

// addServable copies the named entries of all to some while serves returns true, and calls refuse for each other name.
// It uses bisection, because usually few entries are invalid.
func addServable[V any](all, some map[string]V, names []string, serves func() bool, refuse func(name string)) {
	for _, name := range names {
		some[name] = all[name]
	}
	if serves() {
		return
	}
	for _, name := range names {
		delete(some, name)
	}
	if len(names) == 1 {
		refuse(names[0])
	}
	if len(names) > 1 {
		addServable(all, some, names[:len(names)/2], serves, refuse)
		addServable(all, some, names[len(names)/2:], serves, refuse)
	}
}

// Settings returns the DNS settings of a configuration, with the current location table. addresses are the addresses at
// which the node answers DNS. The caller holds mu, or is the only user of the State.
func (s *State) Settings(cfg *config.Config, addresses []netip.Addr) (publish.Settings, error) {
	places, err := s.geography.places(cfg)
	if err != nil {
		return publish.Settings{}, err
	}
	wanted := DNSSettings(cfg, addresses)
	wanted.Places = places
	return wanted, nil
}
