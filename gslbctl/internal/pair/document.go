package pair

import "go.yaml.in/yaml/v3"

// root returns the mapping of the document. It adds a mapping to an empty document.
func (j *joiner) root() *yaml.Node {
	if len(j.document.Content) == 0 {
		*j.document = yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
	}
	return j.document.Content[0]
}

// text returns the scalar at a path, or "" if it does not exist.
func (j *joiner) text(path ...string) string { return textOf(j.root(), path...) }

// set writes a value to a path. It creates missing mappings on the path.
func (j *joiner) set(value *yaml.Node, path ...string) {
	parent := j.root()
	for _, key := range path[:len(path)-1] {
		next := find(parent, key)
		if next == nil {
			next = &yaml.Node{Kind: yaml.MappingNode}
			parent.Content = append(parent.Content, scalar(key), next)
		}
		parent = next
	}
	key := path[len(path)-1]
	old := find(parent, key)
	if old == nil {
		parent.Content = append(parent.Content, scalar(key), value)
		return
	}
	value.HeadComment, value.LineComment, value.FootComment = old.HeadComment, old.LineComment, old.FootComment
	if old.Kind == value.Kind {
		value.Style = old.Style
	}
	*old = *value
}

// find returns the node at a path below a mapping, or nil if it does not exist.
func find(from *yaml.Node, path ...string) *yaml.Node {
	for _, key := range path {
		if from == nil || from.Kind != yaml.MappingNode {
			return nil
		}
		var next *yaml.Node
		for i := 0; i+1 < len(from.Content); i += 2 {
			if from.Content[i].Value == key {
				next = from.Content[i+1]
			}
		}
		from = next
	}
	return from
}

// textOf returns the scalar at a path below a mapping, or "" if it does not exist.
func textOf(from *yaml.Node, path ...string) string {
	if n := find(from, path...); n != nil && n.Kind == yaml.ScalarNode {
		return n.Value
	}
	return ""
}

// values returns the scalars of a sequence.
func values(n *yaml.Node) (list []string) {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	for _, item := range n.Content {
		list = append(list, item.Value)
	}
	return list
}

// walk calls f for each key of each mapping.
func walk(n *yaml.Node, f func(key string, value *yaml.Node)) {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			f(n.Content[i-1].Value, child)
		}
		walk(child, f)
	}
}

func scalar(text string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(text)
	return n
}

func list(texts []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for _, text := range texts {
		n.Content = append(n.Content, scalar(text))
	}
	return n
}
