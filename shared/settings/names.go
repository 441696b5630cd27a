package settings

import (
	"fmt"
	"strings"
)

// LabelRemedy says what is wrong with the name of a region, a node or an agent, which may have limit octets. Such names
// travel in messages and are values of metric labels. "" means nothing.
func LabelRemedy(name string, limit int) string {
	if name == "" {
		return "is missing: give a name"
	}
	if len(name) > limit {
		return fmt.Sprintf("the name has %d octets, at most %d are allowed", len(name), limit)
	}
	if strings.ContainsFunc(name, func(r rune) bool { return (r < 'A' || r > 'Z') && r != '.' && notInLabel(r) }) {
		return "use letters, digits, hyphens, underscores and dots"
	}
	return ""
}

// DidYouMean ends a message about a name that is not known: with the one that was probably meant, or else with a list
// of what is known.
func DidYouMean(name string, known []string) string {
	if near := suggest(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	const most = 12
	if len(known) > most {
		return "known are " + strings.Join(known[:most], ", ") + " and others"
	}
	if len(known) == 0 {
		return "none is known"
	}
	return "known are " + strings.Join(known, ", ")
}
