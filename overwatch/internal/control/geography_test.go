package control // inside: it uses checkPlaces, geography and newGeography

import (
	"bytes"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/state/config"
)

const databases = "../answer/geo/testdata/"

// geographyWorld is a geography and a database file that can be replaced.
type geographyWorld struct {
	*geography
	metrics *prometheus.Registry
	log     bytes.Buffer
	cfg     *config.Config
	at      time.Time
}

func newGeographyWorld(t *testing.T) *geographyWorld {
	t.Helper()
	w := &geographyWorld{metrics: prometheus.NewRegistry(), cfg: config.Default(), at: time.Now()}
	w.cfg.Regions = []config.Region{{Name: "eu", Enabled: true, Countries: []string{"GB", "SE"}}, {Name: "us",
		Enabled: true, Countries: []string{"US"}}}
	w.cfg.Overwatch.Geolocation = config.Geolocation{DatabasePath: filepath.Join(t.TempDir(), "country.mmdb"),
		DefaultRegion: "us"}
	var err error
	if w.geography, err = newGeography(w.metrics, zerolog.New(&w.log)); err != nil {
		t.Fatal(err)
	}
	return w
}

// replace replaces the database file, like a download.
func (w *geographyWorld) replace(t *testing.T, content []byte) {
	t.Helper()
	path := w.cfg.Overwatch.Geolocation.DatabasePath
	w.at = w.at.Add(time.Second)
	for _, err := range []error{
		os.WriteFile(path+".new", content, 0o600), os.Chtimes(path+".new", w.at, w.at), os.Rename(path+".new", path),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// region returns the region of a client in the United Kingdom.
func (w *geographyWorld) region(t *testing.T) string {
	t.Helper()
	table, err := w.places(w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	id, _ := table.Locate(netip.MustParseAddr("81.2.69.142"))
	return table.RegionName(id)
}

func (w *geographyWorld) metric(t *testing.T, name string) float64 {
	t.Helper()
	families, err := w.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.Metric[0].GetGauge().GetValue() + f.Metric[0].GetCounter().GetValue()
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

func TestGeography_ABrokenFileKeepsTheOneBeforeAndIsToldOnce(t *testing.T) {
	w := newGeographyWorld(t)
	good, err := os.ReadFile(databases + "GeoLite2-Country-Test.mmdb")
	if err != nil {
		t.Fatal(err)
	}
	owners, err := os.ReadFile(databases + "GeoLite2-ASN-Test.mmdb")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name             string
		change           func()
		region           string
		loaded, failures float64
		lines            int
		problem          string
	}{
		{"missing at the start: the default region", func() {}, "us", 0, 1, 1, "no such file"},
		{"still missing: no second line of log", func() {}, "us", 0, 1, 1, "no such file"},
		{"there", func() { w.replace(t, good) }, "eu", 1, 1, 2, ""},
		{"the same", func() {}, "eu", 1, 1, 2, ""},
		{"cut short", func() { w.replace(t, good[:len(good)/2]) }, "eu", 1, 2, 3, "the previous database stays in use"},
		{"still cut short", func() {}, "eu", 1, 2, 3, "the previous database stays in use"},
		{"of networks' owners", func() { w.replace(t, owners) }, "eu", 1, 3, 4, "no record has a country"},
		{"gone", func() { _ = os.Remove(w.cfg.Overwatch.Geolocation.DatabasePath) }, "eu", 1, 4, 5, "no such file"},
		{"back", func() { w.replace(t, good) }, "eu", 1, 4, 6, ""},
	} {
		step.change()
		region := w.region(t)
		loaded, failures := w.metric(t, "gslb_geo_database_loaded"), w.metric(t, "gslb_geo_reload_failures_total")
		if region != step.region || loaded != step.loaded || failures != step.failures {
			t.Errorf("%s: region %q, loaded %v, failures %v, want %q, %v, %v", step.name, region, loaded, failures, step.region,
				step.loaded, step.failures)
		}
		problem := ""
		if p := w.problem.Load(); p != nil {
			problem = *p
		}
		if !strings.Contains(problem, step.problem) || (problem == "") != (step.problem == "") {
			t.Errorf("%s: problem %q, want %q", step.name, problem, step.problem)
		}
		if lines := strings.Count(w.log.String(), "\n"); lines != step.lines {
			t.Errorf("%s: %d lines of log, want %d:\n%s", step.name, lines, step.lines, w.log.String())
		}
	}
}

func TestGeography_IsCompiledAgainOnlyWhenSomethingChanged(t *testing.T) {
	w := newGeographyWorld(t)
	first, err := w.places(w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	same := *w.cfg
	same.Regions = append([]config.Region(nil), w.cfg.Regions...)
	if again, err := w.places(&same); err != nil || again != first {
		t.Errorf("compiled again for the same regions (%v)", err)
	}
	same.Overwatch.Geolocation.CustomMappings = []config.CustomMapping{
		{CIDR: netip.MustParsePrefix("81.2.0.0/16"), Region: "eu"}}
	again, err := w.places(&same)
	if err != nil || again == first {
		t.Fatalf("a new mapping was not taken up (%v)", err)
	}
	if id, scope := again.Locate(netip.MustParseAddr("81.2.69.142")); again.RegionName(id) != "eu" || scope != 16 {
		t.Errorf("in %q with scope %d, want eu with 16", again.RegionName(id), scope)
	}
}

func TestGeography_ADisabledRegionTakesNoClient(t *testing.T) {
	w := newGeographyWorld(t)
	good, err := os.ReadFile(databases + "GeoLite2-Country-Test.mmdb")
	if err != nil {
		t.Fatal(err)
	}
	w.replace(t, good)
	w.cfg.Overwatch.Geolocation.CustomMappings = []config.CustomMapping{
		{CIDR: netip.MustParsePrefix("10.0.0.0/8"), Region: "us"}, {CIDR: netip.MustParsePrefix("10.1.0.0/16"), Region: "eu"}}
	if got := w.region(t); got != "eu" {
		t.Fatalf("a client is in %q before", got)
	}
	w.cfg.Regions[0].Enabled = false
	if got := w.region(t); got != "us" {
		t.Errorf("of a country of the disabled region: in %q, want the default region", got)
	}
	table, err := w.places(w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if id, _ := table.Locate(netip.MustParseAddr("10.1.0.1")); table.RegionName(id) != "us" {
		t.Errorf("mapped to the disabled region: in %q, want that of the larger network", table.RegionName(id))
	}
	w.cfg.Overwatch.Geolocation.DefaultRegion = "eu"
	if got := w.region(t); got != "" {
		t.Errorf("the default region is disabled: in %q", got)
	}
}

func TestValidate_RefusesMappingsOfOneNetworkInTwoSpellings(t *testing.T) {
	cfg := config.Default()
	cfg.Regions = []config.Region{{Name: "eu", Enabled: true}}
	for _, cidr := range []string{"10.0.0.0/8", "::ffff:10.0.0.0/104"} {
		cfg.Overwatch.Geolocation.CustomMappings = append(cfg.Overwatch.Geolocation.CustomMappings,
			config.CustomMapping{CIDR: netip.MustParsePrefix(cidr), Region: "eu"})
	}
	if problems := checkPlaces(cfg); len(problems) != 1 || problems[0].Key != "overwatch.geolocation" {
		t.Errorf("problems %v, want one", problems)
	}
}

// The early reading is used only for the same file, and only once.
func TestGeography_UsesTheEarlyReadingOfTheSameFile(t *testing.T) {
	content, err := os.ReadFile(databases + "GeoLite2-Country-Test.mmdb")
	if err != nil {
		t.Fatal(err)
	}
	for _, replaced := range []bool{false, true} {
		w := newGeographyWorld(t)
		w.replace(t, content)
		w.early = StartReadingDatabase(w.cfg.Overwatch.Geolocation.DatabasePath)
		w.early.Wait()
		early := w.early.database
		if replaced {
			w.replace(t, content)
		}
		if got := w.region(t); got != "eu" {
			t.Errorf("a client in the United Kingdom is in %q", got)
		}
		if used := w.geography.database == early; used == replaced || early == nil {
			t.Errorf("file replaced: %v, early reading used: %v", replaced, used)
		}
		w.replace(t, content)
		if w.region(t); w.geography.database == early {
			t.Error("a later file was not read")
		}
	}
	if StartReadingDatabase("") != nil {
		t.Error("there is a reading without a file")
	}
}
