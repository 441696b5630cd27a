package document

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Exported has the lists of a document in the order of their sections. Its JSON is the JSON of an api.Document.
type Exported struct {
	names []string
	lists map[string][]any
}

// Export returns the objects of the API as a document.
func (pl *Planner) Export() (Exported, error) {
	held := pl.current()
	doc := Exported{lists: map[string][]any{}}
	for _, s := range sections() {
		all := held.of[s.name]
		ids := slices.Sorted(maps.Keys(all))
		if s.compare != nil {
			slices.SortFunc(ids, func(a, b string) int { return s.compare(all[a], all[b]) })
		}
		for _, id := range ids {
			if !pl.includes(s.kind, all[id]) {
				continue
			}
			written, err := s.write(pl, id, all[id])
			if err != nil {
				return Exported{}, err
			}
			if written != nil {
				doc.add(s.list, written)
			}
		}
	}
	return doc, nil
}

func (e *Exported) add(list string, object any) {
	if e.lists[list] == nil {
		e.names = append(e.names, list)
	}
	e.lists[list] = append(e.lists[list], object)
}

// MarshalJSON returns the document without empty lists.
func (e Exported) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	separator := byte('{')
	for _, name := range e.names {
		list, err := json.Marshal(e.lists[name])
		if err != nil {
			return nil, err
		}
		out.WriteByte(separator)
		out.WriteString(`"` + name + `":`)
		out.Write(list)
		separator = ','
	}
	if len(e.names) == 0 {
		out.WriteByte('{')
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
