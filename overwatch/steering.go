package overwatch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/settings"
)

// steerTimeout bounds the changes that are put into force together.
const steerTimeout = time.Minute

// errNotSteered is what became of changes that were to go into force with one that brought its call down.
var errNotSteered = errors.New("the change was not made, since another one made at the same time failed inside; try it again")

// steering joins the configuration file with what the API has defined. What comes of it is the configuration in force. Changes
// that come while one is being put into force go together into the next, so that a hundred of them cost little more than one.
type steering struct {
	running *config.Config // what only a restart changes, as it was at the start

	mu    sync.Mutex // held during a reload and while changes are put into force
	file  *config.Config
	names definitions.Names // of the file's domains
	set   *definitions.Set  // also what the file hides
	unfit bool              // what is in force is without some of the set

	shown atomic.Pointer[shown]

	queueMu sync.Mutex
	queue   []*edit
}

// shown is what readers see of the API's definitions. It is never changed.
type shown struct {
	file *config.Config // with the API's settings over it
	set  *definitions.Set
}

// edit is one caller's change.
type edit struct {
	make func(*definitions.Draft) error
	note store.Entry
	done bool
	err  error
}

// openDefinitions joins what the API has defined with the configuration.
func (n *node) openDefinitions(_ context.Context, file *config.Config) error {
	stored, err := n.store.LoadDefinitions()
	if err != nil {
		return fmt.Errorf("loading what the API has defined: %w", err)
	}
	set, err := definitions.New(stored)
	if err != nil {
		return err
	}
	n.steering.set = set
	joined, over, unfit := n.join(file, nil)
	n.steering.follow(file, unfit)
	n.steering.running = joined
	_ = n.logging.Set(joined.Logging) // which has been checked
	n.show(over, set)
	n.inForce.Store(&inForce{joined, n.started})
	return nil
}

// follow takes another file; unfit says that it is served without some of what the API has defined.
func (s *steering) follow(file *config.Config, unfit bool) {
	s.file, s.names, s.unfit = file, definitions.NamesIn(file), unfit
}

// join returns the configuration of a file with what the API has defined, and the file with the API's settings over it. What of
// the API the file cannot be served with is left out and logged, and unfit tells: it must not keep the rest from being served.
func (n *node) join(file *config.Config, addresses []netip.Addr) (joined, over *config.Config, unfit bool) {
	over, set := n.lay(file, n.steering.set)
	serves := func(s *definitions.Set) bool {
		c := s.Join(over)
		return len(publish.Check(dnsSettings(c, addresses)))+len(checkPlaces(c)) == 0
	}
	if !set.Empty() && !serves(set) { // the file alone was checked when it was read
		set, unfit = n.fitting(set, serves), true
	}
	return set.Join(over), over, unfit
}

// lay lays the API's settings over a file, but for those that the file does not go with.
func (n *node) lay(file *config.Config, set *definitions.Set) (*config.Config, *definitions.Set) {
	over, draft := file, set.Edit(file, file, nil)
	for _, section := range definitions.Sections() {
		laid, err := set.Only(section).Over(over)
		if err == nil {
			if problems := definitions.Check(section, laid); len(problems) > 0 {
				err = problems
			}
		}
		if err == nil {
			over = laid
			continue
		}
		draft.PutSetting(section, nil)
		n.log.Error().Err(err).Str("section", section).Msg("settings of the API do not go with the configuration and have no effect: change them or delete them through the API")
	}
	return over, draft.Set()
}

// fitting is a set without the domains that cannot be served.
func (n *node) fitting(set *definitions.Set, serves func(*definitions.Set) bool) *definitions.Set {
	base := *set
	base.Domains = nil
	if !serves(&base) {
		n.log.Error().Msg("the regions and mappings of the API do not go with the configuration and have no effect")
		base = definitions.Set{Settings: set.Settings}
	}
	base.Domains = map[string]*store.Domain{}
	var add func(names []string)
	add = func(names []string) {
		for _, name := range names {
			base.Domains[name] = set.Domains[name]
		}
		if serves(&base) {
			return
		}
		for _, name := range names {
			delete(base.Domains, name)
		}
		if len(names) == 1 {
			n.log.Error().Str("domain", names[0]).Msg("a domain that the API created does not go with the configuration and is not served")
			return
		}
		add(names[:len(names)/2])
		add(names[len(names)/2:])
	}
	add(slices.Sorted(maps.Keys(set.Domains)))
	return &base
}

// show lets readers see a set, without what the file hides.
func (n *node) show(over *config.Config, set *definitions.Set) {
	n.steering.shown.Store(&shown{over, set.Unhidden(over, n.steering.names)})
}

// Defined implements httpapi.Definitions.
func (n *node) Defined() (*definitions.Set, *config.Config) {
	s := n.steering.shown.Load()
	return s.set, s.file
}

// Define implements httpapi.Definitions.
func (n *node) Define(note store.Entry, change func(*definitions.Draft) error) error {
	e := &edit{make: change, note: note}
	s := &n.steering
	s.queueMu.Lock()
	s.queue = append(s.queue, e)
	s.queueMu.Unlock()

	s.mu.Lock()
	defer s.mu.Unlock()
	if !e.done {
		s.queueMu.Lock()
		batch := s.queue
		s.queue = nil
		s.queueMu.Unlock()
		n.steer(batch)
	}
	return e.err
}

// steer puts changes into force: all at once, or, if they cannot be served together, one after the other.
func (n *node) steer(batch []*edit) {
	ctx, cancel := context.WithTimeout(n.core.ctx, steerTimeout)
	defer cancel()
	defer func() { // also where a panic passes through: nobody may take it for done
		for _, e := range batch {
			if !e.done {
				e.done, e.err = true, errNotSteered
			}
		}
	}()
	err := n.steerTogether(ctx, batch)
	if _, unservable := errors.AsType[settings.Problems](err); unservable && len(batch) > 1 {
		for _, e := range batch {
			err := n.steerTogether(ctx, []*edit{e})
			e.done = true
			if e.err == nil {
				e.err = err
			}
		}
		return
	}
	for _, e := range batch {
		e.done = true
		if e.err == nil {
			e.err = err
		}
	}
}

// steerTogether makes the changes that can be made, checks what comes of them, stores it, and has it answered. An error leaves
// everything as it was.
func (n *node) steerTogether(ctx context.Context, batch []*edit) error {
	s := &n.steering
	draft := s.set.Edit(s.shown.Load().file, s.file, s.names)
	var notes []store.Entry
	for _, e := range batch {
		if e.err = e.make(draft); e.err == nil {
			notes = append(notes, e.note)
		}
	}
	next := draft.Set()
	changes, kinds := s.set.Changes(next)
	if changes.Empty() {
		return nil
	}
	changes.PutSerial(serialBound(n.publisher.Serial()))
	if (kinds == definitions.Kinds{Domains: true}) && !s.unfit {
		if err := n.steerDomains(ctx, next, changes, notes); !errors.Is(err, publish.ErrWhole) {
			return err
		}
	}
	addresses, err := publish.NodeAddresses(n.dns.Addrs())
	if err != nil {
		return err
	}
	over, err := next.Over(s.file)
	if err != nil {
		return err
	}
	joined := next.Join(over)
	settings.KeepRunning(s.running, joined)
	dns := kinds.Domains || kinds.Regions || !reflect.DeepEqual(over.DNS, s.shown.Load().file.DNS)
	var wanted publish.Settings
	if dns || kinds.Mappings {
		if dns {
			if problems := publish.Check(dnsSettings(joined, addresses)); len(problems) > 0 {
				return withoutKeys(problems)
			}
		}
		if wanted, err = n.settings(joined, addresses); err != nil {
			return err
		}
	}
	if err := n.store.Write(changes, notes...); err != nil {
		return err
	}
	switch {
	case dns:
		if _, err = n.declareAhead(ctx, joined); err == nil {
			err = n.publisher.Reconfigure(ctx, wanted)
		}
	case kinds.Mappings:
		err = n.publisher.Place(ctx, wanted.Places)
	}
	if err != nil {
		back, _ := next.Changes(s.set)
		return errors.Join(err, n.store.Write(back), n.declare(ctx, n.inForce.Load().config)) // the caller notes the failure in the audit log
	}
	s.set = next
	n.show(over, next)
	_ = n.logging.Set(joined.Logging) // which has been checked
	before := n.inForce.Swap(&inForce{joined, n.inForce.Load().since})
	if before.config.Overwatch.Validation != joined.Overwatch.Validation {
		if err := n.retime(ctx, joined); err != nil {
			return err
		}
	}
	if kinds.Domains {
		return n.declare(ctx, joined)
	}
	return nil
}

// steerDomains is steerTogether for changes of domains alone, and costs what they change. Where that is not possible the error is
// publish.ErrWhole.
func (n *node) steerDomains(ctx context.Context, next *definitions.Set, changes *store.Batch, notes []store.Entry) error {
	s := &n.steering
	over := s.shown.Load().file
	joined, put, deleted := next.Rejoin(s.set, n.inForce.Load().config, over, s.names)
	change, err := n.publisher.Prepare(ctx, joined.Domains, put, deleted)
	if err != nil {
		if problems, unservable := errors.AsType[settings.Problems](err); unservable {
			err = withoutKeys(problems)
		}
		return err
	}
	if err := n.store.Write(changes, notes...); err != nil {
		return err
	}
	for i := range put {
		deleted = append(deleted, put[i].Name)
	}
	shares := slices.ContainsFunc(deleted, func(name string) bool { return sharesServers(joined, s.set.Domains[name], next.Domains[name]) })
	if shares {
		_, err = n.declareAhead(ctx, joined)
	}
	if err == nil {
		err = change.Apply(ctx)
	}
	if err != nil {
		back, _ := next.Changes(s.set)
		return errors.Join(err, n.store.Write(back), n.declare(ctx, n.inForce.Load().config))
	}
	s.set = next
	n.show(over, next)
	n.inForce.Store(&inForce{joined, n.inForce.Load().since})
	if shares {
		return n.declare(ctx, joined)
	}
	return nil
}

// sharesServers tells whether the domains, each of which may be nil, have servers that are those of all domains of a region.
func sharesServers(cfg *config.Config, domains ...*store.Domain) bool {
	for i := range cfg.Regions {
		r := &cfg.Regions[i]
		if slices.ContainsFunc(domains, func(d *store.Domain) bool { return d != nil && slices.Contains(d.Regions, r.Name) }) &&
			slices.ContainsFunc(r.Servers, func(s config.Server) bool { return s.Service == "" }) {
			return true
		}
	}
	return false
}

// withoutKeys takes the places in a file out of problems that are not in a file.
func withoutKeys(problems settings.Problems) settings.Problems {
	bare := slices.Clone(problems)
	for i := range bare {
		bare[i].File, bare[i].Line, bare[i].Key = "", 0, ""
	}
	return bare
}

// Reload implements httpapi.Reloader: it puts what the file has now into force.
func (n *node) Reload(ctx context.Context) (changes, restart []string, err error) {
	n.steering.mu.Lock()
	defer n.steering.mu.Unlock()
	before := n.steering.shown.Load().file
	files, restart, err := n.reload(ctx)
	if err != nil {
		n.reloads.WithLabelValues(reloadFailed).Inc()
		n.log.Error().Err(err).Msg("the configuration was not reloaded; the one before stays in force")
		return nil, nil, err
	}
	n.reloads.WithLabelValues(reloadDone).Inc()
	changes = append(settings.Changed(before, n.steering.shown.Load().file, settings.Live), files...) // of a closed set
	event := n.log.Info().Strs("changed", changes)
	if len(restart) > 0 {
		event = event.Strs("restart_required", restart)
	}
	event.Msg("configuration reloaded")
	return changes, restart, nil
}

// inForceNow is the configuration in force and since when, as the API asks for it.
func (n *node) inForceNow() (*config.Config, time.Time) {
	current := n.inForce.Load()
	return current.config, current.since
}

// restartFor implements httpapi.Options.Restart: the keys whose value in force is not the one that the next start will have.
func (n *node) restartFor() []string {
	return settings.Changed(n.steering.running, n.steering.shown.Load().file, settings.Restart)
}
