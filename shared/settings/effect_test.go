package settings_test

import (
	"fmt"
	"reflect"
	"testing"

	"gslb.internal/shared/settings"
)

// effects contains a part of each effect, a part inside another part, and a struct that is not a part.
type effects struct {
	Mode string `key:"mode" reload:"silent"`
	API  struct {
		Address string            `key:"address"`
		Tokens  map[string]string `key:"tokens" reload:"live"`
	} `key:"api" reload:"restart"`
	DNS struct {
		TTL    int      `key:"ttl" reload:"live"`
		Listen []string `key:"listen" reload:"restart"`
	} `key:"dns"`
}

func TestEffects_PartsAreToldAndKeptByThemselves(t *testing.T) {
	var running, next effects
	next.Mode, next.API.Address, next.API.Tokens = "x", "here", map[string]string{"a": "b"}
	live, restart := settings.Changed(&running, &next, settings.Live), settings.Changed(&running, &next, settings.Restart)
	if fmt.Sprint(live, restart) != "[api.tokens] [api]" {
		t.Errorf("live %v, restart %v", live, restart)
	}
	next.DNS.TTL, next.DNS.Listen = 5, []string{":53"}
	running.API.Address = "there"
	settings.KeepRunning(&running, &next)
	want := effects{Mode: "x"}
	want.API.Address, want.API.Tokens, want.DNS.TTL = "there", map[string]string{"a": "b"}, 5
	if !reflect.DeepEqual(next, want) {
		t.Errorf("got %+v, want %+v", next, want)
	}
	if changed := settings.Changed(&running, &next, settings.Live); fmt.Sprint(changed) != "[api.tokens dns.ttl]" {
		t.Errorf("changed %v", changed)
	}
}
