package render

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Tone is how a cell looks where colours are allowed.
type Tone int

// The tones.
const (
	Plain Tone = iota
	Good
	Warn
	Bad
)

// escapes are the colours of the tones (ECMA-48 SGR).
var escapes = [...]string{Plain: "", Good: "\x1b[32m", Warn: "\x1b[33m", Bad: "\x1b[31m"}

const reset = "\x1b[0m"

// Paint puts a text in its tone; without colour it stays as it is.
func Paint(text string, tone Tone, colour bool) string {
	if !colour || tone == Plain {
		return text
	}
	return escapes[tone] + text + reset
}

// Cell is one cell of a table.
type Cell struct {
	Text string
	Tone Tone
}

// C is a plain cell.
func C(text string) Cell { return Cell{Text: text} }

// Column is the head of a column. Numbers stand on the right; what few people
// want is shown in wide tables only.
type Column struct {
	Name  string
	Right bool
	Wide  bool
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

// narrow is the table without its wide columns.
func (t *Table) narrow() *Table {
	n := &Table{Empty: t.Empty, Rows: make([][]Cell, len(t.Rows))}
	for i, column := range t.Columns {
		if column.Wide {
			continue
		}
		n.Columns = append(n.Columns, column)
		for k, row := range t.Rows {
			n.Rows[k] = append(n.Rows[k], row[i])
		}
	}
	return n
}

// Style is how a table is written.
type Style struct {
	Colour bool
	Wide   bool // with its wide columns
}

// Write writes the table with its columns aligned.
func (t *Table) Write(w io.Writer, style Style) error {
	if len(t.Rows) == 0 {
		_, err := io.WriteString(w, t.Empty+"\n")
		return err
	}
	if !style.Wide {
		t = t.narrow()
	}
	head := make([]Cell, len(t.Columns))
	for i, column := range t.Columns {
		head[i] = C(column.Name)
	}
	rows := append([][]Cell{head}, t.Rows...)
	widths := t.widths(rows)
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(t.line(row, widths, style.Colour))
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Table) widths(rows [][]Cell) []int {
	widths := make([]int, len(t.Columns))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(Printable(cell.Text)))
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
		pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
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
