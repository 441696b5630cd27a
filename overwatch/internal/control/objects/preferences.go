package objects

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/control/fault"
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

// Formats of preferences: a language tag (RFC 5646, without its rarer parts) and the name of a time zone.
var (
	languageTag = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}$`)
	zoneName    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$`)
)

// Preferences returns the preferences of a set, with defaults.
func Preferences(set *definitions.Set) (api.Preferences, error) {
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

// CheckPreferences rejects invalid values.
func CheckPreferences(p *api.Preferences) error {
	if !slices.Contains(themes, p.Theme) {
		return fault.Invalidf("theme is %.64q: it must be one of %s", p.Theme, strings.Join(themes, ", "))
	}
	if !languageTag.MatchString(p.Language) {
		return fault.Invalidf("language is %.64q: it must be a language tag such as en or de-AT", p.Language)
	}
	if len(p.Timezone) > maxPreference || !zoneName.MatchString(p.Timezone) {
		return fault.Invalidf("timezone is %.64q: it must be the name of a time zone such as Europe/Berlin", p.Timezone)
	}
	if p.RefreshIntervalSeconds < 0 || p.RefreshIntervalSeconds > maxRefresh {
		return fault.Invalidf("refresh_interval_seconds is %d: it must be from 0 to %d", p.RefreshIntervalSeconds,
			maxRefresh)
	}
	for field, text := range map[string]string{"date_format": p.DateFormat, "time_format": p.TimeFormat,
		"default_view": p.DefaultView} {
		if err := CheckText(field, text, maxPreference); err != nil {
			return err
		}
	}
	encoded, err := json.Marshal(p.CustomSettings)
	if err != nil {
		return err
	}
	if len(encoded) > api.MaxCustomSettings {
		return fault.Invalidf("custom_settings has %d bytes: at most %d are allowed", len(encoded),
			api.MaxCustomSettings)
	}
	return nil
}
