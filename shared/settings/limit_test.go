package settings // inside: it uses document, newDecoder and parseYAML

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// decodeText decodes a text as Load decodes a file.
func decodeText(text string) (*Report, sample) {
	report := newReport()
	doc := &document{path: "x"}
	report.documents = []*document{doc}
	var problems Problems
	doc.root, problems = parseYAML(text)
	for _, p := range problems {
		report.append(p)
	}
	var s sample
	newDecoder(report).decode(doc, reflect.ValueOf(&s).Elem())
	return report, s
}

func TestLimits_HostileTextIsRefusedAtOnce(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := range 12 {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 9),
			", "))
	}
	var merges strings.Builder
	merges.WriteString("m0: &m0 {a: 1}\n")
	for i := range 12 {
		list := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*m%d, ", i), 9), ", ")
		fmt.Fprintf(&merges, "m%d: &m%d {<<: [%s]}\n", i+1, i+1, list)
	}
	tests := []struct{ name, text, want string }{
		{"aliases of aliases", bomb.String(), "repeat more than 10"},
		{"merges of merges", merges.String(), "repeat more than 10"},
		{"nested flow", "a: " + strings.Repeat("[", 100) + strings.Repeat("]", 100), "nested more than 64 deep"},
		{"nested flow without end", strings.Repeat("[", 1<<20), "nested more than 64 deep"},
		{"nested blocks", nestedBlocks(100), "nested more than 64 deep"},
		{"merge of itself", "a: &a {<<: *a, b: 1}\n", "the alias *a is inside its own anchor"},
		{"a list of itself", "a: &a [b, *a]\n", "the alias *a is inside its own anchor"},
		{"aliases of a long list", "a: &a [" + strings.Repeat("x,", 4000) + "]\nb: [*a, *a, *a, *a, *a]\n",
			"repeat more than 12"},
		{"too large for YAML", "a: " + strings.Repeat("x", maxYAML), "YAML may have 67108864: write long lists as JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			report, _ := decodeText(tt.text)
			if len(report.problems) == 0 || !strings.Contains(report.problems[0].Message, tt.want) {
				t.Errorf("problems %v, want %q", report.problems, tt.want)
			}
		})
	}
}

func TestLoadText_ListsTakeABoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("64 MiB of text take the race detector a quarter of a minute: make test-all runs it without")
	}
	var s sample
	entries := maxTextLists/int(reflect.TypeFor[site]().Size()) + 1
	text := "mode: overwatch\nsites: [" + strings.TrimSuffix(strings.Repeat("{},", entries), ",") + "]\n"
	err := LoadText(text, &s, Options{Mode: "overwatch"})
	if err == nil || !strings.Contains(err.Error(), "take more than 64 MiB") {
		t.Errorf("%d entries: %v", entries, err)
	}
}

func nestedBlocks(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// An alias bomb takes no more memory than its text: the converter counts the expanded size without expanding aliases.
func TestLimits_AliasBombTakesNoMemory(t *testing.T) {
	text := "regions: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := range 12 {
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 9),
			", "))
	}
	octets := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = parseYAML(text)
		}
	}).AllocedBytesPerOp()
	if octets > 1<<20 {
		t.Errorf("a text of %d octets took %d octets of memory", len(text), octets)
	}
}

// The aliases of a file with many servers are within the bounds: each server has a check of eight values by an alias.
func TestLimits_AliasInEachOfManyEntriesIsFine(t *testing.T) {
	text := "mode: test\nsites:\n- {name: a, check: &c {type: x}}\n" + strings.Repeat("- {name: site, port: 80, "+
		"check: *c}\n", 30_000)
	report, s := decodeText(text)
	if len(report.problems) != 0 || len(s.Sites) != 30_001 || s.Sites[30_000].Check.Type != "x" {
		t.Errorf("%d sites, problems %v", len(s.Sites), report.problems)
	}
}

func TestLimits_FileBeyondTheLimitIsNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "main.yaml")
	write(t, path, "mode: test\n", 0o600)
	if err := os.Truncate(path, maxFile+1); err != nil { // a sparse file, without data on disk
		t.Fatal(err)
	}
	var s sample
	err := Load(path, &s, Options{Mode: "test"})
	if err == nil || !strings.HasSuffix(err.Error(), "has more than 134217728 octets, which is the limit") {
		t.Errorf("got %v", err)
	}
}

// For any text, the parser neither panics nor hangs, and every problem is a line with a position.
func FuzzDecode(f *testing.F) {
	for _, text := range yamlTexts {
		f.Add(text)
	}
	f.Add("mode: test\nserver: {name: a, count: 1, key: x, tokens: {a.b: c}, policies: {x: {networks: [10.0.0.0/8]}}}\n")
	f.Add("sites:\n- &a {name: x, address: ::1, port: 1, check: {}}\n- {<<: *a, weight: 2}\n- <<: [*a, {height: " +
		"1.5}]\n- just a name\n")
	f.Add("server: {key_file: x, share: 1e3, interval: 5s, enabled: true}\nlisten: [\":53\"]\nincludes: [x*]\n? {a: " +
		"b}\n: c\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 {
			return
		}
		report, _ := decodeText(text)
		for _, p := range report.problems {
			if strings.ContainsAny(p.String(), "\n") {
				t.Errorf("text %q: problem of several lines: %q", text, p)
			}
		}
		for _, key := range []string{"server.name", `server.tokens["a.b"]`, "sites[1].port", "[0]",
			"sites[9999999999999999999]"} {
			report.Locate(key)
		}
	})
}
