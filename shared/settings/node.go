package settings

import "io/fs"

// kind is the form of a node.
type kind uint8

const (
	plainScalar  kind = iota // without quotes: may mean null
	quotedScalar             // always text
	sequence
	mapping
)

// mark is a line and a column of a document, counted from 1.
type mark struct{ line, column int32 }

// node is a value of a document. Nodes never change once a document is read, so that copies share their children.
type node struct {
	key      string // in a mapping
	text     string // of a scalar
	children []node // of a sequence or mapping, in the order of the text; a key may be there twice
	keyAt    mark   // of a key in a mapping, else equal to at
	at       mark
	kind     kind
}

// document is a parsed file.
type document struct {
	path   string
	root   node        // a null when the file is empty
	perm   fs.FileMode // permission bits of the file when it was opened
	secret Problem     // position of the first secret
}

// isNull reports whether a node has no value.
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

// describe returns the name of the node's kind for messages.
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

// child returns the value of a mapping's key, the first of several, or nil.
func (n *node) child(key string) *node {
	if n.kind != mapping {
		return nil
	}
	for i := range n.children {
		if n.children[i].key == key {
			return &n.children[i]
		}
	}
	return nil
}

// value returns the child with a key, or nil if the key is missing or has no value.
func (n *node) value(key string) *node {
	if c := n.child(key); c != nil && !c.isNull() {
		return c
	}
	return nil
}

// position returns the position of a mark in messages.
func (d *document) position(at mark) Position {
	return Position{File: d.path, Line: int(at.line), Column: int(at.column)}
}
