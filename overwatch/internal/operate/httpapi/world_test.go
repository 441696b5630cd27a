package httpapi // inside: it looks at changes and over

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unique"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/answer/failback"
	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/answer/publish"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/control"
	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/drain"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/health/gossip"
	"gslb.internal/overwatch/internal/health/inventory"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/operate/history"
	"gslb.internal/overwatch/internal/operate/nodes"
	"gslb.internal/overwatch/internal/operate/refusals"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/journal"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/buildinfo"
	"gslb.internal/shared/check"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/logging/logtest"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
	"gslb.internal/shared/wire"
)

const (
	service   = "app.example"
	token     = "a token of thirty-two characters"
	deadline  = 30 * time.Second
	agentName = "agent-1"
)

// world is an API with a real registry, a real Trust and a real store. Only DNS, gossip and the prober are replaced.
type world struct {
	t        testing.TB
	server   *Server
	client   *api.Client
	base     string
	store    *store.Store
	trust    *trust.Trust
	registry *registry.Registry
	share    atomic.Int32 // of mass-failure protection, in percent
	servers  *inventory.Inventory
	failback *failback.Tracker
	full     atomic.Bool // nothing can be stored by Changes
	audit    *audit.Log
	journal  *journal.Journal
	refused  *refusals.Log
	queue    *audit.Queue
	history  *history.Recorder
	reading  history.Reading
	boot     identity.Nonce
	log      *logtest.Buffer

	cfg       atomic.Pointer[config.Config] // in force
	defined   defined
	reloads   reloads
	members   []gossip.Member
	heardFrom netip.AddrPort
	restart   []string // the keys that a restart would change
	fitness   fitness
	mu        sync.Mutex
	flushes   []string // serving backends at each Flush, by service
	flushErr  error
	checks    checks
}

type fitness struct {
	readiness  api.Readiness
	status     api.ServiceStatus
	message    string
	conditions []api.Condition
	panics     bool
}

func (f *fitness) Conditions() []api.Condition            { return f.conditions }
func (f *fitness) Readiness() api.Readiness               { return f.readiness }
func (f *fitness) Judgement() (api.ServiceStatus, string) { return f.Status(), f.message }
func (f *fitness) Status() api.ServiceStatus {
	if f.panics {
		panic("a secret detail")
	}
	return f.status
}

// checks runs checks with prepared results.
type checks struct {
	verdicts []registry.CheckResult
	err      error
}

func (v *checks) CheckNow(_ context.Context, wants func(registry.ID) bool) ([]registry.CheckResult, error) {
	var found []registry.CheckResult
	for _, verdict := range v.verdicts {
		if wants(verdict.ID) {
			found = append(found, verdict)
		}
	}
	return found, v.err
}

// defined merges the objects of the API with the configuration, like the root package.
type defined struct {
	w       *world
	mu      sync.Mutex
	file    *config.Config
	set     *definitions.Set
	refusal error
	batch   func(*definitions.Draft) // makes changes in the batch of the next change; optional
}

func (d *defined) Defined() (*definitions.Set, *config.Config) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.set, d.over()
}

func (d *defined) over() *config.Config {
	over, err := d.set.Over(d.file)
	d.w.must(err)
	return over
}

func (d *defined) Define(note store.Entry, edit func(*definitions.Draft) error) error {
	return d.DefineWith(note, edit, definitions.Attached{})
}

func (d *defined) Draft(edit func(*definitions.Draft) error) error {
	_, err := d.Preview(edit, nil, nil)
	return err
}

// Preview has no effect on answers. Other tests check the effect of a plan on the answers of a node.
func (d *defined) Preview(edit func(*definitions.Draft) error, _ publish.Backends, _ func(string) bool) (*zone.View,
	error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return noZones(), edit(d.set.Edit(d.over(), d.file, definitions.NamesIn(d.file)))
}

func (d *defined) Propose(text string) (control.Proposed, error) {
	cfg, err := config.LoadText(text)
	return control.Proposed{Config: cfg, Changes: []string{}, Restart: []string{}}, err
}

func (d *defined) PreviewFile(control.Proposed, publish.Backends, func(string) bool) (*zone.View, error) {
	return noZones(), nil
}

func (d *defined) DefineWith(note store.Entry, edit func(*definitions.Draft) error, with definitions.Attached) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	draft := d.set.Edit(d.over(), d.file, definitions.NamesIn(d.file))
	if d.batch != nil {
		d.batch(draft)
	}
	if err := edit(draft); err != nil {
		return err
	}
	if d.refusal != nil {
		return d.refusal
	}
	changes, _ := d.set.Changes(draft.Set())
	if with.Any() {
		with.Store(changes)
	}
	if err := d.w.store.Write(changes, note); err != nil {
		return err
	}
	if with.Any() {
		d.w.must(with.Declare(d.w.t.Context()))
		d.w.must(with.Withdraw(d.w.t.Context()))
	}
	if len(draft.Set().Targets()) < len(d.set.Targets()) { // their addresses are removed, as in package control
		d.w.declare(firstServer, secondServer)
	}
	d.set = draft.Set()
	d.w.cfg.Store(d.set.Join(d.over(), definitions.NamesIn(d.over())))
	return nil
}

// reloads is a reload with a prepared outcome.
type reloads struct {
	changes, restart []string
	err              error
}

func (r *reloads) Reload(context.Context) (changes, restart []string, err error) {
	return r.changes, r.restart, r.err
}

// agents contains the agents of a node with a full disk.
type agents struct {
	*trust.Trust
	full *atomic.Bool
}

func (a agents) Revoke(ctx context.Context, id, reason string, with ...store.Entry) error {
	if a.full.Load() {
		return errors.Join(a.Trust.Revoke(ctx, id, reason), fmt.Errorf("pin: %w", store.ErrNotDurable))
	}
	return a.Trust.Revoke(ctx, id, reason, with...)
}

func (a agents) Unpin(ctx context.Context, id string, with ...store.Entry) error {
	if a.full.Load() {
		return fmt.Errorf("pin: %w", store.ErrNotDurable)
	}
	return a.Trust.Unpin(ctx, id, with...)
}

// disk is a store for changes that fills up.
type disk struct {
	*store.Store
	full *atomic.Bool
}

func (d disk) Write(b *store.Batch, with ...store.Entry) error {
	if d.full.Load() {
		return fmt.Errorf("a batch: %w", store.ErrNotDurable)
	}
	return d.Store.Write(b, with...)
}

// Flush records the currently serving backends, in place of the publisher.
func (w *world) Flush(context.Context) error {
	var serving []string
	for _, b := range w.registry.View().Service(service) {
		if b.MayServe {
			serving = append(serving, fmt.Sprint(b.Address, ":", b.Port))
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flushes = append(w.flushes, strings.Join(serving, " "))
	return w.flushErr
}

// newWorld starts an API with two static backends in "eu". Each adjustment may change the options before.
func newWorld(t testing.TB, adjust ...func(*Options)) *world {
	t.Helper()
	w := &world{t: t, boot: identity.NewNonce(), log: &logtest.Buffer{}}
	cfg := config.Default()
	w.fitness = fitness{readiness: api.Readiness{Ready: true, DNSReady: true, HealthReady: true},
		status: api.ServiceHealthy}
	www, app := *model.New[model.Domain](), *model.New[model.Domain]()
	www.Name, www.RoutingAlgorithm, www.Regions, www.TTL, www.FailoverThreshold = "www.example", "failover",
		[]string{"eu", "us"}, 60, 2
	app.Name, app.RoutingAlgorithm, app.Regions = service, "weighted", []string{"eu", "us"}
	cfg.Domains = []config.Domain{www, app}
	cfg.Regions = []config.Region{{Name: "eu", Enabled: true}, {Name: "us", Enabled: true}}
	w.openOwners()
	w.cfg.Store(cfg)
	w.defined = defined{w: w, file: cfg, set: &definitions.Set{}}
	w.declare(service+":192.0.2.1:80", service+":192.0.2.2:80")
	apiConfig := cfg.API
	apiConfig.Address = "127.0.0.1:0"
	o := Options{
		API: apiConfig, NodeID: "node-1", Build: buildinfo.Info{Version: "1.2.3", GoVersion: "go1.26", GitCommit: "abc",
			BuildDate: "2026-01-01T00:00:00Z"},
		StartedAt: time.Now().Add(-90 * time.Second),
		Config:    func() (*config.Config, time.Time) { return w.cfg.Load(), time.Now() },
		Fitness:   &w.fitness, View: w.registry.View(), Inventory: w.servers,
		Definitions:     &w.defined,
		RestartRequired: func() []string { return w.restart },
		ValidateConfig:  func(text string) settings.Problems { return config.CheckText(text) },
		ConfigPath:      "/etc/gslb.yaml",
		Reload:          w.reloads.Reload, Applied: w.store, Flush: w.Flush, Pins: w.trust,
		CheckNow: w.checks.CheckNow, Audit: w.audit, Events: w.journal, Notifier: notifier{},
		Refused: w.refused.Request, History: w.history,
		Members:   func() []gossip.Member { return w.members },
		HeardFrom: func(identity.KeyID) netip.AddrPort { return w.heardFrom },
		Self: func() nodes.Self {
			return nodes.Self{Addresses: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:53")}, Queries: 900}
		}, Places: nowhere,
		DNSView: noZones, Decisions: decisions.New(1, nil), Logger: zerolog.New(w.log),
	}
	w.failback = failback.New(failback.Options{Store: w.store, Changed: func(string) {}, Logger: zerolog.Nop()})
	o.Failbacks = w.failback
	for _, f := range adjust {
		f(&o)
	}
	o.Changes = changes.New(changes.Options{View: o.View, Registry: w.registry, Store: disk{w.store, &w.full},
		Servers: w.servers, Agents: agents{w.trust, &w.full}, Definitions: &w.defined, Failbacks: w.failback, Audit: o.Audit,
		Flush: o.Flush, Logger: o.Logger,
		Impact: impact.New(impact.Options{View: o.View, DNSView: o.DNSView, Flush: o.Flush, Decisions: o.Decisions,
			Now: time.Now})})
	o.Drains = drain.NewTracker(drain.Options{View: o.View, DNSView: o.DNSView, Now: o.Now})
	server, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	w.server = server
	w.run(server.Run)
	w.base = "http://" + server.Addr().String()
	w.client, err = api.NewClient(api.ClientOptions{Node: w.base, Timeout: deadline})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) openOwners() {
	w.t.Helper()
	var err error
	if w.store, err = store.Open(w.t.TempDir(), store.Options{Logger: zerolog.Nop()}); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = w.store.Close() })
	w.journal = journal.Open(journal.Options{Path: filepath.Join(w.t.TempDir(), "events.jsonl")})
	w.audit, err = audit.Open(audit.Options{Store: w.store,
		Retention: config.Default().Audit.Retention, Logger: zerolog.Nop()})
	w.must(err)
	w.t.Cleanup(func() { // the audit filters accept each recorded action and resource
		for e, err := range w.audit.Newest(audit.Changes) {
			if err == nil && e.ActorType == api.ActorUser && !(slices.Contains(api.AuditActions(), e.Action) &&
				slices.Contains(api.AuditResources(), e.Resource)) {
				w.t.Errorf("%q of %q is not in AuditActions and AuditResources", e.Action, e.Resource)
			}
		}
	})
	w.queue = w.audit.NewQueue()
	w.refused = refusals.New(w.queue.Add)
	w.reading = history.Reading{At: time.Now().Add(-time.Minute), Cores: 2}
	w.history, err = history.Open(history.Options{Read: func() history.Reading { return w.reading },
		Path: filepath.Join(w.t.TempDir(), "history.json"), Logger: zerolog.Nop()})
	w.must(err)
	w.trust, err = trust.New(trust.Options{Tokens: map[string][]string{service: {token}}, Boot: w.boot, Pins: w.store,
		Logger: zerolog.Nop()})
	if err != nil {
		w.t.Fatal(err)
	}
	w.share.Store(50)
	timing := registry.Timing{StaleThreshold: time.Minute, RemoveAfter: time.Hour, ValidationEnabled: true,
		ValidationInterval: time.Minute}
	w.registry, err = registry.New(registry.Options{Timing: timing, Changed: func(string) {}, Logger: zerolog.Nop(),
		Protection: func(string) status.Protection {
			return status.Protection{Enabled: true, Percent: int(w.share.Load()), KeepRegion: true, Window: time.Minute,
				HoldTime: 10 * time.Minute}
		}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.run(w.registry.Run)
	if w.servers, err = inventory.New(w.t.Context(), inventory.Options{Registry: w.registry}); err != nil {
		w.t.Fatal(err)
	}
}

// writeRefusals writes all refusals so far into the audit log.
func (w *world) writeRefusals() {
	w.t.Helper()
	over, end := context.WithCancel(w.t.Context())
	end()
	w.must(w.refused.Run(over))
	w.queue.Flush()
}

// run runs a part of the world until the test ends.
func (w *world) run(part func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- part(ctx) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Errorf("a part of the world ended with %v", err)
		}
	})
}

// declare replaces the static backends.
func (w *world) declare(ids ...string) {
	w.t.Helper()
	var declarations []registry.Declaration
	for _, text := range ids {
		id, err := registry.ParseID(text)
		if err != nil {
			w.t.Fatal(err)
		}
		declarations = append(declarations, registry.Declaration{ID: id, Weight: 100, Region: "eu",
			Check: unique.Make(check.Spec{Type: check.TCP})})
	}
	w.must(w.registry.SetStaticDeclarations(w.t.Context(), declarations))
}

// validate applies the result of an own check.
func (w *world) validate(id string, state check.State, problem string) {
	w.t.Helper()
	parsed, err := registry.ParseID(id)
	w.must(err)
	outcome := check.Success
	if state != check.StateHealthy {
		outcome = check.Failure
	}
	w.must(w.registry.ApplyCheckResult(w.t.Context(), registry.CheckResult{ID: parsed, State: state, Outcome: outcome,
		Err:     problem,
		Latency: 1500 * time.Microsecond, At: time.Now()}))
}

// agent enrols agentName and reports one backend.
func (w *world) agent(address string, claim wire.Claim) trust.Agent {
	w.t.Helper()
	dir := w.t.TempDir()
	who, _, err := identity.LoadOrCreate(filepath.Join(dir, "agent.crt"), filepath.Join(dir, "agent.key"), agentName,
		time.Now())
	w.must(err)
	enrol := wire.Enrol{AgentID: agentName, Region: "us", Version: "9.9", Certificate: who.DER,
		Proofs: []wire.Proof{{Service: service, MAC: identity.Proof(token, service, who.KeyID, w.boot, 1)}}}
	payload, err := enrol.MarshalBinary()
	w.must(err)
	m, refusal := w.trust.Open(who.Seal(identity.AgentToNode, identity.Envelope{
		Major: wire.Major, Type: uint8(wire.TypeEnrol), BootNonce: w.boot, Epoch: 1, Seq: 1, Payload: payload,
	}), netip.Addr{})
	if refusal != nil {
		w.t.Fatal(refusal)
	}
	_, err = w.registry.ApplyHeartbeat(w.t.Context(), m.Agent, &wire.Heartbeat{
		Region: "us", Version: "9.9", IntervalMillis: 10_000, MissedThreshold: 3, UptimeSeconds: 100,
		Figures: wire.Figures{ChecksTotal: 250, ChecksFailed: 25, Cores: 4, RTTMicros: 2100},
		Backends: []wire.Backend{{
			Service: service, Address: netip.MustParseAddr(address), Port: 80, Weight: 50, Claim: claim,
			ConsecutiveFailures: 4, LastError: "connection refused",
			Check: wire.Check{Type: "tcp", TimeoutMillis: 2000, IntervalMillis: 5000, FailureThreshold: 3,
				SuccessThreshold: 2},
		}},
	})
	w.must(err)
	return m.Agent
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// httpReply is a response as a client receives it.
type httpReply struct {
	status int
	header http.Header
	body   string
}

// send sends a request. header contains names and values alternately.
func (w *world) send(method, path, body string, header ...string) httpReply {
	w.t.Helper()
	req, err := http.NewRequest(method, w.base+path, strings.NewReader(body))
	w.must(err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
			continue
		}
		req.Header.Del(header[i])
		req.Header.Add(header[i], header[i+1])
	}
	client := http.Client{Timeout: deadline, CheckRedirect: func(*http.Request,
		[]*http.Request) error {
		return http.ErrUseLastResponse
	}}
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	w.must(err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	w.must(err)
	return httpReply{res.StatusCode, res.Header, string(raw)}
}

// want checks that a response has the status, and that its body contains all of the given parts.
func (w *world) want(what string, r httpReply, status int, parts ...string) {
	w.t.Helper()
	if r.status != status {
		w.t.Errorf("%s: got %d %s, want %d", what, r.status, r.body, status)
	}
	for _, part := range parts {
		if !strings.Contains(r.body, part) {
			w.t.Errorf("%s: %s does not have %s", what, r.body, part)
		}
	}
}

// wantError checks that a response is an error with the status in the format of all errors, and contains all of the
// given words.
func (w *world) wantError(what string, r httpReply, status int, words ...string) {
	w.t.Helper()
	var body api.ErrorBody
	err := json.Unmarshal([]byte(r.body), &body)
	if r.status != status || err != nil || body.Error == "" || r.header.Get("Content-Type") != "application/json" ||
		r.header.Get("X-Request-Id") == "" {
		w.t.Errorf("%s: got %d %v %q, want the JSON error %d", what, r.status, r.header, r.body, status)
		return
	}
	for _, word := range words {
		if !strings.Contains(body.Error, word) {
			w.t.Errorf("%s: %q does not say %q", what, body.Error, word)
		}
	}
}

// nowhere returns an empty location table.
func nowhere() *geo.Table {
	table, err := geo.New(geo.Sources{})
	if err != nil {
		panic(err) // an empty table is valid
	}
	return table
}

// noZones returns an empty view.
func noZones() *zone.View { return new(zone.View) }
