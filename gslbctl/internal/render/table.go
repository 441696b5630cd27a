package render

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Tone is the colour of a cell.
type Tone int

// The tones.
const (
	Plain Tone = iota
	Good
	Warn
	Bad
	Dim // less important
)

// Paint colors a text (ECMA-48 SGR) if colors are enabled.
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

// Cell is a cell of a table.
type Cell struct {
	Text string
	Tone Tone
}

// C returns a cell in the default colour.
func C(text string) Cell { return Cell{Text: text} }

// Column describes a column. Right aligns the column to the right, for numbers. Wide shows the column only in wide
// tables. A narrow terminal omits columns with a Spare above 0, the highest value first.
type Column struct {
	Name  string
	Right bool
	Wide  bool
	Spare int
}

// Table is a header and rows. A table without rows prints Empty.
type Table struct {
	Columns []Column
	Rows    [][]Cell
	Empty   string

	names []string
}

// gap separates two columns.
const gap = "  "

// Add adds a row, one cell for each column.
func (t *Table) Add(cells ...Cell) { t.Rows = append(t.Rows, cells) }

// Name adds the object name of the following rows.
func (t *Table) Name(name string) { t.names = append(t.names, name) }

// IDs returns the object names.
func (t *Table) IDs() []string { return t.names }

// AddNamed adds a row with an object name.
func (t *Table) AddNamed(name string, cells ...Cell) {
	t.Name(name)
	t.Add(cells...)
}

// Names returns the names of the objects, one per line.
func (t *Table) Names() string { return Lines(t.names) }

// only returns the table with the columns for which keep returns true.
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

// fitColumns returns the table with the columns that fit into a width, and the names of the omitted columns. It omits
// columns by Spare and keeps columns without Spare.
func (t *Table) fitColumns(width int) (fitted *Table, left []string) {
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

// Style describes the form of a table.
type Style struct {
	Colour bool
	Wide   bool // with wide columns
	// Width is the width of the terminal in columns. A narrow table omits columns with a Spare and lists them in a line
	// below. 0 means no limit.
	Width int
}

// Text returns the table as lines with aligned columns.
func (t *Table) Text(style Style) string {
	if len(t.Rows) == 0 {
		return t.Empty + "\n"
	}
	if !style.Wide {
		columns := t.Columns
		t = t.only(func(i int) bool { return !columns[i].Wide })
	}
	var left []string
	if style.Width > 0 {
		t, left = t.fitColumns(style.Width)
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
	return b.String()
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

// line returns a row without trailing blanks. The padding is outside the color codes, because they have no width.
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
