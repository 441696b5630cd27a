package fleet

import (
	"context"
	"fmt"
	"strings"
)

// Asked is the record of a queried node in the output of a command.
type Asked struct {
	Node  string `json:"node"`
	Error string `json:"error,omitempty"` // reason for a missing answer
	Err   error  `json:"-"`               // the cause of Error
}

// Gathered has the answers of several nodes, in the order of the nodes.
type Gathered[T any] struct {
	Answers []Answer[T] // of the nodes that returned a result
	Nodes   []Asked     // of all nodes
}

// Gather sends a request to all nodes concurrently. It returns an error if no node returns a result.
func Gather[T any](ctx context.Context, f *Fleet, ask Request[T]) (Gathered[T], error) {
	var g Gathered[T]
	answers, err := AskAll(ctx, f, Asking, ask)
	if err != nil {
		return g, err
	}
	var unreachable []error
	for _, a := range answers {
		n := Asked{Node: a.Node, Err: a.Err}
		if a.Err == nil {
			g.Answers = append(g.Answers, a)
		} else {
			err = a.Err
			if _, n.Error = Explain(a.Err); !strings.Contains(n.Error, a.Node) {
				n.Error = a.Node + ": " + n.Error
			}
		}
		if IsUnreachable(a.Err) {
			unreachable = append(unreachable, a.Err)
		}
		g.Nodes = append(g.Nodes, n)
	}
	switch {
	case len(g.Answers) > 0:
		return g, nil
	case len(unreachable) == len(answers):
		return g, ErrNoAnswer(unreachable)
	}
	return g, err
}

// GatherKnown is Gather for an object that some nodes do not have. A node that answers 404 counts as answered. If all
// nodes answer 404, GatherKnown returns this error.
func GatherKnown[T any](ctx context.Context, f *Fleet, ask Request[T]) (Gathered[T], error) {
	g, err := Gather(ctx, f, ask)
	var unknown error
	for i := range g.Nodes {
		if n := &g.Nodes[i]; IsNotFound(n.Err) {
			unknown, n.Error = n.Err, ""
		}
	}
	if unknown == nil || len(g.Answers) > 0 {
		return g, err
	}
	if missing := g.Missing(); missing != nil {
		code, message := Explain(unknown)
		return g, &Error{code, message + "; " + missing.Error(), unknown}
	}
	return g, unknown
}

// Several reports whether several nodes received the request. Table rows then contain the name of the node.
func (g *Gathered[T]) Several() bool { return len(g.Nodes) > 1 }

// Missing returns an error that lists the nodes without an answer, or nil if all nodes answered.
func (g *Gathered[T]) Missing() error {
	var missing []string
	for _, n := range g.Nodes {
		if n.Error != "" {
			missing = append(missing, n.Error)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return &Error{Code: Degraded, Message: fmt.Sprintf("%d of %d nodes %s missing here: %s", len(missing),
		len(g.Nodes), Plural(len(missing), "is", "are"), strings.Join(missing, "; "))}
}

// Done returns the error of a command: the error of writing its output, else Missing.
func (g *Gathered[T]) Done(written error) error {
	if written != nil {
		return written
	}
	return g.Missing()
}

// Plural returns the text for a number: the singular for 1, or else the plural.
func Plural(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}
