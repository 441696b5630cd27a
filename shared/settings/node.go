package settings

import "io/fs"

// kind is what a node of a YAML document is.
type kind uint8

const (
	plainScalar  kind = iota // written without quotes: may mean null
	quotedScalar             // text whatever it looks like
	sequence
	mapping
)

// node is one node of a document. A document is a slice of nodes in the order of the text: a node's descendants
// follow it directly, up to end; a mapping's children are keys (scalars) and values in turn. One flat slice
// instead of linked nodes, since a configuration may have millions of them.
type node struct {
	text string // of a scalar
	end  int32  // index of the first node that is no descendant
	line int32  // where it begins, counted from 1
	kind kind
}

// document is one YAML file, read.
type document struct {
	path   string
	perm   fs.FileMode // permission bits of the file when it was opened
	nodes  []node      // nodes[0] is the root; empty when the file is
	secret Problem     // where the first secret was found in it
}

// isNull tells whether a node stands for "nothing here".
func (n *node) isNull() bool {
	if n.kind != plainScalar {
		return false
	}
	switch n.text {
	case "", "~", "null", "Null", "NULL":
		return true
	}
	return false
}

func (n *node) isScalar() bool { return n.kind == plainScalar || n.kind == quotedScalar }

// describe names a node's kind in a message.
func (n *node) describe() string {
	switch {
	case n.kind == sequence:
		return "a list"
	case n.kind == mapping:
		return "a map of keys"
	case n.isNull():
		return "nothing"
	}
	return "a single value"
}

// next is the index of the node behind node i and its descendants.
func (d *document) next(i int) int { return int(d.nodes[i].end) }

// child returns the value of a mapping's key, or -1.
func (d *document) child(i int, key string) int {
	if d.nodes[i].kind != mapping {
		return -1
	}
	for k := i + 1; k < d.next(i); k = d.next(k + 1) {
		if d.nodes[k].text == key {
			return k + 1
		}
	}
	return -1
}

// position is where node i begins.
func (d *document) position(i int) Position {
	return Position{File: d.path, Line: int(d.nodes[i].line)}
}
