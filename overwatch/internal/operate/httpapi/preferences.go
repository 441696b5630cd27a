package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"

	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
)

// Bounds of preferences.
const (
	maxPreference = 64 // characters of a text
	maxRefresh    = 24 * 60 * 60
)

// themes are the values of theme.
var themes = []string{"light", "dark", "auto"}

// Forms of preferences: a language tag (RFC 5646, without its rarer parts)
// and the name of a time zone.
var (
	languageTag = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}$`)
	zoneName    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$`)
)

// getPreferences answers GET /preferences.
func (s *Server) getPreferences(c *call) (answer, error) {
	set, _ := s.o.Definitions.Defined()
	p, err := preferencesOf(set)
	if err != nil {
		return answer{}, err
	}
	return tagged(c, http.StatusOK, api.PreferencesAnswer{Preferences: p}, p), nil
}

func preferencesOf(set *definitions.Set) (api.Preferences, error) {
	p := api.DefaultPreferences()
	stored := set.Settings[definitions.Preferences]
	if stored == nil {
		return p, nil
	}
	if err := json.Unmarshal(stored, &p); err != nil {
		return p, fmt.Errorf("the stored preferences: %w", err)
	}
	return p, nil
}

// putPreferences answers PUT and PATCH /preferences. A field that the body does not have takes its default with PUT,
// and stays with PATCH.
func (s *Server) putPreferences(c *call) (answer, error) {
	var after api.Preferences
	ch := &operations.Change{Action: "update", Resource: "preferences", ID: s.o.NodeID}
	err := s.op.Define(c.request(), ch, func(d *definitions.Draft) error {
		before, err := preferencesOf(d.Now())
		if err == nil {
			err = c.condition.holds(before)
		}
		if err != nil {
			return err
		}
		if after = api.DefaultPreferences(); c.Request.Method == http.MethodPatch {
			if after, err = preferencesOf(d.Now()); err != nil {
				return err
			}
		}
		after.UpdatedAt = nil
		if err := mergePreferences(c, &after); err != nil {
			return err
		}
		now := stamp(s.o.Now())
		after.UpdatedAt = &now
		encoded, err := json.Marshal(after)
		if err != nil {
			return err
		}
		ch.Before, ch.After = before, after
		d.PutSetting(definitions.Preferences, encoded)
		return nil
	})
	if err != nil {
		return answer{}, err
	}
	return tagged(c, http.StatusOK, api.PreferencesAnswer{Preferences: after}, after), nil
}

func mergePreferences(c *call, p *api.Preferences) error {
	var given struct {
		CustomSettings json.RawMessage `json:"custom_settings"`
	}
	body := c.body
	if json.Unmarshal(body, &given) == nil && given.CustomSettings != nil {
		p.CustomSettings = nil // replaced, not merged into
	}
	if err := c.decode(p); err != nil {
		return err
	}
	if p.CustomSettings == nil {
		p.CustomSettings = map[string]any{}
	}
	return checkPreferences(p)
}

func checkPreferences(p *api.Preferences) error {
	if !slices.Contains(themes, p.Theme) {
		return badRequest("theme is %.64q: it must be one of %s", p.Theme, listed(themes))
	}
	if !languageTag.MatchString(p.Language) {
		return badRequest("language is %.64q: it must be a language tag such as en or de-AT", p.Language)
	}
	if len(p.Timezone) > maxPreference || !zoneName.MatchString(p.Timezone) {
		return badRequest("timezone is %.64q: it must be the name of a time zone such as Europe/Berlin", p.Timezone)
	}
	if p.RefreshIntervalSeconds < 0 || p.RefreshIntervalSeconds > maxRefresh {
		return badRequest("refresh_interval_seconds is %d: it must be from 0 to %d", p.RefreshIntervalSeconds,
			maxRefresh)
	}
	for field, text := range map[string]string{"date_format": p.DateFormat, "time_format": p.TimeFormat,
		"default_view": p.DefaultView} {
		if err := objects.CheckText(field, text, maxPreference); err != nil {
			return err
		}
	}
	encoded, err := json.Marshal(p.CustomSettings)
	if err != nil {
		return err
	}
	if len(encoded) > api.MaxCustomSettings {
		return badRequest("custom_settings has %d bytes: at most %d are allowed", len(encoded), api.MaxCustomSettings)
	}
	return nil
}
