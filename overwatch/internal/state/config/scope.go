package config

import (
	"fmt"
	"slices"
	"strings"

	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
	"gslb.internal/shared/wire"
)

const (
	maxScopeEntries = 100 // entries of a list in a scope
	maxKindName     = 64  // octets of the name of a kind
)

// CheckScope returns the first fault of a scope. It accepts kinds of later versions.
func CheckScope(s *model.TokenScope) error {
	lists := []struct {
		field   string
		entries []string
		remedy  func(string) string
	}{
		{"zones", s.Zones, CanonicalNameRemedy}, {"names", s.Names, patternRemedy},
		{"kinds", s.Kinds, labelRemedy(maxKindName)},
		{"regions", s.Regions, labelRemedy(wire.MaxRegion)}, {"owners", s.Owners, labelRemedy(api.MaxOwner)},
		{"actions", s.Actions, func(action string) string {
			if slices.Contains(model.TokenActions(), action) {
				return ""
			}
			return "it must be one of " + strings.Join(model.TokenActions(), ", ")
		}},
	}
	for _, l := range lists {
		if len(l.entries) > maxScopeEntries {
			return fmt.Errorf("scope.%s has %d entries: at most %d are allowed", l.field, len(l.entries), maxScopeEntries)
		}
		for _, entry := range l.entries {
			if remedy := l.remedy(entry); remedy != "" {
				return fmt.Errorf("scope.%s has %.260q: %s", l.field, entry, remedy)
			}
		}
	}
	return nil
}

func labelRemedy(limit int) func(string) string {
	return func(text string) string { return settings.LabelRemedy(text, limit) }
}

// CanonicalNameRemedy returns how to correct a domain name that is not in canonical form, or "".
func CanonicalNameRemedy(name string) string {
	canonical, remedy := settings.ParseName(name)
	if remedy == "" && canonical != name {
		return fmt.Sprintf("it must be %q", canonical)
	}
	return remedy
}

// patternRemedy returns how to correct a name or a wildcard of all names below a name, or "".
func patternRemedy(pattern string) string {
	below, _ := strings.CutPrefix(pattern, "*.")
	return CanonicalNameRemedy(below)
}
