package fleet

import (
	"fmt"
	"strings"

	"gslb.internal/gslbctl/internal/render"
)

// State is the state of a change on one node.
type State string

// The states of a change.
const (
	Applied  State = "applied"  // the node has the change
	Rejected State = "rejected" // the node has certainly not made the change
	Unknown  State = "unknown"  // the node has not confirmed the change
)

// Result is the result of a change on one node.
type Result struct {
	Node    string `json:"node"`
	Success bool   `json:"success"` // whether the state is Applied
	State   State  `json:"state"`
	Message string `json:"message"`
}

// applied returns the result of a node that has a change.
func applied(node, message string) Result { return Result{node, true, Applied, message} }

// unknown returns the result of a node that has not confirmed a change.
func unknown(node, message string) Result { return Result{node, false, Unknown, message} }

// failed returns the result of a change with an error: Rejected if the node certainly made no change, otherwise
// Unknown.
func failed(node string, err error) Result {
	_, message := NodeReason(node, err)
	if IsCertain(err) {
		return Result{node, false, Rejected, message}
	}
	return unknown(node, message)
}

// Report has the results of a change, one for each node.
type Report []Result

// count returns the number of results with a state.
func (r Report) count(state State) (n int) {
	for _, result := range r {
		if result.State == state {
			n++
		}
	}
	return n
}

// Text returns the results. Nodes with the same message share one line.
func (r Report) Text() string { return render.Lines(r.lines(false)) }

// lines returns a line for each distinct message. A line begins with the names of its nodes. If all nodes have the same
// message, the line begins with the number of nodes, or with the message if there is one node. With named, each line
// begins with names.
func (r Report) lines(named bool) (lines []string) {
	var messages []string
	nodes := map[string][]string{}
	for _, result := range r {
		if nodes[result.Message] == nil {
			messages = append(messages, result.Message)
		}
		nodes[result.Message] = append(nodes[result.Message], result.Node)
	}
	for _, message := range messages {
		switch {
		case len(r) == 1 && !named:
			lines = append(lines, message)
		case len(messages) == 1 && !named:
			lines = append(lines, fmt.Sprintf("all %d nodes: %s", len(r), message))
		default:
			lines = append(lines, strings.Join(nodes[message], ", ")+": "+message)
		}
	}
	return lines
}
