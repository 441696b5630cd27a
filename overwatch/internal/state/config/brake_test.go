package config_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/state/config"
)

func TestBrakeOf_ADomainsKeysComeBeforeTheNodes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "overwatch.yaml")
	text := `mode: overwatch
overwatch:
  gossip: {encryption_key: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=}
  brake: {share: 40%, hold: 5m}
dns: {zones: [example.com]}
domains:
- {name: app.example.com, brake: {enabled: false}}
- {name: Shop.Example.com, brake: {share: 90%, window: 2m, hold: 1h}}
- {name: plain.example.com}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]config.Brake{
		"app.example.com":   {false, "40%", time.Minute, 5 * time.Minute, true},
		"shop.example.com":  {true, "90%", 2 * time.Minute, time.Hour, true},
		"plain.example.com": {true, "40%", time.Minute, 5 * time.Minute, true},
		"other.example.com": {true, "40%", time.Minute, 5 * time.Minute, true},
	} {
		if got := c.WithDomains(nil).BrakeOf(name); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if got := (config.Brake{Share: "90%"}).Percent(); got != 90 {
		t.Errorf("90%% is %d", got)
	}
}
