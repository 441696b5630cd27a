package settings // inside: it uses maxProblems

import (
	"net/netip"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLoad_ReadsEveryShape(t *testing.T) {
	got, problems := load(t, map[string]string{"main.yaml": `
mode: test
server:
  name: "alpha"
  enabled: true
  count: 3
  share: 0.5
  interval: 1m30s
  key: s3cret
  old_keys: [a, b]
  tokens: {App.Example.com: Tok=en, other: t}
  policies: {app.example.com: {networks: [10.0.0.0/8, 2001:db8::/32]}}
sites:
  - {name: one, address: 192.0.2.1, port: 80, height: 1.5}
  - two
  - name: three
    address: 2001:db8::1
    weight: 5
    check: {}
listen: ":53"
`})
	if problems != nil {
		t.Fatal(problems)
	}
	height := 1.5
	want := sample{
		Mode: "test",
		Server: server{
			Name: "alpha", Enabled: true, Count: 3, Share: 0.5, Interval: 90 * time.Second, Key: "s3cret",
			OldKeys: []Secret{"a", "b"},
			Tokens:  map[string]Secret{"App.Example.com": "Tok=en", "other": "t"},
			Policies: map[string]policy{"app.example.com": {Networks: []netip.Prefix{
				netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32"),
			}}},
		},
		Sites: []site{
			{Name: "one", Address: netip.MustParseAddr("192.0.2.1"), Port: 80, Weight: 100, Height: &height},
			{Name: "two", Weight: 100},
			{Name: "three", Address: netip.MustParseAddr("2001:db8::1"), Weight: 5, Check: &probe{Type: "tcp"}},
		},
		Listen:  []string{":53"},
		Allowed: []string{"by default"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %#v\nwant %#v", got, want)
	}
}

// A key without a value is treated as omitted. A given list replaces the default.
func TestLoad_KeepsDefaultsOfWhatIsLeftOut(t *testing.T) {
	got, problems := load(t, map[string]string{"main.yaml": "mode: test\nserver:\n  count:\n  name: ~\nallowed: " +
		"[x]\nsites:\n"})
	if problems != nil {
		t.Fatal(problems)
	}
	if got.Server.Count != 7 || !slices.Equal(got.Allowed, []string{"x"}) || got.Sites != nil {
		t.Errorf("got %+v", got)
	}
}

// The YAML library handles anchors, aliases and merge keys.
func TestLoad_UnderstandsAnchorsAndMergeKeys(t *testing.T) {
	got, problems := load(t, map[string]string{"main.yaml": `
mode: test
sites:
  - &base {name: base, address: 192.0.2.1, port: 80, check: &probe {type: http}}
  - {<<: *base, name: one}
  - <<: [{weight: 3}, *base]
    port: 81
    check: *probe
`})
	if problems != nil {
		t.Fatal(problems)
	}
	var short []string
	for _, s := range got.Sites {
		short = append(short, strings.Join([]string{s.Name, s.Address.String(), s.Check.Type,
			string(rune('0' + s.Weight%100)), string(rune('0' + s.Port%10))}, " "))
	}
	want := []string{"base 192.0.2.1 http 0 0", "one 192.0.2.1 http 0 0", "base 192.0.2.1 http 3 1"}
	if !slices.Equal(short, want) {
		t.Errorf("got %q, want %q", short, want)
	}
}

func TestLoad_TellsWhatIsWrong(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"unknown key", "mode: test\nserver: {nam: x}\n",
			[]string{`main.yaml:2: server.nam: unknown key; did you mean server.name?`}},
		{"unknown key in another spelling", "mode: test\nserver: {oldKeys: []}\n",
			[]string{`main.yaml:2: server.oldKeys: unknown key; did you mean server.old_keys?`}},
		{"unknown key like none", "mode: test\nsites:\n  - name: x\n    colour: red\n",
			[]string{`main.yaml:4: sites[0].colour: unknown key; here belong name, address, port, weight, height, check`}},
		{"key twice", "mode: test\nserver:\n  name: x\n  count: 1\n  name: y\n",
			[]string{`main.yaml:5: server.name: is already set in line 3: keep one`}},
		{"map entry twice", "mode: test\nserver:\n  policies:\n    a.b: {}\n    c: {}\n    a.b: {}\n",
			[]string{`main.yaml:6: server.policies["a.b"]: is already set at main.yaml:4: keep one`}},
		{"list for a value", "mode: test\nserver: {name: [x]}\n",
			[]string{`main.yaml:2: server.name: expected a single value, found a list`}},
		{"value for a list", "mode: test\nallowed: x\n",
			[]string{`main.yaml:2: allowed: expected a list, found a single value`}},
		{"value for a struct", "mode: test\nserver: x\n",
			[]string{`main.yaml:2: server: expected a map of keys, found a single value`}},
		{"list for a map", "mode: test\nserver: {policies: [x]}\n",
			[]string{`main.yaml:2: server.policies: expected a map of names to values, found a list`}},
		{"empty list entry", "mode: test\nallowed: [x, ~]\n",
			[]string{`main.yaml:2: allowed[1]: nothing stands here: write a value or remove the entry`}},
		{"number", "mode: test\nserver: {count: many}\n", []string{`main.yaml:2: server.count: "many": give a whole number`}},
		{"fraction", "mode: test\nserver: {share: .inf}\n", []string{`main.yaml:2: server.share: ".inf": give a number`}},
		{"bool", "mode: test\nserver: {enabled: yes}\n", []string{`main.yaml:2: server.enabled: "yes": use true or false`}},
		{"duration without unit", "mode: test\nserver: {interval: 30}\n",
			[]string{`main.yaml:2: server.interval: "30": give a time with its unit, such as 500ms, 30s, 5m or 1h`}},
		{"address", "mode: test\nsites: [{address: 300.0.0.1}]\n",
			[]string{
				`main.yaml:2: sites[0].address: "300.0.0.1": give an IP address, such as 192.0.2.10 or 2001:db8::10, without a ` +
					`zone`}},
		{"port", "mode: test\nsites: [{port: 65536}, {port: 0}]\n", []string{
			`main.yaml:2: sites[0].port: "65536": give a port from 1 to 65535`,
			`main.yaml:2: sites[1].port: "0": give a port from 1 to 65535`}},
		{"network without length", "mode: test\nserver: {policies: {x: {networks: [10.1.2.3]}}}\n",
			[]string{
				`main.yaml:2: server.policies["x"].networks[0]: "10.1.2.3": give the prefix length as well: 10.1.2.3/32 for ` +
					`that one address`}},
		{"network with host bits", "mode: test\nserver: {policies: {x: {networks: [10.1.2.3/8]}}}\n",
			[]string{
				`main.yaml:2: server.policies["x"].networks[0]: "10.1.2.3/8": the address has bits behind the prefix: write ` +
					`10.0.0.0/8, or 10.1.2.3/32 for that one address`}},
		{"a long value", "mode: test\nserver: {count: " + strings.Repeat("9", 100) + "}\n",
			[]string{`main.yaml:2: server.count: "` + strings.Repeat("9", 60) + `...": give a whole number`}},
		{"all at once, in order", "mode: test\nsites: [{port: x}]\nserver: {count: y, cuont: 1}\n", []string{
			`main.yaml:2: sites[0].port: "x": give a port from 1 to 65535`,
			`main.yaml:3: server.count: "y": give a whole number`,
			`main.yaml:3: server.cuont: unknown key; did you mean server.count?`}},
		{"not a map", "- mode\n", []string{`main.yaml:1: expected keys with values, such as mode: overwatch, found a list`}},
		{"empty file", "", []string{`main.yaml: mode: is missing: write mode: test`}},
		{"no mode", "server: {}\n", []string{`main.yaml: mode: is missing: write mode: test`}},
		{"mode of another program", "mode: other\nunknown: 1\n",
			[]string{
				`main.yaml:1: mode: "other": this program runs mode: test; start the program of that mode, or gslb, which runs ` +
					`either`}},
		{"bracket not closed", "mode: test\nserver: {name: x\n",
			[]string{`main.yaml:2: not valid YAML: a comma or a closing bracket is missing in the list or map here`}},
		{"indentation", "mode: test\nserver:\n  name: x\n enabled: true\nlisten: x\n",
			[]string{`main.yaml:4: not valid YAML: the indentation or the punctuation is wrong here or in the line before`}},
		{"tab", "mode: test\n\tname: x\n", []string{
			`main.yaml:2: not valid YAML: found a tab character that violates indentation`}},
		{"second document", "mode: test\n---\nmode: test\n",
			[]string{`main.yaml:2: a second document begins here (---): keep one per file`}},
		{"tag", "mode: test\nserver: {name: !secret x}\n",
			[]string{`main.yaml:2: a YAML tag (!) has no meaning here: remove it, or quote a value that begins with !`}},
		{"alias without anchor", "mode: test\nserver: {key: *s3cret}\n",
			[]string{
				`main.yaml:2: not valid YAML: a value that begins with * stands for an anchor (&), and that anchor is nowhere: ` +
					`quote the value`}},
		{"list as a key", "mode: test\n? [a]\n: b\n", []string{`main.yaml:2: a list or a map cannot be a key`}},
		{"merge of no map", "mode: test\nserver: {<<: x}\n", []string{`main.yaml:2: << takes a map, or a list of maps`}},
		{"merge of a list with no map", "mode: test\nserver: {<<: [x]}\n",
			[]string{`main.yaml:2: << takes a map, or a list of maps`}},
		{"anchor in itself", "mode: test\nserver: &s\n  policies: {x: *s}\n",
			[]string{`main.yaml:3: the alias *s is inside its own anchor: write the value`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got := load(t, map[string]string{"main.yaml": tt.text})
			if !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// Problems of the caller are sorted by their positions. Consequences of another problem are not reported.
func TestLoad_AddsWhatTheCallerFinds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "main.yaml")
	write(t, path, "mode: test\nsites:\n  - name: a\n    port: x\n  - name: b\n", 0o600)
	var s sample
	err := Load(path, &s, Options{Mode: "test", Validate: func(r *Report) {
		r.Add("sites[0].port", "0", "is missing")
		r.Add("sites[1].name", "b", "is bad")
		r.Addf("sites[1].address", "", "is missing in site %d", 1)
		if !r.IsSet("mode") || r.IsSet("server.name") {
			t.Error("IsSet does not tell what was given")
		}
	}})
	want := []string{
		`main.yaml:4: sites[0].port: "x": give a port from 1 to 65535`,
		`main.yaml:5: sites[1].name: "b": is bad`,
		`main.yaml:5: sites[1].address: is missing in site 1`,
	}
	if got := lines(filepath.Dir(path), err); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The line and the column are those of the wrong value, or of an unknown key.
func TestLoad_ProblemsHaveColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "main.yaml")
	write(t, path, "mode: test\nsites:\n  - {name: a, address: 192.0.2.1, port: x}\n  - name: ünicode\n    addressx: b\n"+
		"allowed: 5\n", 0o600)
	var s sample
	err := Load(path, &s, Options{Mode: "test"})
	for _, want := range []string{"main.yaml:3:41: sites[0].port", "main.yaml:5:5: sites[1].addressx",
		"main.yaml:6:10: allowed"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %s", err, want)
		}
	}
}

func TestLoad_CountsWhatIsTooMuchToTell(t *testing.T) {
	text := "mode: test\nsites:\n" + strings.Repeat("  - {port: x}\n", 250)
	_, got := load(t, map[string]string{"main.yaml": text})
	if len(got) != maxProblems+1 || got[maxProblems] != "and 150 problems more" {
		t.Errorf("%d lines, the last %q", len(got), got[len(got)-1])
	}
}

func TestLoad_TellsWhatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	tests := []struct{ name, path, want string }{
		{"missing", filepath.Join(dir, "none.yaml"), "none.yaml: cannot be read: no such file or directory"},
		{"directory", dir, dir + ": is a directory: give a regular file"},
		{"device", "/dev/null", "/dev/null: is a device: give a regular file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s sample
			got := lines(dir, Load(tt.path, &s, Options{Mode: "test"}))
			if !slices.Equal(got, []string{tt.want}) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
