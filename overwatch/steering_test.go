package overwatch // inside: it uses newNode and node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unique"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/control"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/check"
	"gslb.internal/shared/logging"
	"gslb.internal/shared/model"
)

// opened opens a node with loopback sockets that publishes but does not answer. edits are pairs: a text of its
// configuration and the replacement of the text.
func opened(t *testing.T, edits ...string) *node {
	t.Helper()
	path := sample(t, t.TempDir(), "127.0.0.1:0")
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.NewReplacer(edits...).Replace(string(text))), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := control.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	logger, level, err := logging.Adjustable(cfg.Logging, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	n, err := newNode(context.Background(), cfg, path, logger.Level(zerolog.Disabled), level)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.close)
	return n
}

// together makes changes wait, and applies them in the same batch. It returns the result of each, and whether its
// caller panicked.
func together(t *testing.T, n *node, changes ...func(*definitions.Draft) error) (errs []error, fell []bool) {
	t.Helper()
	errs, fell = make([]error, len(changes)), make([]bool, len(changes))
	holding, release := make(chan struct{}), make(chan struct{})
	var callers sync.WaitGroup
	callers.Go(func() {
		_ = n.control.Define(nil, func(*definitions.Draft) error {
			close(holding)
			<-release
			return errConflict
		})
	})
	<-holding
	for i, change := range changes {
		callers.Go(func() {
			defer func() { fell[i] = recover() != nil }()
			errs[i] = n.control.Define(nil, change)
		})
		for defining(t) < i+2 {
			runtime.Gosched()
		}
	}
	close(release)
	callers.Wait()
	return errs, fell
}

// defining counts the goroutines that make a change or wait for it.
func defining(t *testing.T) int {
	t.Helper()
	var stacks strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&stacks, 2); err != nil {
		t.Fatal(err)
	}
	waiting := 0
	for goroutine := range strings.SplitSeq(stacks.String(), "\n\n") {
		if strings.Contains(goroutine, "control.(*Plane).Define(") &&
			(strings.Contains(goroutine, "sync.(*Mutex).Lock") || strings.Contains(goroutine, "control.(*Plane).apply")) {
			waiting++
		}
	}
	return waiting
}

func creates(name string) func(*definitions.Draft) error {
	return func(d *definitions.Draft) error {
		d.Put(newDomain(name))
		return nil
	}
}

// newDomain returns a domain of the API with a TTL of 30 s, regions, and defaults otherwise.
func newDomain(name string, regions ...string) *model.Domain {
	d := model.New[model.Domain]()
	d.Name, d.TTL, d.Regions = name, 30, regions
	return d
}

var errConflict = errors.New("somebody was faster")

func conflicts(*definitions.Draft) error { return errConflict }

func TestDefine_EachOfSeveralChangesIsToldItsOwnEnd(t *testing.T) {
	n := opened(t)
	errs, _ := together(t, n, creates("app.gslb.test"), conflicts, creates(strings.Repeat("x", 64)+".gslb.test"))
	if errs[0] != nil || !errors.Is(errs[1], errConflict) || errs[2] == nil || errors.Is(errs[2], errConflict) {
		t.Errorf("a change that can be made, one that conflicts and one that no zone can hold ended with %v", errs)
	}
	if set, _ := n.control.Defined(); len(set.Domains) != 1 {
		t.Errorf("%d domains are defined, want the one that could be", len(set.Domains))
	}
}

func TestDefine_NoChangeIsTakenForMadeWhereAnotherPanics(t *testing.T) {
	n := opened(t)
	errs, fell := together(t, n, creates("app.gslb.test"), func(*definitions.Draft) error { panic("a fault") })
	set, _ := n.control.Defined()
	if (errs[0] == nil && !fell[0]) != (len(set.Domains) == 1) {
		t.Errorf("the creation ended with %v (fell: %t), and %d domains are defined", errs[0], fell[0], len(set.Domains))
	}
	if errs, fell := together(t, n, creates("later.gslb.test")); errs[0] != nil || fell[0] {
		t.Errorf("a later change ended with %v", errs[0])
	}
}

// Changes of different fields of the same section in one batch all take effect.
func TestDefine_ChangesOfOneSectionLoseNothing(t *testing.T) {
	n := opened(t)
	edit := func(body string) func(*definitions.Draft) error {
		return func(d *definitions.Draft) error {
			wanted := definitions.View(definitions.DNS, d.File())
			if err := json.Unmarshal([]byte(body), wanted); err != nil {
				return err
			}
			return d.PutSection(definitions.DNS, wanted)
		}
	}
	errs, _ := together(t, n, edit(`{"default_ttl":61}`), edit(`{"negative_ttl":7}`))
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if dns := n.state.Config().DNS; dns.DefaultTTL != 61 || dns.NegativeTTL == nil || *dns.NegativeTTL != 7 {
		t.Errorf("default_ttl is %d and negative_ttl %v, want 61 and 7", dns.DefaultTTL, dns.NegativeTTL)
	}
}

// A domain of another node has the defaults of the settings that its stored form omits, even in the form of version
// 0.9.0, which names the routing algorithm routing_policy.
func TestFollow_ADomainOfAPeerHasTheDefaults(t *testing.T) {
	n := opened(t)
	key := replica.Key{Kind: store.KindDomain, Name: "peer.gslb.test"}
	version := replica.Version{Time: time.Now().UnixMilli(), Node: "b"}
	offer := replica.Offer{Node: "b", Synced: time.Now(), Objects: []replica.Object{{Key: key, Version: version,
		Value: []byte(`{"name":"peer.gslb.test","ttl":30,"routing_policy":"weighted","regions":null,"enabled":true}`)}}}
	if _, err := n.store.Merge(offer, nil); err != nil {
		t.Fatal(err)
	}
	if refused := n.control.Follow(t.Context(), []replica.Key{key}); len(refused) > 0 {
		t.Fatal(refused)
	}
	set, _ := n.control.Defined()
	d := set.Domains[key.Name]
	want := newDomain(key.Name)
	want.RoutingAlgorithm = "weighted"
	if !reflect.DeepEqual(d, want) {
		t.Errorf("%+v, want %+v", d, want)
	}
}

// A setting of another node that conflicts with this node's file has no effect, now and after the next start.
func TestFollow_ASettingThatDoesNotFitHasNoEffect(t *testing.T) {
	n := opened(t)
	before := n.state.Config().Overwatch.Validation
	key := replica.Key{Kind: store.KindSetting, Name: definitions.HealthCheck}
	for _, c := range []struct {
		value string
		fits  bool
	}{{`{"default_interval_seconds":1}`, false}, {`{"default_interval_seconds":20}`, true}} {
		batch := &store.Batch{}
		batch.Put(store.KindSetting, definitions.HealthCheck, []byte(c.value))
		if err := n.store.Write(batch); err != nil {
			t.Fatal(err)
		}
		if refused := n.control.Follow(t.Context(), []replica.Key{key}); len(refused) > 0 {
			t.Errorf("%s: %v", c.value, refused)
		}
		if got := n.state.Config().Overwatch.Validation; (got != before) != c.fits {
			t.Errorf("%s: in force %+v", c.value, got)
		}
		if left := n.state.LeftOut(); slices.Contains(left, key) == c.fits {
			t.Errorf("%s: left out are %v", c.value, left)
		}
	}
}

// A change can be previewed despite objects that conflict with this node's file, and despite an existing mixed zone.
func TestPreview_IsOfWhatIsServed(t *testing.T) {
	n := opened(t)
	batch := &store.Batch{}
	var keys []replica.Key
	bare := newDomain("bare.gslb.test")
	bare.DNSSECEnabled = new(false)
	for _, d := range []*model.Domain{newDomain(strings.Repeat("x", 64) + ".gslb.test"), bare,
		newDomain("full.gslb.test")} {
		batch.PutObject(store.KindDomain, d)
		keys = append(keys, replica.Key{Kind: store.KindDomain, Name: d.Name})
	}
	if err := n.store.Write(batch); err != nil {
		t.Fatal(err)
	}
	if refused := n.control.Follow(t.Context(), keys); len(refused) > 0 {
		t.Errorf("refused: %v", refused)
	}
	if left := n.state.LeftOut(); !slices.Equal(left, keys[:1]) {
		t.Errorf("left out are %v", left)
	}
	all := func(string) bool { return true }
	if _, err := n.control.Preview(creates("app.gslb.test"), n.registry.View(), all); err != nil {
		t.Errorf("a change of another name: %v", err)
	}
	_, err := n.control.Preview(creates(strings.Repeat("y", 64)+".gslb.test"), n.registry.View(), all)
	if err == nil || strings.Contains(err.Error(), "bare.gslb.test") {
		t.Errorf("a name that no zone can hold: %v", err)
	}
}

// A new geolocation database takes effect even if a rejected change has already read it.
func TestCheckDatabase_OneThatARefusedChangeHasRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "country.mmdb")
	n := opened(t, "overwatch:\n",
		fmt.Sprintf("overwatch:\n  geolocation: {database_path: %q, default_region: us}\n", path),
		"dns: {", "regions: [{name: eu, countries: [GB]}, {name: us}]\ndns: {")
	region := func() string {
		id, _ := n.places().Locate(netip.MustParseAddr("81.2.69.142"))
		return n.places().RegionName(id)
	}
	if got := region(); got != "us" {
		t.Errorf("without a database a client is in %q", got)
	}
	database, err := os.ReadFile("internal/answer/geo/testdata/GeoLite2-Country-Test.mmdb")
	if err == nil {
		err = os.WriteFile(path, database, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if n.control.Define(nil, creates(strings.Repeat("x", 64)+".gslb.test")) == nil {
		t.Error("a name that no zone can hold was taken")
	}
	if err := n.control.CheckDatabase(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := region(); got != "eu" {
		t.Errorf("with the database a client is in %q", got)
	}
}

// The first three checks of a backend take two intervals. The interval in the file is 30 s.
func TestDefine_TheIntervalOfChecksIsInForceAtOnce(t *testing.T) {
	n := opened(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.validator.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	errs, _ := together(t, n, creates("app.gslb.test"), func(d *definitions.Draft) error {
		d.PutSetting(definitions.HealthCheck, []byte(`{"default_interval_seconds":1,"default_timeout_seconds":1}`))
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	id := registry.ID{Service: "app.gslb.test", Address: netip.MustParseAddr("127.0.0.1"), Port: 1}
	err := n.registry.SetStaticDeclarations(ctx, []registry.Declaration{
		{ID: id, Weight: 1, Check: unique.Make(check.Spec{Type: check.TCP, FailureThreshold: 1, SuccessThreshold: 1})}})
	if err != nil {
		t.Fatal(err)
	}
	// The checks use real sockets, so the test polls their number. At the interval of the file they would take a minute.
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); n.checks.Load() < 3; <-tick.C {
		if time.Since(began) > 50*time.Second {
			t.Fatalf("%d checks in 50 s, with one each second in force", n.checks.Load())
		}
	}
}
