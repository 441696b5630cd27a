package settings

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// decodeText does with text what Load does with a file.
func decodeText(text string) *Report {
	report, _, _ := decodeIn(text, 1, perChunk)
	return report
}

// decodeIn is decodeText on several cores, with so many elements in a chunk; it returns what was read, too.
func decodeIn(text string, cores, perChunk int) (*Report, *document, sample) {
	report := &Report{given: map[string]Position{}, outside: map[string]Position{}, told: map[string]bool{}}
	parsed, problems := parse(text)
	for _, p := range problems {
		report.append(p)
	}
	doc := &document{path: "x", tree: parsed}
	report.documents = []*document{doc}
	d := newDecoder(report, cores)
	d.perChunk = perChunk
	var s sample
	d.decode(doc, reflect.ValueOf(&s).Elem())
	return report, doc, s
}

// A key is found by the one before it, as in the element before, or by its name.
func TestDecode_ElementsMayHaveTheirKeysInAnyOrder(t *testing.T) {
	s, problems := load(t, map[string]string{"main.yaml": `mode: test
sites:
- {name: a, address: 192.0.2.1, port: 1, weight: 1}
- {name: b, address: 192.0.2.2, port: 2, weight: 2}
- {weight: 3, port: 3, address: 192.0.2.3, name: c}
- {name: d, weight: 4}
- {port: 5, name: e, check: {type: http}}
- {port: 6, name: f, check: {}, weight: 6}
`})
	var got []string
	for _, x := range s.Sites {
		got = append(got, fmt.Sprint(x.Name, x.Address, x.Port, x.Weight, x.Check != nil))
	}
	want := []string{
		fmt.Sprint("a", netip.MustParseAddr("192.0.2.1"), 1, 1, false), fmt.Sprint("b", netip.MustParseAddr("192.0.2.2"), 2, 2, false),
		fmt.Sprint("c", netip.MustParseAddr("192.0.2.3"), 3, 3, false), fmt.Sprint("d", netip.Addr{}, 0, 4, false),
		fmt.Sprint("e", netip.Addr{}, 5, 100, true), fmt.Sprint("f", netip.Addr{}, 6, 6, true),
	}
	if problems != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, want %q; %q", got, want, problems)
	}
	_, problems = load(t, map[string]string{"main.yaml": "mode: test\nsites:\n- {name: a, port: 1}\n- {name: b, port: 2}\n- {name: c, name: d}\n- {name: e, prot: 3}\n- {name: f, port: 4, port: 5}\n"})
	if len(problems) != 3 || !strings.Contains(problems[0], "sites[2].name: is already set in line 5") || !strings.Contains(problems[1], "did you mean sites[3].port") ||
		!strings.Contains(problems[2], "sites[4].port: is already set in line 7") {
		t.Errorf("problems: %q", problems)
	}
}

func TestLimits_HostileTextIsRefusedAtOnce(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := range 12 {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), ", "))
	}
	var merges strings.Builder
	merges.WriteString("m0: &m0 {a: 1}\n")
	for i := range 12 {
		list := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*m%d, ", i), 9), ", ")
		fmt.Fprintf(&merges, "m%d: &m%d {<<: [%s]}\n", i+1, i+1, list)
	}
	tests := []struct{ name, text, want string }{
		{"aliases of aliases", bomb.String(), "more than 4000000 values, aliases expanded"},
		{"merges of merges", merges.String(), "too much is merged here"},
		{"nested flow", "a: " + strings.Repeat("[", 100) + strings.Repeat("]", 100), "nested more than 64 deep"},
		{"nested flow without end", strings.Repeat("[", 1<<20), "nested more than 64 deep"},
		{"nested blocks", nestedBlocks(100), "nested more than 64 deep"},
		{"merge of itself", "a: &a {<<: *a, b: 1}\n", "merged too deep: does an anchor contain itself?"},
		{"too large for the full library", "a: &a " + strings.Repeat("x", maxComposed), "beyond 16777216 it may have no anchors"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Now()
			report := decodeText(tt.text)
			if len(report.problems) == 0 || !strings.Contains(report.problems[0].Message, tt.want) {
				t.Errorf("problems %v, want %q", report.problems, tt.want)
			}
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

func nestedBlocks(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// Up to the limit both readers agree.
func TestLimits_DepthIsTheSameForBothReaders(t *testing.T) {
	for depth := maxDepth - 3; depth < maxDepth+3; depth++ {
		for _, text := range []string{nestedBlocks(depth), strings.Repeat("[", depth) + strings.Repeat("]", depth)} {
			if got, ok := scan(text); ok {
				compareWithLibrary(t, text, got)
			}
		}
	}
}

func TestLimits_FileBeyondTheLimitIsNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "main.yaml")
	write(t, path, "mode: test\n", 0o600)
	if err := os.Truncate(path, maxFile+1); err != nil { // a hole: nothing is written
		t.Fatal(err)
	}
	var s sample
	err := Load(path, &s, Options{Mode: "test"})
	if err == nil || !strings.HasSuffix(err.Error(), "has more than 134217728 octets, which is the limit") {
		t.Errorf("got %v", err)
	}
}

// No text makes the reader panic or hang, and every problem is a line with a place.
func FuzzDecode(f *testing.F) {
	for _, text := range coreTexts {
		f.Add(text)
	}
	f.Add("mode: test\nserver: {name: a, count: 1, key: x, tokens: {a.b: c}, policies: {x: {networks: [10.0.0.0/8]}}}\n")
	f.Add("sites:\n- &a {name: x, address: ::1, port: 1, check: {}}\n- {<<: *a, weight: 2}\n- <<: [*a, {height: 1.5}]\n- just a name\n")
	f.Add("server: {key_file: x, share: 1e3, interval: 5s, enabled: true}\nlisten: [\":53\"]\nincludes: [x*]\n? {a: b}\n: c\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 {
			return
		}
		report := decodeText(text)
		if len(report.documents[0].nodes) < 1000 {
			compareOnCores(t, text)
		}
		for _, p := range report.problems {
			if strings.ContainsAny(p.String(), "\n") {
				t.Errorf("text %q: problem of several lines: %q", text, p)
			}
		}
		for _, key := range []string{"server.name", `server.tokens["a.b"]`, "sites[1].port", "[0]", "sites[9999999999999999999]"} {
			report.Locate(key)
		}
	})
}
