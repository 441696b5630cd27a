package settings

import (
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// parseYAML parses a YAML text. The root of an empty text is a null. The problems have no File.
func parseYAML(text string) (node, Problems) {
	if len(text) > maxYAML {
		return node{}, Problems{{Message: fmt.Sprintf("the file has %d octets, and YAML may have %d: "+
			"write long lists as JSON, in an included file with a name that ends in .json", len(text), maxYAML)}}
	}
	lines := &lineReader{rest: text}
	decoder := yaml.NewDecoder(lines)
	var first, second yaml.Node
	switch err := decoder.Decode(&first); {
	case errors.Is(err, io.EOF):
		return node{}, nil
	case err != nil:
		return node{}, Problems{syntaxProblem(err, lines.line)}
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		return node{}, Problems{{Line: second.Line, Message: "a second document begins here (---): keep one per file"}}
	case !errors.Is(err, io.EOF):
		return node{}, Problems{syntaxProblem(err, lines.line)}
	}
	if len(first.Content) == 0 {
		return node{}, nil
	}
	c := converter{anchors: map[*yaml.Node]*anchored{}, mayRepeat: freeRepeats + len(text)/octetsPerRepeat}
	root, _ := c.convert(first.Content[0], 0)
	return root, c.problems
}

// converter converts nodes of the YAML library. An alias becomes a copy that shares the children of its anchor, so that
// aliases of aliases take no memory. The converter counts and bounds the expanded size of aliases, because the struct
// stores every value separately.
type converter struct {
	anchors   map[*yaml.Node]*anchored
	repeats   int // values that aliases and merge keys have repeated
	mayRepeat int
	problems  Problems // the first problem ends the conversion
}

// anchored is a converted node with an anchor.
type anchored struct {
	node node
	size int // number of values with expanded aliases; 0 during the conversion
}

// fail adds a problem.
func (c *converter) fail(line int, format string, args ...any) {
	c.problems = append(c.problems, Problem{Line: line, Message: fmt.Sprintf(format, args...)})
}

// convert returns the converted n, and its size in values with expanded aliases.
func (c *converter) convert(n *yaml.Node, depth int) (converted node, size int) {
	if n.Kind == yaml.AliasNode {
		return c.alias(n)
	}
	c.refuseTag(n)
	if n.Anchor == "" {
		return c.content(n, depth)
	}
	a := &anchored{}
	c.anchors[n] = a
	a.node, a.size = c.content(n, depth)
	return a.node, a.size
}

// alias returns the node that an alias refers to.
func (c *converter) alias(n *yaml.Node) (converted node, size int) {
	if n.Alias.Kind == yaml.ScalarNode { // possibly an alias of a key, which has no value
		converted, size = c.content(n.Alias, 0)
	} else {
		a := c.anchors[n.Alias]
		if a.size == 0 {
			c.fail(n.Line, "the alias *%s is inside its own anchor: write the value", n.Value)
		}
		converted, size = a.node, a.size
	}
	c.repeat(n, size)
	converted.at = markOf(n)
	return converted, size
}

// repeat counts the values that an alias or a merge key repeats.
func (c *converter) repeat(n *yaml.Node, size int) {
	if c.repeats += size; c.repeats > c.mayRepeat {
		c.fail(n.Line, "aliases and merge keys up to here repeat more than %d values: write fewer", c.mayRepeat)
	}
}

func (c *converter) content(n *yaml.Node, depth int) (converted node, size int) {
	converted.at = markOf(n)
	switch n.Kind {
	case yaml.MappingNode:
		converted.kind = mapping
	case yaml.SequenceNode:
		converted.kind = sequence
	default:
		converted.kind, converted.text = scalarKind(n), n.Value
		return converted, 1
	}
	if depth > maxDepth {
		c.fail(n.Line, "nested more than %d deep", maxDepth)
		return node{}, 0
	}
	if n.Kind == yaml.MappingNode {
		converted.children, size = c.pairs(n, depth)
	} else {
		converted.children, size = c.elements(n, depth)
	}
	n.Content = nil // large files: the nodes of the library are four times as large
	return converted, 1 + size
}

func (c *converter) elements(n *yaml.Node, depth int) (children []node, size int) {
	children = make([]node, len(n.Content))
	for i, element := range n.Content {
		converted, s := c.convert(element, depth+1)
		if c.problems != nil {
			return nil, 0
		}
		converted.keyAt = converted.at
		children[i] = converted
		size += s
	}
	return children, size
}

// refuseTag adds a problem for an explicit tag that changes the type of the value.
func (c *converter) refuseTag(n *yaml.Node) {
	if n.Style&yaml.TaggedStyle == 0 {
		return
	}
	switch n.Tag {
	case "!!str", "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq", "!":
		return
	}
	c.fail(n.Line, "a YAML tag (!) has no meaning here: remove it, or quote a value that begins with !")
}

func scalarKind(n *yaml.Node) kind {
	quotes := yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if n.Style&quotes != 0 || n.Style&yaml.TaggedStyle != 0 && (n.Tag == "!!str" || n.Tag == "!") {
		return quotedScalar
	}
	return plainScalar
}

func markOf(n *yaml.Node) mark { return mark{int32(n.Line), int32(n.Column)} }
