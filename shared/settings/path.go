package settings

import (
	"strconv"
	"strings"
)

// path is the way from the root to the node that is being decoded. Steps are only turned into text for a message,
// since a large file has millions of them.
type path []step

// step is one key, one list index or one key of a map.
type step struct {
	name  string
	index int // of a list's element when name is empty
	quote bool
}

// String writes the path as messages do: domains[2].name, overwatch.agent_tokens["app.example.com"].
func (p path) String() string {
	var b strings.Builder
	for _, s := range p {
		switch {
		case s.quote:
			b.WriteString("[" + strconv.Quote(s.name) + "]")
		case s.name == "":
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.name)
		}
	}
	return b.String()
}

// Entry writes the key of a map's entry below the map's own key, as problems do.
func Entry(mapKey, name string) string { return mapKey + "[" + strconv.Quote(name) + "]" }
