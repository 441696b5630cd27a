package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// The output formats.
const (
	outputTable = "table"
	outputJSON  = "json"
	outputYAML  = "yaml"
)

func outputs() []string { return []string{outputTable, outputJSON, outputYAML} }

// checkFlags refuses values of the shared flags before any command acts.
func (a *app) checkFlags() error {
	if !slices.Contains(outputs(), a.output) {
		return fmt.Errorf("--output is %q: it must be one of %s", a.output, strings.Join(outputs(), ", "))
	}
	if a.timeout <= 0 {
		return fmt.Errorf("--timeout is %s: it must be above zero, such as 10s", a.timeout)
	}
	return nil
}

// clients returns a client for each node that was named, in that order.
func (a *app) clients() ([]*api.Client, error) {
	names := a.nodes
	if len(names) == 0 {
		names = strings.FieldsFunc(a.Getenv(environmentNodes), func(r rune) bool { return r == ',' || r == ' ' })
	}
	if len(names) == 0 {
		names = []string{api.DefaultAddress}
	}
	var list []*api.Client
	for _, name := range names {
		c, err := api.NewClient(api.ClientOptions{Node: name, Timeout: a.timeout, UserAgent: "gslbctl/" + a.Build.Version})
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(list, func(other *api.Client) bool { return other.Node() == c.Node() }) {
			list = append(list, c)
		}
	}
	return list, nil
}

// read asks the first node that answers. An answer that is an error is an
// answer.
func read[T any](ctx context.Context, a *app, ask func(context.Context, *api.Client) (T, error)) (T, error) {
	var none T
	clients, err := a.clients()
	if err != nil {
		return none, err
	}
	var silent []error
	for _, c := range clients {
		answer, err := ask(ctx, c)
		if _, unreachable := errors.AsType[*api.UnreachableError](err); !unreachable || ctx.Err() != nil {
			return answer, err
		}
		silent = append(silent, err)
	}
	return none, noAnswer(silent)
}

// noAnswer is one sentence about all nodes that were silent.
func noAnswer(silent []error) error {
	if len(silent) == 1 {
		return silent[0]
	}
	var sentences []string
	for _, err := range silent {
		sentences = append(sentences, err.Error())
	}
	return &outcome{exitNotAsked, fmt.Sprintf("none of %d nodes answers: %s", len(silent), strings.Join(sentences, "; "))}
}

// reply is what one node said to a request that went to all.
type reply[T any] struct {
	node   string
	answer T
	err    error
}

// everywhere asks all nodes at once and returns their replies in the order in
// which the nodes were named.
func everywhere[T any](ctx context.Context, clients []*api.Client, ask func(context.Context, *api.Client) (T, error)) []reply[T] {
	replies := make([]reply[T], len(clients))
	var all sync.WaitGroup
	for i, c := range clients {
		all.Go(func() {
			answer, err := ask(ctx, c)
			replies[i] = reply[T]{c.Node(), answer, err}
		})
	}
	all.Wait()
	return replies
}

// changed is the report of a change on one node.
type changed struct {
	Node    string `json:"node"`
	Success bool   `json:"success"`
	Message string `json:"message"`
}

// change makes a change on every node and reports each. A node that does not
// have the object is a failure only if no other node had it.
func (a *app) change(ctx context.Context, apply func(context.Context, *api.Client) (string, error)) error {
	clients, err := a.clients()
	if err != nil {
		return err
	}
	replies := everywhere(ctx, clients, apply)
	if len(replies) == 1 && replies[0].err != nil {
		return replies[0].err
	}
	report := make([]changed, 0, len(replies))
	done, missing, failed := 0, 0, 0
	for _, r := range replies {
		line := changed{Node: r.node, Success: r.err == nil, Message: r.answer}
		switch refused, ok := errors.AsType[*api.Error](r.err); {
		case r.err == nil:
			done++
		case ok && refused.Status == http.StatusNotFound:
			missing++
			line.Message = refused.Message
		default:
			failed++
			_, line.Message = verdict(r.err)
		}
		report = append(report, line)
	}
	if err := a.print(report, func() error { return a.printChanges(report) }); err != nil {
		return err
	}
	if failed > 0 || done == 0 {
		return &outcome{exitDegraded, fmt.Sprintf("changed on %d of %s; repeat it for the others", done, render.Count(len(replies), "node", "nodes"))}
	}
	return nil
}

func (a *app) printChanges(report []changed) error {
	for _, line := range report {
		text := render.Printable(line.Message)
		if len(report) > 1 {
			text = line.Node + ": " + text
		}
		if _, err := fmt.Fprintln(a.Out, text); err != nil {
			return err
		}
	}
	return nil
}

// print writes a value in the format that was asked for; table writes it for
// people.
func (a *app) print(value any, table func() error) error {
	var err error
	switch a.output {
	case outputJSON:
		err = render.JSON(a.Out, value)
	case outputYAML:
		err = render.YAML(a.Out, value)
	default:
		err = table()
	}
	if err != nil {
		return &outcome{exitDegraded, "writing the output: " + err.Error()}
	}
	return nil
}

// colour reports whether the output may be coloured (no-color.org).
func (a *app) colour() bool {
	return a.Terminal && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
}

func (a *app) table(t *render.Table) func() error {
	return func() error { return t.Write(a.Out, a.colour()) }
}
