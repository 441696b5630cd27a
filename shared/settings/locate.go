package settings

import (
	"strconv"
	"strings"
)

// place is a node of a document. A key has several places if several files contribute to its map or list.
type place struct {
	document *document
	node     *node
}

// Locate returns the position of a key, or of the nearest existing key above it. Keys are written as in problems:
// domains[2].regions[0], overwatch.agent_tokens["app.example.com"]. If even the outermost key does not exist, it
// returns the first file without a line.
func (r *Report) Locate(key string) Position {
	for at := key; at != ""; at = above(at) {
		if source, ok := r.outside[at]; ok {
			return source
		}
	}
	var places []place
	for _, d := range r.documents {
		places = append(places, place{d, &d.root})
	}
	if len(places) == 0 || key == "" {
		return Position{}
	}
	at := Position{File: places[0].document.path}
	for rest := key; rest != ""; {
		var step string
		step, rest = cutStep(rest)
		if places = descend(places, step); len(places) == 0 {
			break
		}
		at = places[0].document.position(places[0].node.keyAt)
	}
	return at
}

// cutStep splits off the first step of a key: a name, "[3]" or `["a.b"]`.
func cutStep(key string) (step, rest string) {
	if key[0] == '[' {
		end := strings.Index(key, "]")
		if strings.HasPrefix(key, `["`) {
			end = strings.Index(key, `"]`) + 1
		}
		if end > 0 {
			return key[:end+1], strings.TrimPrefix(key[end+1:], ".")
		}
	}
	if end := strings.IndexAny(key, ".["); end > 0 {
		return key[:end], strings.TrimPrefix(key[end:], ".")
	}
	return key, ""
}

// descend returns the places one step further in.
func descend(places []place, step string) []place {
	if n, err := strconv.Atoi(strings.Trim(step, "[]")); err == nil && step[0] == '[' {
		return element(places, n)
	}
	if name, err := strconv.Unquote(strings.Trim(step, "[]")); err == nil && step[0] == '[' {
		step = name
	}
	var found []place
	for _, p := range places {
		if child := p.node.child(step); child != nil {
			found = append(found, place{p.document, child})
		}
	}
	return found
}

// element returns the n-th element of several lists in sequence.
func element(places []place, n int) []place {
	for _, p := range places {
		if p.node.kind != sequence {
			if n == 0 {
				return []place{p} // a single value instead of a list
			}
			n--
			continue
		}
		if n < len(p.node.children) {
			return []place{{p.document, &p.node.children[n]}}
		}
		n -= len(p.node.children)
	}
	return nil
}
