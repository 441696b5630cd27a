package settings

import (
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// composer turns the node tree of the YAML library into our flat one: aliases expanded, merge keys resolved.
type composer struct {
	nodes    []node
	problems Problems // without File
	visits   int      // pairs looked at, for a bound on merging
}

// compose reads any YAML text.
func compose(text string) ([]node, Problems) {
	if len(text) > maxComposed {
		return nil, Problems{{Message: fmt.Sprintf("the file has %d octets; beyond %d it may have no anchors, aliases, tags, "+
			"escapes, tabs, block scalars or scalars over several lines: write those parts more plainly or in a file of their own", len(text), maxComposed)}}
	}
	lines := &lineReader{rest: text}
	decoder := yaml.NewDecoder(lines)
	var tree, second yaml.Node
	switch err := decoder.Decode(&tree); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, Problems{syntaxProblem(err, lines.line)}
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		return nil, Problems{{Line: second.Line, Message: "a second document begins here (---): keep one per file"}}
	case !errors.Is(err, io.EOF):
		return nil, Problems{syntaxProblem(err, lines.line)}
	}
	var c composer
	if len(tree.Content) > 0 && !c.add(tree.Content[0], 0) {
		return nil, c.problems
	}
	return c.nodes, nil
}

// fail notes one problem; after the first, what is left is not worth composing.
func (c *composer) fail(n *yaml.Node, message string) bool {
	c.problems = append(c.problems, Problem{Line: n.Line, Message: message})
	return false
}

// add appends n and its descendants; false ends the work.
func (c *composer) add(n *yaml.Node, depth int) bool {
	switch {
	case depth > maxDepth && n.Kind != yaml.ScalarNode:
		return c.fail(n, fmt.Sprintf("nested more than %d deep", maxDepth))
	case len(c.nodes) > maxComposedNodes:
		return c.fail(n, fmt.Sprintf("more than %d values, aliases expanded", maxComposedNodes))
	}
	if n.Style&yaml.TaggedStyle != 0 && !knownTag(n) {
		return c.fail(n, "a YAML tag (!) has no meaning here: remove it, or quote a value that begins with !")
	}
	switch n.Kind {
	case yaml.AliasNode:
		return c.add(n.Alias, depth+1)
	case yaml.MappingNode:
		return c.addCollection(mapping, n, func() bool { return c.addPairs(n, map[string]bool{}, depth) })
	case yaml.SequenceNode:
		return c.addCollection(sequence, n, func() bool { return c.addItems(n, depth) })
	}
	c.addScalar(n)
	return true
}

// knownTag tells whether an explicit tag says no more than the value does.
func knownTag(n *yaml.Node) bool {
	switch n.Tag {
	case "!!str", "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq", "!":
		return true
	}
	return false
}

func (c *composer) addScalar(n *yaml.Node) {
	k := plainScalar
	quotes := yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if n.Style&quotes != 0 || n.Style&yaml.TaggedStyle != 0 && (n.Tag == "!!str" || n.Tag == "!") {
		k = quotedScalar
	}
	c.nodes = append(c.nodes, node{text: n.Value, end: int32(len(c.nodes) + 1), line: int32(n.Line), kind: k})
}

func (c *composer) addCollection(k kind, n *yaml.Node, children func() bool) bool {
	start := len(c.nodes)
	c.nodes = append(c.nodes, node{line: int32(n.Line), kind: k})
	ok := children()
	c.nodes[start].end = int32(len(c.nodes))
	return ok
}

func (c *composer) addItems(n *yaml.Node, depth int) bool {
	for _, item := range n.Content {
		if !c.add(item, depth+1) {
			return false
		}
	}
	return true
}
