package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

// RegionProblems returns the faults of a region that are independent of other objects and of the node, except the
// faults of its name and its servers. Parsing checks the bounds of numbers. Keys are names of fields, such as
// countries[0].
func RegionProblems(r *Region) (found settings.Problems) {
	add := func(key, value, format string, args ...any) {
		found = append(found, settings.Problem{Key: key, Value: value, Message: fmt.Sprintf(format, args...)})
	}
	for _, text := range []struct {
		key, value string
		limit      int
	}{
		{"label", r.Label, model.MaxRegionName}, {"code", r.Code, model.MaxComment},
		{"description", r.Description, model.MaxComment},
	} {
		if remedy := textRemedy(text.value, text.limit); remedy != "" {
			add(text.key, text.value, "%s", remedy)
		}
	}
	codes := func(key string, list []string, valid func(string) bool, remedy string) {
		for i, code := range list {
			if at := fmt.Sprintf("%s[%d]", key, i); !valid(code) {
				add(at, code, "%s", remedy)
			} else if slices.Index(list, code) < i {
				add(at, code, "is already %s[%d]: remove one", key, slices.Index(list, code))
			}
		}
	}
	codes("countries", r.Countries, model.IsCountry, "give the two letters of ISO 3166-1 in capitals, such as DE")
	codes("continents", r.Continents, model.IsContinent, "use AF, AN, AS, EU, NA, OC or SA")
	found = append(found, tagProblems(r.Tags)...)
	if (r.Latitude == nil) != (r.Longitude == nil) {
		add("", r.Name, "has only one of latitude and longitude: give both or none")
	}
	inside := policy.AlgorithmNames(policy.PoolAlgorithms())
	if r.RoutingAlgorithm != "" && !slices.Contains(inside, r.RoutingAlgorithm) {
		add("routing_algorithm", r.RoutingAlgorithm, "cannot choose inside a region: %s",
			settings.DidYouMean(r.RoutingAlgorithm, inside))
	}
	return found
}

// textRemedy returns the correction of an optional text, or "" for a valid text. limit is in characters.
func textRemedy(text string, limit int) string {
	notPrintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if text != "" && (strings.TrimSpace(text) == "" || utf8.RuneCountInString(text) > limit ||
		strings.ContainsFunc(text, notPrintable)) {
		return fmt.Sprintf("give a text of at most %d printable characters", limit)
	}
	return ""
}
