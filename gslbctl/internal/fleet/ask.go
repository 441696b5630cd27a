package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// Request calls the API of a node.
type Request[T any] = func(context.Context, *api.Client) (T, error)

// Call returns the request that calls a method of the client.
func Call[T any](method func(*api.Client, context.Context) (T, error)) Request[T] {
	return func(ctx context.Context, c *api.Client) (T, error) { return method(c, ctx) }
}

// CallWith returns the request that calls a method of the client with an argument.
func CallWith[T, Argument any](method func(*api.Client, context.Context, Argument) (T, error),
	argument Argument) Request[T] {
	return func(ctx context.Context, c *api.Client) (T, error) { return method(c, ctx, argument) }
}

// First returns the result of the first node that answers, which can be an error of this node. It tries the next node
// only if a node is unreachable.
func First[T any](ctx context.Context, f *Fleet, ask Request[T]) (T, error) {
	value, unreachable, err := firstReachable(f, "asking ", func(c *api.Client) (T, error) { return ask(ctx, c) },
		func(error) bool { return ctx.Err() == nil })
	if unreachable != nil {
		err = ErrNoAnswer(unreachable)
	}
	return value, err
}

// ChangeFirst makes a change on the first reachable node. It tries the next node only if the previous node has
// certainly not received the request.
func ChangeFirst[T any](ctx context.Context, f *Fleet, apply Request[T]) (T, error) {
	value, unreachable, err := firstReachable(f, "changing ", func(c *api.Client) (T, error) { return apply(ctx, c) },
		IsCertain)
	switch {
	case unreachable != nil:
		err = Untouched(ErrNoAnswer(unreachable))
	case err != nil:
		err = Unchanged(err)
	}
	return value, err
}

// firstReachable calls the nodes in order and returns the first result. It tries the next node if a node is unreachable
// and retry accepts the error. unreachable has the errors of all nodes if no node was reachable; otherwise it is nil.
func firstReachable[T any](f *Fleet, doing string, call func(*api.Client) (T, error),
	retry func(error) bool) (value T, unreachable []error, err error) {
	clients, err := f.Clients()
	if err != nil {
		return value, nil, err
	}
	for _, c := range clients {
		stop := f.Progress(doing + c.Node())
		value, err = call(c)
		stop()
		if !IsUnreachable(err) || !retry(err) {
			return value, nil, err
		}
		unreachable = append(unreachable, err)
	}
	return value, unreachable, nil
}

// ErrNoAnswer joins the errors of unreachable nodes.
func ErrNoAnswer(unreachable []error) error {
	if len(unreachable) == 1 {
		return unreachable[0]
	}
	report := make(Report, 0, len(unreachable))
	for _, err := range unreachable {
		node, message := NodeReason("", err)
		report = append(report, Result{Node: node, Message: message})
	}
	return &Error{Code: NotAsked, Message: fmt.Sprintf("none of %d nodes answers: %s", len(unreachable),
		strings.Join(report.lines(true), "; "))}
}

// Answer is the result of a request to one of several nodes.
type Answer[T any] struct {
	Node  string
	Value T
	Err   error
}

// Asking is the progress text of a request to all nodes. It contains %s for the number of nodes.
const Asking = "asking %s"

// AskAll sends a request to all nodes concurrently. progress is a format text with %s for the number of nodes.
func AskAll[T any](ctx context.Context, f *Fleet, progress string, ask Request[T]) ([]Answer[T], error) {
	clients, err := f.Clients()
	if err != nil {
		return nil, err
	}
	defer f.Progress(fmt.Sprintf(progress, render.Count(len(clients), "node", "nodes")))()
	return AskClients(ctx, clients, ask), nil
}

// AskClients sends a request to nodes concurrently and returns the answers in the order of the nodes.
func AskClients[T any](ctx context.Context, clients []*api.Client, ask Request[T]) []Answer[T] {
	answers := make([]Answer[T], len(clients))
	ForEach(len(clients), func(i int) {
		value, err := ask(ctx, clients[i])
		answers[i] = Answer[T]{clients[i].Node(), value, err}
	})
	return answers
}

// ForEach calls do for 0 to n-1 concurrently and waits for all calls. It repeats the panic of a call in the goroutine
// of the caller, which can then restore the terminal.
func ForEach(n int, do func(i int)) {
	panics := make([]any, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			defer func() { panics[i] = recover() }()
			do(i)
		})
	}
	all.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
}

// IsUnreachable reports whether an error means that a node did not answer.
func IsUnreachable(err error) bool {
	_, unreachable := errors.AsType[*api.UnreachableError](err)
	return unreachable
}
