package settings

import "go.yaml.in/yaml/v3"

// addPairs appends the keys and values of mapping n, except for keys in have, then those that its merge keys (<<)
// bring: what is there already wins. have grows by what was appended.
func (c *composer) addPairs(n *yaml.Node, have map[string]bool, depth int) bool {
	var merges []*yaml.Node
	var own []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if c.visits++; c.visits > maxComposedNodes {
			return c.fail(key, "too much is merged here")
		}
		if isMergeKey(key) {
			merges = append(merges, value)
			continue
		}
		scalar := resolveAlias(key)
		if scalar.Kind != yaml.ScalarNode {
			return c.fail(key, "a list or a map cannot be a key")
		}
		if have[scalar.Value] {
			continue
		}
		own = append(own, scalar.Value)
		if !c.compose(key, depth+1) || !c.compose(value, depth+1) {
			return false
		}
	}
	for _, key := range own { // only now: a key that n itself has twice must stay visible as an error
		have[key] = true
	}
	for _, m := range merges {
		if !c.merge(m, have, depth+1) {
			return false
		}
	}
	return true
}

// merge appends what a merge key's value stands for: a mapping, or a list of mappings of which an earlier one wins.
func (c *composer) merge(value *yaml.Node, have map[string]bool, depth int) bool {
	source := resolveAlias(value)
	if depth > maxDepth {
		return c.fail(value, "merged too deep: does an anchor contain itself?")
	}
	if source.Kind == yaml.MappingNode {
		return c.addPairs(source, have, depth)
	}
	if source.Kind != yaml.SequenceNode {
		return c.fail(value, "<< takes a map, or a list of maps")
	}
	for _, item := range source.Content {
		if resolveAlias(item).Kind != yaml.MappingNode {
			return c.fail(item, "<< takes a map, or a list of maps")
		}
		if !c.merge(item, have, depth+1) {
			return false
		}
	}
	return true
}

func isMergeKey(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "<<" && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0
}

// resolveAlias returns the node that an alias stands for. An alias never stands for another.
func resolveAlias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
