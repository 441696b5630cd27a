package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// The output formats.
const (
	outputTable = "table"
	outputWide  = "wide" // a table with all its columns
	outputName  = "name" // the names alone, of lists
	outputJSON  = "json"
	outputYAML  = "yaml"
)

func outputs() []string {
	return []string{outputTable, outputWide, outputName, outputJSON, outputYAML}
}

// checkFlags checks the values of the shared flags before a command runs.
func (a *app) checkFlags(cmd *cobra.Command) error {
	if !slices.Contains(outputs(), a.output) {
		return fmt.Errorf("--output is %q: it must be one of %s", a.output, strings.Join(outputs(), ", "))
	}
	if a.output == outputName && cmd.Annotations[isList] == "" {
		return fmt.Errorf("-o %s is for lists, and %s is none: use another format", outputName, cmd.CommandPath())
	}
	if a.timeout <= 0 {
		return fmt.Errorf("--timeout is %s: it must be above zero, such as 10s", a.timeout)
	}
	return nil
}

// question asks one node.
type question[T any] = func(context.Context, *api.Client) (T, error)

// read asks one node after the other and returns the first answer, which may be a node's error. The next node is asked
// only if the one before cannot be reached.
func read[T any](ctx context.Context, a *app, ask question[T]) (T, error) {
	answer, silent, err := first(a, "asking ", func(c *api.Client) (T, error) { return ask(ctx, c) },
		func(error) bool { return ctx.Err() == nil })
	if silent != nil {
		err = noAnswer(silent)
	}
	return answer, err
}

// tellOne makes a change on the first node that can be reached. It tells the next one only if the node before has
// certainly not been told.
func tellOne[T any](ctx context.Context, a *app, apply question[T]) (T, error) {
	answer, silent, err := first(a, "changing ", func(c *api.Client) (T, error) { return apply(ctx, c) }, certain)
	switch {
	case silent != nil:
		err = untouched(noAnswer(silent))
	case err != nil:
		err = unchanged(err)
	}
	return answer, err
}

// first calls a node after the other, and returns the first result. It goes on where the node could not be reached and
// next allows it after that error. silent is why none of them was reached; nil where one was.
func first[T any](a *app, doing string, call func(*api.Client) (T, error), next func(error) bool) (answer T,
	silent []error, err error) {
	clients, err := a.clients()
	if err != nil {
		return answer, nil, err
	}
	for _, c := range clients {
		stop := a.progress(doing + c.Node())
		answer, err = call(c)
		stop()
		if _, unreachable := errors.AsType[*api.UnreachableError](err); !unreachable || !next(err) {
			return answer, nil, err
		}
		silent = append(silent, err)
	}
	return answer, silent, nil
}

// just converts a client's method without arguments to a question.
func just[T any](method func(*api.Client, context.Context) (T, error)) question[T] {
	return func(ctx context.Context, c *api.Client) (T, error) { return method(c, ctx) }
}

// with converts a client's method with one argument to a question.
func with[T, About any](method func(*api.Client, context.Context, About) (T, error), about About) question[T] {
	return func(ctx context.Context, c *api.Client) (T, error) { return method(c, ctx, about) }
}

// noAnswer joins the errors of nodes that did not answer into one sentence.
func noAnswer(silent []error) error {
	if len(silent) == 1 {
		return silent[0]
	}
	lines := make([]changed, 0, len(silent))
	for _, err := range silent {
		node, sentence := nodeReason("", err)
		lines = append(lines, changed{Node: node, Message: sentence})
	}
	return &outcome{code: exitNotAsked, sentence: fmt.Sprintf("none of %d nodes answers: %s", len(silent),
		strings.Join(mergedLines(lines, true), "; "))}
}

// reply is the answer of one node to a request that went to all.
type reply[T any] struct {
	node   string
	answer T
	err    error
}

// everywhere asks all nodes at once and returns their replies in the order in which the nodes were
// given.
func everywhere[T any](ctx context.Context, clients []*api.Client, ask question[T]) []reply[T] {
	replies := make([]reply[T], len(clients))
	atOnce(len(clients), func(i int) {
		answer, err := ask(ctx, clients[i])
		replies[i] = reply[T]{clients[i].Node(), answer, err}
	})
	return replies
}

// onAll asks all nodes at once. what describes that for people, with %s for the number of nodes.
func onAll[T any](ctx context.Context, a *app, what string, ask question[T]) ([]reply[T], error) {
	clients, err := a.clients()
	if err != nil {
		return nil, err
	}
	defer a.progress(fmt.Sprintf(what, render.Count(len(clients), "node", "nodes")))()
	return everywhere(ctx, clients, ask), nil
}

// askingAll is the description of a question to all nodes.
const askingAll = "asking %s"

// atOnce calls do n times concurrently and waits for all calls. A panic of a call continues in the
// caller, which can give a terminal back.
func atOnce(n int, do func(i int)) {
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

// print writes a value in the chosen format. text returns it for people, ready to be printed.
func (a *app) print(value any, text func() string) error {
	switch a.output {
	case outputJSON:
		return written(render.JSON(a.Out, value))
	case outputYAML:
		return written(render.YAML(a.Out, value))
	}
	return a.say(text())
}

// list writes a list in the chosen format. t is the list for people, with its names.
func (a *app) list(value any, t *render.Table) error {
	if a.output == outputName {
		return a.say(t.Names())
	}
	return a.print(value, a.table(t))
}

// entry writes one element of a stream: in JSON a line, in YAML an element of a list. line returns
// it for people.
func (a *app) entry(value any, name string, line func() string) error {
	switch a.output {
	case outputJSON:
		return written(json.NewEncoder(a.Out).Encode(value))
	case outputYAML:
		return written(render.YAML(a.Out, []any{value}))
	case outputName:
		return a.say(render.Printable(name) + "\n")
	}
	return a.say(render.Printable(line()) + "\n")
}

// say writes a text to standard output.
func (a *app) say(text string) error {
	_, err := io.WriteString(a.Out, text)
	return written(err)
}

// written wraps an error of writing the output.
func written(err error) error {
	if err != nil {
		return &outcome{code: exitDegraded, sentence: "writing the output: " + err.Error()}
	}
	return nil
}

// colour reports whether the output may be coloured (no-color.org).
func (a *app) colour() bool {
	return a.Terminal && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
}

// table returns a function with the text of a table, for print.
func (a *app) table(t *render.Table) func() string { return func() string { return a.text(t) } }

func (a *app) text(t *render.Table) string {
	return t.Text(render.Style{Colour: a.colour(), Wide: a.output == outputWide, Width: a.room()})
}

// room returns the width that tables must fit, 0 for any: in a pipe, with -o wide, and on the live
// screen, which scrolls sideways.
func (a *app) room() int {
	if !a.Terminal || a.Width == nil || a.output == outputWide || a.quiet {
		return 0
	}
	return a.Width()
}
