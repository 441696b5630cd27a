package settings

import "io/fs"

// kind says how a node is written.
type kind uint8

const (
	plainScalar  kind = iota // without quotes: may mean null
	quotedScalar             // text, whatever it looks like
	sequence
	mapping
)

// spot is a line and a column of a document, counted from 1. The column is 0 for YAML: its lines are short.
type spot struct{ line, column int32 }

// node is one value of a document. Nodes are never changed once a document is read, so that copies share their
// children.
type node struct {
	key      string // in a mapping
	text     string // of a scalar
	children []node // of a sequence or mapping, in the order of the text; a key may be there twice
	keyAt    spot   // of a key in a mapping, else the same as at
	at       spot
	kind     kind
}

// document is one file that has been read.
type document struct {
	path   string
	root   node        // a null when the file is empty
	perm   fs.FileMode // permission bits of the file when it was opened
	secret Problem     // where the first secret was found in it
}

// isNull reports whether a node stands for "nothing here".
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

// child returns the value of a mapping's key, the first if there are several, or nil.
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

// value is child, but nil also for a key with nothing behind it.
func (n *node) value(key string) *node {
	if c := n.child(key); c != nil && !c.isNull() {
		return c
	}
	return nil
}

// position is a spot of the document for a message.
func (d *document) position(at spot) Position {
	return Position{File: d.path, Line: int(at.line), Column: int(at.column)}
}
