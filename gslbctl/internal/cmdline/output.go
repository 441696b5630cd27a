package cmdline

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/gslbctl/internal/render"
)

// ForPeople reports whether the output format is for people. The other formats are for programs.
func (a *App) ForPeople() bool { return a.Output == Table || a.Output == Wide }

// IsList is the annotation of commands that print a list.
const IsList = "list"

// The output formats.
const (
	Table = "table"
	Wide  = "wide" // a table with all its columns
	Name  = "name" // only the names, for lists
	JSON  = "json"
	YAML  = "yaml"
)

func Formats() []string {
	return []string{Table, Wide, Name, JSON, YAML}
}

// CheckFlags checks the values of the shared flags before a command runs.
func (a *App) CheckFlags(cmd *cobra.Command) error {
	if !slices.Contains(Formats(), a.Output) {
		return fmt.Errorf("--output is %q: it must be one of %s", a.Output, strings.Join(Formats(), ", "))
	}
	if a.Output == Name && cmd.Annotations[IsList] == "" {
		return fmt.Errorf("-o %s is for lists, and %s is not a list: use another format", Name, cmd.CommandPath())
	}
	if a.Timeout <= 0 {
		return fmt.Errorf("--timeout is %s: it must be above zero, such as 10s", a.Timeout)
	}
	return a.checkPeerWait(cmd)
}

// Print writes a value in the selected format. text returns the complete output for people.
func (a *App) Print(value any, text func() string) error {
	switch a.Output {
	case JSON:
		return written(render.JSON(a.Out, value))
	case YAML:
		return written(render.YAML(a.Out, value))
	}
	return a.Write(text())
}

// List writes a list in the selected format. t is the table for people; it also contains the names for -o name.
func (a *App) List(value any, t *render.Table) error {
	if a.Output == Name {
		return a.Write(t.Names())
	}
	return a.Print(value, a.Table(t))
}

// Entry writes one element of a stream: a JSON line, or a YAML list element. line returns the element for people.
func (a *App) Entry(value any, name string, line func() string) error {
	switch a.Output {
	case JSON:
		return written(json.NewEncoder(a.Out).Encode(value))
	case YAML:
		return written(render.YAML(a.Out, []any{value}))
	case Name:
		return a.Write(render.Printable(name) + "\n")
	}
	return a.Write(render.Printable(line()) + "\n")
}

// Write writes a text to standard output.
func (a *App) Write(text string) error {
	_, err := io.WriteString(a.Out, text)
	return written(err)
}

// written wraps an error of writing the output.
func written(err error) error {
	if err != nil {
		return &fleet.Error{Code: fleet.Degraded, Message: "writing the output: " + err.Error()}
	}
	return nil
}

// Color reports whether the output may be coloured (no-color.org).
func (a *App) Color() bool {
	return a.Terminal && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
}

// Table returns a function that returns the text of a table, for Print.
func (a *App) Table(t *render.Table) func() string { return func() string { return a.Text(t) } }

func (a *App) Text(t *render.Table) string {
	return t.Text(render.Style{Colour: a.Color(), Wide: a.Output == Wide, Width: a.tableWidth()})
}

// tableWidth returns the maximum width of tables. It returns 0 (unlimited) in a pipe, with -o wide, and on the live
// screen, which scrolls horizontally.
func (a *App) tableWidth() int {
	if !a.Terminal || a.Width == nil || a.Output == Wide || a.Quiet {
		return 0
	}
	return a.Width()
}
