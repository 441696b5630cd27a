package settings

import (
	"strconv"
	"strings"
)

// place is one node of one document. A key has several when several files contribute to its map or list.
type place struct {
	document *document
	index    int
	line     int32 // where its key stands
}

// Locate tells where a key stands, or, if it is missing, the nearest key above it that is there. Keys are written as
// in problems: domains[2].regions[0], overwatch.agent_tokens["app.example.com"]. The first file has the zero line when
// not even the outermost key is there.
func (r *Report) Locate(key string) Position {
	for at := key; at != ""; at = above(at) {
		if source, ok := r.outside[at]; ok {
			return source
		}
	}
	var places []place
	for _, d := range r.documents {
		if len(d.nodes) > 0 {
			places = append(places, place{d, 0, 0})
		}
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
		at = Position{File: places[0].document.path, Line: int(places[0].line)}
	}
	return at
}

// cutStep takes the first step off a key: a name, "[3]" or `["a.b"]`.
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
		if i := p.document.child(p.index, step); i >= 0 {
			found = append(found, place{p.document, i, p.document.node(i - 1).line})
		}
	}
	return found
}

// element returns the n-th element of lists that were appended to one another.
func element(places []place, n int) []place {
	for _, p := range places {
		d := p.document
		if d.node(p.index).kind != sequence {
			if n == 0 {
				return []place{p} // a single value where a list may stand
			}
			n--
			continue
		}
		for i := p.index + 1; i < d.next(p.index); i = d.next(i) {
			if n == 0 {
				return []place{{d, i, d.node(i).line}}
			}
			n--
		}
	}
	return nil
}
