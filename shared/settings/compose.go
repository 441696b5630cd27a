package settings

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// composer turns the node tree of the YAML library into our flat one: aliases expanded, merge keys resolved.
type composer struct {
	tree
	texts    strings.Builder // of tree
	places   map[string]int  // where a text is in texts: an alias repeats its anchor's
	problems Problems        // without File
	visits   int             // pairs looked at, for a bound on merging
}

// compose reads any YAML text.
func compose(text string) (tree, Problems) {
	if len(text) > maxComposed {
		return tree{}, Problems{{Message: fmt.Sprintf("the file has %d octets; beyond %d it may have no anchors, aliases, tags, "+
			"escapes, tabs, block scalars or scalars over several lines: write those parts more plainly or in a file of their own", len(text), maxComposed)}}
	}
	lines := &lineReader{rest: text}
	decoder := yaml.NewDecoder(lines)
	var first, second yaml.Node
	switch err := decoder.Decode(&first); {
	case errors.Is(err, io.EOF):
		return tree{}, nil
	case err != nil:
		return tree{}, Problems{syntaxProblem(err, lines.line)}
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		return tree{}, Problems{{Line: second.Line, Message: "a second document begins here (---): keep one per file"}}
	case !errors.Is(err, io.EOF):
		return tree{}, Problems{syntaxProblem(err, lines.line)}
	}
	c := composer{places: make(map[string]int)}
	if len(first.Content) > 0 && !c.compose(first.Content[0], 0) {
		return tree{}, c.problems
	}
	c.text = c.texts.String()
	return c.tree, nil
}

// fail notes one problem; after the first, what is left is not worth composing.
func (c *composer) fail(n *yaml.Node, message string) bool {
	c.problems = append(c.problems, Problem{Line: n.Line, Message: message})
	return false
}

// compose appends n and its descendants; false ends the work.
func (c *composer) compose(n *yaml.Node, depth int) bool {
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
		return c.compose(n.Alias, depth+1)
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
	begin, known := c.places[n.Value]
	if !known {
		begin = c.texts.Len()
		c.places[n.Value] = begin
		c.texts.WriteString(n.Value)
	}
	c.add(k, begin, begin+len(n.Value), n.Line)
}

func (c *composer) addCollection(k kind, n *yaml.Node, children func() bool) bool {
	start := len(c.nodes)
	c.add(k, 0, 0, n.Line)
	ok := children()
	c.close(start)
	return ok
}

func (c *composer) addItems(n *yaml.Node, depth int) bool {
	for _, item := range n.Content {
		if !c.compose(item, depth+1) {
			return false
		}
	}
	return true
}
