package settings

import (
	"strconv"
	"strings"
)

// path leads from the root to the node that is being decoded. It becomes text only for a message, because a large
// file has millions of nodes.
type path []step

// step is a key, one list index or one key of a map.
type step struct {
	name  string
	index int // of a list's element when name is empty
	quote bool
}

// String writes the path as in messages: domains[2].name, overwatch.agent_tokens["app.example.com"].
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

// Entry returns the key of a map's entry, as in problems.
func Entry(mapKey, name string) string { return mapKey + "[" + strconv.Quote(name) + "]" }
