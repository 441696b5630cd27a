package settings

import "go.yaml.in/yaml/v3"

// pairs converts the keys and values of a mapping, and adds the missing keys from its merge keys (<<). If several
// merged mappings have a key, the first mapping wins.
func (c *converter) pairs(n *yaml.Node, depth int) (children []node, size int) {
	var merged []node
	children = make([]node, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		value, s := c.convert(n.Content[i+1], depth+1)
		value.key, value.keyAt = c.key(key), markOf(key)
		if c.problems != nil {
			return nil, 0
		}
		size += s
		if isMergeKey(key) {
			c.repeat(key, s)
			merged = append(merged, value)
		} else {
			children = append(children, value)
		}
	}
	if merged != nil {
		children = c.merge(children, merged)
	}
	return children, size
}

// key returns the text of a key, which may be an alias.
func (c *converter) key(n *yaml.Node) string {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		c.fail(n.Line, "a list or a map cannot be a key")
	}
	c.refuseTag(n)
	return n.Value
}

func isMergeKey(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "<<" && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0
}

// merge adds the missing keys of sources, mappings or lists of mappings, to the children of a mapping.
func (c *converter) merge(children, sources []node) []node {
	have := make(map[string]bool, len(children))
	for i := range children {
		have[children[i].key] = true
	}
	for _, source := range sources {
		list := []node{source}
		if source.kind == sequence {
			list = source.children
		}
		for _, from := range list {
			if from.kind != mapping {
				c.fail(int(from.at.line), "<< takes a map, or a list of maps")
			}
			for _, pair := range from.children {
				if !have[pair.key] {
					have[pair.key] = true
					children = append(children, pair)
				}
			}
		}
	}
	return children
}
