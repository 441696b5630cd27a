package control // inside: it shares created_test.go

import (
	"testing"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/store"
)

// Objects that conflict with the file are omitted and stay stored. All other objects are in force.
func TestState_LeavesOutOverlaysThatDoNotGoWithTheFile(t *testing.T) {
	kept, err := store.Open(t.TempDir(), store.Options{Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	batch := &store.Batch{}
	for key, value := range map[string]string{
		"domain a.example":      `{"fields":{"ttl":7,"regions":["gone","us"]}}`,
		"domain b.example":      `{"fields":{"routing_policy":"of a later version"}}`,
		"domain c.example":      `{"fields":{"ttl":7}}`, // not in the file
		"domain d.example":      `{"fields":{"enabled":false}}`,
		"domain one.ns.example": `{"fields":{"enabled":false}}`, // a nameserver, whose address the zone needs
		"region us":             `{"fields":{"priority":7}}`,
		"zone a.example":        `{"fields":{}}`,
		"server a.example":      `{"fields":7}`,
	} {
		batch.Put(store.KindSetting, key, []byte(value))
	}
	if err := kept.Write(batch); err != nil {
		t.Fatal(err)
	}
	file := fileWith("a.example", "b.example", "d.example", "one.ns.example")
	file.DNS.Zones = []config.Zone{{Name: "example", Nameservers: []string{"one.ns.example"}}}
	file.Regions = []config.Region{{Name: "us", Enabled: true}}
	s := stateOf(t, kept, file)
	cfg := s.Config()
	if len(cfg.Domains) != 3 || cfg.Domains[0].TTL != 7 || len(cfg.Domains[0].Regions) != 1 || cfg.Domains[1].TTL != 0 {
		t.Errorf("domains in force: %+v", cfg.Domains)
	}
	if d := cfg.Disabled(); len(d) != 1 || d[0].Name != "d.example" {
		t.Errorf("disabled: %+v", d)
	}
	if cfg.Regions[0].Priority != 7 {
		t.Errorf("regions in force: %+v", cfg.Regions)
	}
	if left := s.LeftOut(); len(left) != 4 {
		t.Errorf("left out: %v", left)
	}
	set, base := s.Defined()
	if set.CountOverlays() != 8 || base.Laid("domain one.ns.example") || !base.Laid("region us") ||
		cfg.File() != base.File() {
		t.Errorf("kept: %v", set.Settings)
	}
	if file.Regions[0].Priority != 0 || len(file.Domains) != 4 {
		t.Errorf("the file itself changed: %+v", file)
	}
}
