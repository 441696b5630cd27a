package api

import "time"

// Preferences are display preferences. They have no effect on answers.
type Preferences struct {
	Theme                  string         `json:"theme"` // light, dark or auto
	Language               string         `json:"language"`
	Timezone               string         `json:"timezone"` // such as Europe/Berlin
	DateFormat             string         `json:"date_format"`
	TimeFormat             string         `json:"time_format"`
	RefreshIntervalSeconds int            `json:"refresh_interval_seconds"` // 0: never
	NotificationsEnabled   bool           `json:"notifications_enabled"`
	DefaultView            string         `json:"default_view"`
	CustomSettings         map[string]any `json:"custom_settings"` // at most MaxCustomSettings as JSON
	UpdatedAt              *time.Time     `json:"updated_at"`      // clock of the node; null: never changed
}

// PreferencesChange is the body of PUT and PATCH /api/v1/preferences. PUT sets omitted fields to their defaults; PATCH
// retains their values.
type PreferencesChange struct {
	Theme                  *string `json:"theme,omitempty"` // light, dark or auto
	Language               *string `json:"language,omitempty"`
	Timezone               *string `json:"timezone,omitempty"` // such as Europe/Berlin
	DateFormat             *string `json:"date_format,omitempty"`
	TimeFormat             *string `json:"time_format,omitempty"`
	RefreshIntervalSeconds *int    `json:"refresh_interval_seconds,omitempty"` // 0: never
	NotificationsEnabled   *bool   `json:"notifications_enabled,omitempty"`
	DefaultView            *string `json:"default_view,omitempty"`
	// replaces all settings; at most MaxCustomSettings as JSON
	CustomSettings map[string]any `json:"custom_settings,omitempty"`
}

// PreferencesAnswer is the answer of GET /api/v1/preferences.
type PreferencesAnswer struct {
	Preferences Preferences `json:"preferences"`
}

// DefaultPreferences returns the preferences before any change.
func DefaultPreferences() Preferences {
	return Preferences{
		Theme: "auto", Language: "en", Timezone: "UTC", DateFormat: "YYYY-MM-DD", TimeFormat: "HH:mm:ss",
		RefreshIntervalSeconds: 30,
		NotificationsEnabled:   true, DefaultView: "overview", CustomSettings: map[string]any{},
	}
}
