package check // inside: it reads kinds

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of the agent's manual")

// The manual of the agent lists the declared check types.
func TestReadme_ListsTheTypes(t *testing.T) {
	const path, begin, end = "../../agent/README.md", "<!-- check types", "\n<!-- end of check types -->"
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(content), begin)
	head, table, split := strings.Cut(rest, "\n")
	table, after, ended := strings.Cut(table, end)
	if !found || !split || !ended {
		t.Fatalf("%s has no table of the types of checks", path)
	}
	want := typesTable()
	if *update {
		text := before + begin + head + "\n" + want + end + after
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if table != want {
		t.Errorf("%s has the table\n%s\nwant\n%s\nwrite it with -update", path, table, want)
	}
}

// typesTable returns the table of the types. Types with the same condition share a row.
func typesTable() string {
	rows := []string{"| Type | A backend is healthy if, within `timeout`, |", "|---|---|"}
	for i := 0; i < len(kinds); {
		names := []string{}
		first := kinds[i].healthy
		for ; i < len(kinds) && kinds[i].healthy == first; i++ {
			names = append(names, fmt.Sprintf("`%s`", kinds[i].name))
		}
		rows = append(rows, fmt.Sprintf("| %s | %s |", strings.Join(names, ", "), first))
	}
	return strings.Join(append(rows, ""), "\n")
}
