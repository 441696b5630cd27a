package replica

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of the objects that a node accepts from other nodes.
const (
	MaxKind  = 64      // maximum length of a kind in bytes
	MaxName  = 1024    // maximum length of a name in bytes
	MaxNode  = 255     // maximum length of a node id in bytes
	MaxValue = 1 << 20 // maximum size of a value in bytes, equal to the maximum size of an API request
	// MaxObjects is the maximum number of objects with a value, MaxTombstones the maximum number of deletions. A node
	// rejects additional objects of other nodes above these limits. Its own changes are unlimited.
	MaxObjects    = 300_000
	MaxTombstones = 200_000
	// MaxHeld is the maximum number of objects without effect, MaxHeldSize the maximum size of their values in bytes.
	MaxHeld     = 1_000
	MaxHeldSize = 8 << 20
)

// Rejection is an object of another node without effect on this node.
type Rejection struct {
	Object Object
	Reason error
	// Stored reports whether this node stores the object and offers it to other nodes, so that their digests agree.
	Stored bool
}

// Check returns the first fault that prevents nodes from storing the object.
func (o *Object) Check() error {
	switch {
	case !isToken(o.Kind, MaxKind):
		return fmt.Errorf("its kind is %.64q: it must be 1 to %d lower-case letters, digits, hyphens or underscores", o.Kind,
			MaxKind)
	case !isText(o.Name, MaxName):
		return fmt.Errorf("its name is %.64q: it must be 1 to %d octets that can be printed", o.Name, MaxName)
	case !IsNode(o.Version.Node):
		return fmt.Errorf("the node of its version is %.64q: it must be 1 to %d octets that can be printed", o.Version.Node,
			MaxNode)
	case o.Version.Time < 0:
		return errors.New("the time of its version is negative")
	case len(o.Value) > MaxValue:
		return fmt.Errorf("its value has %d octets: at most %d are allowed", len(o.Value), MaxValue)
	case o.Deleted && len(o.Value) > 0:
		return errors.New("it is deleted and has a value")
	case !o.Deleted && len(o.Value) == 0:
		return errors.New("it has no value")
	}
	return nil
}

// IsNode reports whether a text can be the id of a node.
func IsNode(id string) bool { return isText(id, MaxNode) }

func isToken(text string, limit int) bool {
	return text != "" && len(text) <= limit && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

func isText(text string, limit int) bool {
	return text != "" && len(text) <= limit && utf8.ValidString(text) &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}
