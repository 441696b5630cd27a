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

// node is one node of a document.
type node struct {
	text string // of a scalar
	end  int32  // index of the first node that is no descendant
	line int32  // where it begins, counted from 1
	kind kind
}

// tree is the nodes of a document in the order of its text: a node's descendants follow it directly, up to its end; a mapping's
// children are keys (scalars) and values in turn. nodes[0] is the root; there is none when the document is empty.
type tree struct {
	text  string // has those of all scalars
	nodes []stored
}

// stored is how a node is kept. A configuration may have millions: they are small, and none has a pointer, so that they are
// nothing to the collector.
type stored struct {
	at     uint32 // where a scalar's text begins; of a collection, the index of the first node that is no descendant
	extent uint32 // the length of a scalar's text times 4, and the kind
	line   int32
}

func (s *stored) kind() kind { return kind(s.extent & 3) }

// add appends a node that has no descendants yet. A scalar's text is that from begin to end.
func (t *tree) add(k kind, begin, end, line int) {
	t.nodes = append(t.nodes, stored{uint32(begin), uint32(end-begin)<<2 | uint32(k), int32(line)})
}

// close ends the collection at node i behind the nodes that there are.
func (t *tree) close(i int) { t.nodes[i].at = uint32(len(t.nodes)) }

// node is node i.
func (t *tree) node(i int) node {
	s := &t.nodes[i]
	if s.kind() >= sequence {
		return node{end: int32(s.at), line: s.line, kind: s.kind()}
	}
	return node{t.text[s.at : s.at+s.extent>>2], int32(i + 1), s.line, s.kind()}
}

// document is one YAML file, read.
type document struct {
	tree
	path   string
	perm   fs.FileMode // permission bits of the file when it was opened
	secret Problem     // where the first secret was found in it
}

// isNull tells whether a node stands for "nothing here".
func (n node) isNull() bool {
	if n.kind != plainScalar {
		return false
	}
	switch n.text {
	case "", "~", "null", "Null", "NULL":
		return true
	}
	return false
}

func (n node) isScalar() bool { return n.kind == plainScalar || n.kind == quotedScalar }

// describe names a node's kind in a message.
func (n node) describe() string {
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
func (t *tree) next(i int) int {
	if s := &t.nodes[i]; s.kind() >= sequence {
		return int(s.at)
	}
	return i + 1
}

// count is how many elements the sequence at node i has.
func (t *tree) count(i int) (count int) {
	for k := i + 1; k < t.next(i); k = t.next(k) {
		count++
	}
	return count
}

// child returns the value of a mapping's key, or -1.
func (t *tree) child(i int, key string) int {
	if t.node(i).kind != mapping {
		return -1
	}
	for k := i + 1; k < t.next(i); k = t.next(k + 1) {
		if t.node(k).text == key {
			return k + 1
		}
	}
	return -1
}

// position is where node i begins.
func (d *document) position(i int) Position {
	return Position{File: d.path, Line: int(d.nodes[i].line)}
}
