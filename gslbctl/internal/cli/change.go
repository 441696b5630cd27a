package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// nothingChanged ends the sentence of a change that no node has made.
const nothingChanged = "nothing was changed"

// changed is the result of a change on one node.
type changed struct {
	Node    string `json:"node"`
	Success bool   `json:"success"`
	Message string `json:"message"`
}

// request makes a change on one node. It returns a sentence about what was done.
type request = question[string]

// change makes a change on every node and prints each result. A node without the object is a
// failure only if no other node had it.
func (a *app) change(ctx context.Context, apply request) error { return a.changeAll(ctx, apply, true) }

func (a *app) changeAll(ctx context.Context, apply request, say bool) error {
	replies, err := onAll(ctx, a, "changing %s", apply)
	if err != nil {
		return err
	}
	for i := range replies {
		if _, most := errors.AsType[*someUnknown](replies[i].err); most {
			replies[i].err = nil
		}
	}
	if len(replies) == 1 && replies[0].err != nil {
		return unchanged(replies[0].err)
	}
	report := make([]changed, 0, len(replies))
	done, missing, unsure := 0, 0, 0
	var refusal error
	for _, r := range replies {
		line := changed{Node: r.node, Success: r.err == nil, Message: r.answer}
		refused, answered := errors.AsType[*api.Error](r.err)
		switch {
		case r.err == nil:
			done++
		case answered && refused.Status == http.StatusNotFound:
			missing++
		}
		if r.err != nil {
			_, line.Message = nodeReason(r.node, r.err)
			if !certain(r.err) {
				unsure++
			}
		}
		if answered {
			refusal = refused
		}
		report = append(report, line)
	}
	if say {
		if err := a.print(report, func() string { return changesText(report) }); err != nil {
			return err
		}
	}
	nodes := render.Count(len(replies), "node", "nodes")
	switch {
	case done == 0 && unsure == 0:
		return &outcome{exitDegraded, nothingChanged, refusal}
	case done == 0:
		return &outcome{exitDegraded, "no node has confirmed the change: look before you repeat it", refusal}
	case done+missing < len(replies):
		return &outcome{exitDegraded, fmt.Sprintf("changed on %d of %s; repeat it for the others", done, nodes), refusal}
	}
	return nil
}

// unchanged returns the error of the only node that was asked, with a remark about what it has done: nothing if that is
// certain.
func unchanged(err error) error {
	_, sentence := explain(err)
	_, some := errors.AsType[*partial](err)
	switch {
	case some || certain(err) && strings.Contains(sentence, nothingChanged):
		return err
	case certain(err):
		return untouched(err)
	}
	return &outcome{exitDegraded, sentence + "; it may have made the change: look before you repeat it", err}
}

// untouched returns the error of a question that precedes a change, with the remark that nothing was changed.
func untouched(err error) error {
	code, sentence := explain(err)
	return &outcome{code, sentence + "; " + nothingChanged, err}
}

// partial is the error of a change of several objects on one node, some of which were changed before it.
type partial struct {
	done string // what was done, as a sentence
	err  error
}

func (p *partial) Error() string { return p.then(p.err.Error()) }

func (p *partial) Unwrap() error { return p.err }

// then returns the sentence about the change, given the one about its end. A node that refuses the rest may say that
// nothing was changed, which is not about the whole.
func (p *partial) then(end string) string {
	return p.done + "; then: " + strings.Replace(end, nothingChanged+": ", "", 1)
}

// after returns the error of a change of several objects, of which so many were changed before err, as done says.
func after(changed int, done string, err error) error {
	if changed == 0 {
		return err
	}
	return &partial{done, err}
}

// certain reports whether a failed change has certainly changed nothing: the node refused it, or was not reached.
func certain(err error) bool {
	if _, some := errors.AsType[*partial](err); some {
		return false
	}
	if refused, ok := errors.AsType[*api.Error](err); ok {
		return refused.Status < http.StatusInternalServerError || refused.Status == http.StatusServiceUnavailable ||
			refused.Status == http.StatusInsufficientStorage || refused.Status == http.StatusNotImplemented
	}
	if silent, asked := errors.AsType[*api.UnreachableError](err); asked {
		return !silent.Reached
	}
	return true // the request was never sent
}

// nodeReason returns the node that an error is about, node unless the error names one, and the reason as a sentence
// without the node's name.
func nodeReason(node string, err error) (from, sentence string) {
	if some, ok := errors.AsType[*partial](err); ok {
		from, sentence = nodeReason(node, some.err)
		return from, some.then(sentence)
	}
	if refused, ok := errors.AsType[*api.Error](err); ok {
		return node, cmp.Or(refused.Message, http.StatusText(refused.Status)) + nextStep(refused)
	}
	if silent, ok := errors.AsType[*api.UnreachableError](err); ok {
		if errors.Is(err, syscall.ECONNREFUSED) {
			return strings.TrimSuffix(silent.Node, "/"), "nothing listens there"
		}
		return strings.TrimSuffix(silent.Node, "/"), "no answer: " + silent.Err.Error()
	}
	_, sentence = explain(err)
	return node, sentence
}

// changesText returns the results of a change, one line for all nodes with the same result.
func changesText(report []changed) string { return render.Lines(mergedLines(report, false)) }

// mergedLines returns a line for each different result, which begins with the names of its nodes. If all nodes have the
// same result, the line begins with their number, or with nothing for a single node; with named it has their names too.
func mergedLines(report []changed, named bool) (lines []string) {
	groups := grouped(report, func(r changed) string { return r.Message })
	for _, nodes := range groups {
		message := nodes[0].Message
		switch {
		case len(report) == 1 && !named:
			lines = append(lines, message)
		case len(groups) == 1 && !named:
			lines = append(lines, fmt.Sprintf("all %d nodes: %s", len(report), message))
		default:
			names := each(nodes, func(r changed) string { return r.Node })
			lines = append(lines, strings.Join(names, ", ")+": "+message)
		}
	}
	return lines
}
