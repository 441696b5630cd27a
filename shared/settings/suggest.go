package settings

import (
	"fmt"
	"strings"

	"gslb.internal/shared/spelling"
)

// suggest returns the known name that is most similar to a mistyped name, or "".
func suggest(name string, known []string) string {
	// A short name may differ by an edit, and a long name by an edit per four characters. In a name of one or two
	// characters, each edit results in an unrelated name.
	const longest = 64 // above the length of all keys; longer names have no suggestion
	if len(name) > longest {
		return ""
	}
	best, bestDistance := "", 1+min(len(name)/3, max(1, len(name)/4))
	for _, candidate := range known {
		if d := spelling.Distance(normalise(name), normalise(candidate)); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// normalise removes the usual differences in spelling: node-id, nodeId and NodeID become nodeid.
func normalise(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(name))
}

// LabelRemedy validates the name of a region, a node or an agent, of at most limit octets. Such names are sent in
// messages and are values of metric labels. It returns "" for a valid name, or else how to correct it.
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

// DidYouMean returns the end of a message about an unknown name: a similar known name, or else a list of all names.
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
