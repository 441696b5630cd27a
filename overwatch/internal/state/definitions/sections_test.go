package definitions_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
)

// fill sets each number, time, truth value and text of a configuration struct to a value that is not the default.
func fill(v reflect.Value) {
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case f.Type() == reflect.TypeFor[time.Duration]():
			f.SetInt(int64(7 * time.Second))
		case f.Kind() == reflect.Int:
			f.SetInt(7)
		case f.Kind() == reflect.Bool:
			f.SetBool(!f.Bool())
		case f.Kind() == reflect.Struct:
			fill(f)
		}
	}
}

// An overlay changes only its own settings. The API does not show all keys of a section, and an overlay of the section
// keeps the others.
func TestOver_KeepsTheKeysThatTheAPIDoesNotShow(t *testing.T) {
	for name, c := range map[string]struct {
		overlay string
		undo    func(*config.Config) // sets the value of the overlay in the configuration before
	}{
		definitions.DNS: {`{"default_ttl":9}`, func(c *config.Config) { c.DNS.DefaultTTL = 9 }},
		definitions.HealthCheck: {`{"unhealthy_threshold":9}`,
			func(c *config.Config) { c.Overwatch.Validation.FailureThreshold = 9 }},
		definitions.Logging: {`{"level":"debug"}`, func(c *config.Config) { c.Logging.Level = "debug" }},
		definitions.Gossip: {`{"probe_timeout_ms":9000}`,
			func(c *config.Config) { c.Overwatch.Gossip.ProbeTimeout = 9 * time.Second }},
	} {
		t.Run(name, func(t *testing.T) {
			f := file()
			for _, section := range []any{&f.DNS, &f.Overwatch.Validation, &f.Logging, &f.Overwatch.Gossip} {
				fill(reflect.ValueOf(section).Elem())
			}
			f.Overwatch.Gossip.Seeds, f.Overwatch.Gossip.ClusterName = []string{"192.0.2.1:7946"}, "blue"
			f.Overwatch.Gossip.EncryptionKey = "key"
			s := &definitions.Set{Settings: map[string]json.RawMessage{name: json.RawMessage(c.overlay)}}
			over, err := s.Over(f)
			if err != nil {
				t.Fatal(err)
			}
			c.undo(f)
			for _, pair := range [][2]any{{over.DNS, f.DNS}, {over.Overwatch.Validation, f.Overwatch.Validation},
				{over.Logging, f.Logging}, {over.Overwatch.Gossip, f.Overwatch.Gossip}} {
				if !reflect.DeepEqual(pair[0], pair[1]) {
					t.Errorf("with the overlay %+v, want %+v", pair[0], pair[1])
				}
			}
		})
	}
}

// This version cannot redact the secrets of a health check that it cannot read.
func TestShown_RedactsAnUnreadableHealthCheck(t *testing.T) {
	o := &definitions.Overlay{Fields: map[string]json.RawMessage{"priority": json.RawMessage("3"),
		"health_check": json.RawMessage(`{"headers":{"Authorization":["Bearer s3cret"]}}`)}}
	shown := o.Shown().Fields
	if string(shown["health_check"]) != `"[redacted]"` || string(shown["priority"]) != "3" {
		t.Errorf("shown: %s", shown)
	}
	if o.Fields["health_check"][0] != '{' {
		t.Error("the overlay has changed")
	}
}
