package render

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

func TestTable_AlignsColumnsAndColoursOnlyWhenAllowed(t *testing.T) {
	table := Table{Columns: []Column{{Name: "NAME"}, {Name: "WEIGHT", Right: true}, {Name: "STATUS"}}}
	table.Add(C("düsseldorf"), C("5"), Cell{"healthy", Good})
	table.Add(C("b"), C("1000"), Cell{"stale", Warn})
	for _, tc := range []struct {
		colour bool
		want   string
	}{
		{false, "NAME        WEIGHT  STATUS\ndüsseldorf       5  healthy\nb             1000  stale\n"},
		{true, "NAME        WEIGHT  STATUS\ndüsseldorf       5  \x1b[32mhealthy\x1b[m\nb             1000  " +
			"\x1b[33mstale\x1b[m\n"},
	} {
		var b strings.Builder
		if err := table.Write(&b, Style{Colour: tc.colour}); err != nil {
			t.Fatal(err)
		}
		if b.String() != tc.want {
			t.Errorf("colour %v: got\n%q\nwant\n%q", tc.colour, b.String(), tc.want)
		}
	}
}

func TestTable_WithoutRowsSaysSo(t *testing.T) {
	var b strings.Builder
	if err := (&Table{Columns: []Column{{Name: "X"}}, Empty: "No agents are pinned."}).Write(&b,
		Style{Colour: true}); err != nil {
		t.Fatal(err)
	}
	if b.String() != "No agents are pinned.\n" {
		t.Errorf("got %q", b.String())
	}
}

func TestTable_TextOfANodeCannotSteerTheTerminal(t *testing.T) {
	table := Table{Columns: []Column{{Name: "ERROR"}}}
	table.Add(C("a\x1b[2Jb\r\nc\u202ed"))
	var b strings.Builder
	if err := table.Write(&b, Style{Colour: true}); err != nil {
		t.Fatal(err)
	}
	if want := "ERROR\na\ufffd[2Jb\ufffd\ufffdc\ufffdd\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestTable_ReportsThatTheOutputIsGone(t *testing.T) {
	table := Table{Columns: []Column{{Name: "X"}}}
	if table.Write(broken{}, Style{}) == nil {
		t.Error("no error for a table without rows")
	}
	table.Add(C("x"))
	if table.Write(broken{}, Style{}) == nil || YAML(broken{}, 1) == nil || JSON(broken{}, 1) == nil {
		t.Error("no error")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestSpan_TwoLargestUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 1900 * time.Millisecond: "1s", 59 * time.Second: "59s", time.Minute: "1m",
		5*time.Minute + 10*time.Second: "5m10s",
		3*time.Hour + 12*time.Minute:   "3h12m", 24 * time.Hour: "1d", 300 * time.Hour: "12d12h", -time.Hour: "1h",
	} {
		if got := Span(d); got != want {
			t.Errorf("Span(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestAgoAndUntil_ReadFromNow(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	past, future := now.Add(-90*time.Second), now.Add(2*time.Hour)
	for _, tc := range []struct{ got, want string }{
		{Ago(&past, now), "1m30s ago"},
		{Ago(&future, now), "0s ago"}, // the clock of the node is ahead of ours
		{Ago(nil, now), "-"},
		{Ago(&time.Time{}, now), "-"},
		{Until(future, now), "in 2h"},
		{Until(past, now), "1m30s ago"},
		{Count(1, "backend", "backends"), "1 backend"},
		{Count(0, "backend", "backends"), "0 backends"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}

func TestYAML_SaysTheSameAsJSON(t *testing.T) {
	value := struct {
		Text    []string          `json:"text"`
		Number  float64           `json:"number"`
		Yes     bool              `json:"yes"`
		Null    *int              `json:"null_field"`
		At      time.Time         `json:"at"`
		Empty   []string          `json:"empty"`
		Objects []map[string]int  `json:"objects"`
		Names   map[string]string `json:"names"`
	}{
		Text: []string{"plain", "true", "null", "12", "1e3", "2026-01-01", "- x", "a: b", "line\nbreak", "\x1b", "", "~",
			"<&>", "on", "0x1f", " lead"},
		Number: 1.5, Yes: true, At: time.Date(2026, 1, 2, 3, 4, 5, 6000000, time.UTC), Empty: []string{},
		Objects: []map[string]int{{"a": 1}}, Names: map[string]string{"y": "n"},
	}
	var asYAML, asJSON strings.Builder
	if err := errors.Join(YAML(&asYAML, value), JSON(&asJSON, value)); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(strings.SplitN(asYAML.String(), "\n", 3)[1], "{[") ||
		strings.Contains(asYAML.String(), "\x1b") {
		t.Errorf("not in block style:\n%s", asYAML.String())
	}
	var fromYAML, fromJSON map[string]any
	if err := errors.Join(yaml.Unmarshal([]byte(asYAML.String()), &fromYAML),
		json.Unmarshal([]byte(asJSON.String()), &fromJSON)); err != nil {
		t.Fatal(err)
	}
	if at, ok := fromYAML["at"].(time.Time); ok {
		fromYAML["at"] = at.Format(time.RFC3339Nano)
	}
	again, _ := json.Marshal(fromYAML)
	want, _ := json.Marshal(fromJSON)
	if string(again) != string(want) {
		t.Errorf("YAML\n%s\nreads as\n%s\nwant\n%s", asYAML.String(), again, want)
	}
}

func TestTable_LeavesOutWhatHasNoRoom(t *testing.T) {
	table := Table{Columns: []Column{{Name: "NAME"}, {Name: "NOTE", Spare: 1}, {Name: "AGE", Right: true, Spare: 3},
		{Name: "STATUS"}, {Name: "BY", Spare: 2}, {Name: "ID", Wide: true}}}
	table.Add(C("東京"), Cell{"a long note", Warn}, C("5"), Cell{"healthy", Good}, C("me"), C("17"))
	table.Add(C("e\u0301u"), C("-"), C("12"), C("ok"), C("you"), C("18"))
	for _, tc := range []struct {
		style Style
		want  string
	}{
		{Style{}, "NAME  NOTE         AGE  STATUS   BY\n東京  a long note    5  healthy  me\ne\u0301u    -             12  " +
			"ok       you\n"},
		{Style{Width: 36},
			"NAME  NOTE         AGE  STATUS   BY\n東京  a long note    5  healthy  me\ne\u0301u    -             12  ok       " +
				"you\n"},
		{Style{Width: 35},
			"NAME  NOTE         STATUS   BY\n東京  a long note  healthy  me\ne\u0301u    -            ok       you\nno room " +
				"for AGE; -o wide shows all\n"},
		{Style{Width: 25, Colour: true},
			"NAME  AGE  STATUS   BY\n東京    5  \x1b[32mhealthy\x1b[m  me\ne\u0301u     12  ok       you\n\x1b[2mno room for " +
				"NOTE; -o wide shows all\x1b[m\n"},
		{Style{Width: 1}, "NAME  STATUS\n東京  healthy\ne\u0301u    ok\nno room for NOTE, AGE, BY; -o wide shows all\n"},
	} {
		var b strings.Builder
		if err := table.Write(&b, tc.style); err != nil {
			t.Fatal(err)
		}
		if b.String() != tc.want {
			t.Errorf("%+v: got\n%s\nwant\n%s", tc.style, b.String(), tc.want)
		}
	}
}
