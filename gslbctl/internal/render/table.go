package render

import (
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Tone is how a cell looks where colours are allowed.
type Tone int

// The tones.
const (
	Plain Tone = iota
	Good
	Warn
	Bad
	Dim // of less weight than the rest
)

// Paint colours a text (ECMA-48 SGR), if colours are allowed.
func Paint(text string, tone Tone, colour bool) string {
	if !colour {
		return text
	}
	var style ansi.Style
	switch tone {
	case Good:
		style = style.ForegroundColor(ansi.Green)
	case Warn:
		style = style.ForegroundColor(ansi.Yellow)
	case Bad:
		style = style.ForegroundColor(ansi.Red)
	case Dim:
		style = style.Faint()
	case Plain:
	}
	return style.Styled(text)
}

// Cell is one cell of a table.
type Cell struct {
	Text string
	Tone Tone
}

// C is a plain cell.
func C(text string) Cell { return Cell{Text: text} }

// Column is the head of a column. Numbers stand on the right; what few people
// want is shown in wide tables only. Spare is above 0 for what may be left out
// where a terminal is too narrow; the lower it is, the sooner there is room.
type Column struct {
	Name  string
	Right bool
	Wide  bool
	Spare int
}

// Table is rows under a head. Empty is the line that stands for a table
// without rows.
type Table struct {
	Columns []Column
	Rows    [][]Cell
	Empty   string

	names []string
}

// gap is what separates two columns.
const gap = "  "

// Add adds a row, one cell for each column.
func (t *Table) Add(cells ...Cell) { t.Rows = append(t.Rows, cells) }

// AddNamed adds a row about something that has a name.
func (t *Table) AddNamed(name string, cells ...Cell) {
	t.names = append(t.names, name)
	t.Add(cells...)
}

// WriteNames writes the names of the rows, one a line.
func (t *Table) WriteNames(w io.Writer) error {
	var b strings.Builder
	for _, name := range t.names {
		b.WriteString(Printable(name) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// only is the table with the columns that keep says yes to.
func (t *Table) only(keep func(i int) bool) *Table {
	n := &Table{Empty: t.Empty, Rows: make([][]Cell, len(t.Rows))}
	for i, column := range t.Columns {
		if !keep(i) {
			continue
		}
		n.Columns = append(n.Columns, column)
		for k, row := range t.Rows {
			n.Rows[k] = append(n.Rows[k], row[i])
		}
	}
	return n
}

// fit is the table with the columns for which there is room in a width, the
// most important first, and the names of those that are left out. What cannot
// be spared stays, whatever the width.
func (t *Table) fit(width int) (fitted *Table, left []string) {
	widths := t.widths(append([][]Cell{t.head()}, t.Rows...))
	used, spare := -len(gap), []int(nil)
	for i, column := range t.Columns {
		if column.Spare > 0 {
			spare = append(spare, i)
		} else {
			used += len(gap) + widths[i]
		}
	}
	slices.SortStableFunc(spare, func(x, y int) int { return t.Columns[x].Spare - t.Columns[y].Spare })
	spare = slices.DeleteFunc(spare, func(i int) bool {
		needs := len(gap) + widths[i]
		fits := used+needs <= width
		if fits {
			used += needs
		}
		return fits
	})
	for i, column := range t.Columns {
		if slices.Contains(spare, i) {
			left = append(left, column.Name)
		}
	}
	return t.only(func(i int) bool { return !slices.Contains(spare, i) }), left
}

func (t *Table) head() []Cell {
	head := make([]Cell, len(t.Columns))
	for i, column := range t.Columns {
		head[i] = C(column.Name)
	}
	return head
}

// Style is how a table is written.
type Style struct {
	Colour bool
	Wide   bool // with its wide columns
	// Width is that of the terminal in columns: what can be spared and does not
	// fit is left out, and a line below says so. 0: there is no limit.
	Width int
}

// Write writes the table with its columns aligned.
func (t *Table) Write(w io.Writer, style Style) error {
	if len(t.Rows) == 0 {
		_, err := io.WriteString(w, t.Empty+"\n")
		return err
	}
	if !style.Wide {
		columns := t.Columns
		t = t.only(func(i int) bool { return !columns[i].Wide })
	}
	var left []string
	if style.Width > 0 {
		t, left = t.fit(style.Width)
	}
	rows := append([][]Cell{t.head()}, t.Rows...)
	widths := t.widths(rows)
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(t.line(row, widths, style.Colour))
		b.WriteByte('\n')
	}
	if len(left) > 0 {
		b.WriteString(Paint("no room for "+strings.Join(left, ", ")+"; -o wide shows all", Dim, style.Colour) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Table) widths(rows [][]Cell) []int {
	widths := make([]int, len(t.Columns))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], ansi.StringWidth(Printable(cell.Text)))
		}
	}
	return widths
}

// line pads around the colour, so that escapes do not count as width, and
// leaves no blanks at the end.
func (t *Table) line(row []Cell, widths []int, colour bool) string {
	var b strings.Builder
	for i, cell := range row {
		text := Printable(cell.Text)
		pad := strings.Repeat(" ", widths[i]-ansi.StringWidth(text))
		painted := Paint(text, cell.Tone, colour)
		if t.Columns[i].Right {
			b.WriteString(pad + painted)
		} else {
			b.WriteString(painted + pad)
		}
		b.WriteString(gap)
	}
	return strings.TrimRight(b.String(), " ")
}
