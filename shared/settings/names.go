package settings

import (
	"fmt"
	"strings"
)

// LabelRemedy checks the name of a region, a node or an agent, which may have limit octets. Such names are sent in
// messages and are values of metric labels. It returns what would be right, "" for a valid name.
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

// DidYouMean ends a message about an unknown name: with a similar known name, or else with a list of all.
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
