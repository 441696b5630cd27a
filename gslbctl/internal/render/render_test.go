package render_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"gslb.internal/gslbctl/internal/render"
)

func TestTable_AlignsColumnsAndColoursOnlyWhenAllowed(t *testing.T) {
	table := render.Table{Columns: []render.Column{{Name: "NAME"}, {Name: "WEIGHT", Right: true}, {Name: "STATUS"}}}
	table.Add(render.C("düsseldorf"), render.C("5"), render.Cell{"healthy", render.Good})
	table.Add(render.C("b"), render.C("1000"), render.Cell{"stale", render.Warn})
	for _, tc := range []struct {
		colour bool
		want   string
	}{
		{false, "NAME        WEIGHT  STATUS\ndüsseldorf       5  healthy\nb             1000  stale\n"},
		{true, "NAME        WEIGHT  STATUS\ndüsseldorf       5  \x1b[32mhealthy\x1b[m\nb             1000  " +
			"\x1b[33mstale\x1b[m\n"},
	} {
		if got := table.Text(render.Style{Colour: tc.colour}); got != tc.want {
			t.Errorf("colour %v: got\n%q\nwant\n%q", tc.colour, got, tc.want)
		}
	}
}

func TestTable_WithoutRowsSaysSo(t *testing.T) {
	table := render.Table{Columns: []render.Column{{Name: "X"}}, Empty: "No agents are pinned."}
	if got := table.Text(render.Style{Colour: true}); got != "No agents are pinned.\n" {
		t.Errorf("got %q", got)
	}
}

func TestTable_TextOfANodeCannotSteerTheTerminal(t *testing.T) {
	table := render.Table{Columns: []render.Column{{Name: "ERROR"}}}
	table.Add(render.C("a\x1b[2Jb\r\nc\u202ed"))
	got, want := table.Text(render.Style{Colour: true}), "ERROR\na\ufffd[2Jb\ufffd\ufffdc\ufffdd\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSpan_TwoLargestUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 1900 * time.Millisecond: "1s", 59 * time.Second: "59s", time.Minute: "1m",
		5*time.Minute + 10*time.Second: "5m10s",
		3*time.Hour + 12*time.Minute:   "3h12m", 24 * time.Hour: "1d", 300 * time.Hour: "12d12h", -time.Hour: "1h",
	} {
		if got := render.Span(d); got != want {
			t.Errorf("Span(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestAgoAndUntil_ReadFromNow(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	past, future := now.Add(-90*time.Second), now.Add(2*time.Hour)
	for _, tc := range []struct{ got, want string }{
		{render.Ago(&past, now), "1m30s ago"},
		{render.Ago(&future, now), "0s ago"}, // the clock of the node is ahead of ours
		{render.Ago(nil, now), "-"},
		{render.Ago(&time.Time{}, now), "-"},
		{render.Until(future, now), "in 2h"},
		{render.Until(past, now), "1m30s ago"},
		{render.Count(1, "backend", "backends"), "1 backend"},
		{render.Count(0, "backend", "backends"), "0 backends"},
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
	if err := errors.Join(render.YAML(&asYAML, value), render.JSON(&asJSON, value)); err != nil {
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
	table := render.Table{Columns: []render.Column{
		{Name: "NAME"}, {Name: "NOTE", Spare: 1}, {Name: "AGE", Right: true, Spare: 3},
		{Name: "STATUS"}, {Name: "BY", Spare: 2}, {Name: "ID", Wide: true}}}
	table.Add(render.C("東京"), render.Cell{"a long note", render.Warn}, render.C("5"),
		render.Cell{"healthy", render.Good}, render.C("me"), render.C("17"))
	table.Add(render.C("e\u0301u"), render.C("-"), render.C("12"), render.C("ok"), render.C("you"), render.C("18"))
	for _, tc := range []struct {
		style render.Style
		want  string
	}{
		{render.Style{}, "NAME  NOTE         AGE  STATUS   BY\n" +
			"東京  a long note    5  healthy  me\ne\u0301u    -             12  " +
			"ok       you\n"},
		{render.Style{Width: 36},
			"NAME  NOTE         AGE  STATUS   BY\n東京  a long note    5  healthy  me\ne\u0301u    -             12  ok       " +
				"you\n"},
		{render.Style{Width: 35},
			"NAME  NOTE         STATUS   BY\n東京  a long note  healthy  me\ne\u0301u    -            ok       you\nno room " +
				"for AGE; -o wide shows all\n"},
		{render.Style{Width: 25, Colour: true},
			"NAME  AGE  STATUS   BY\n東京    5  \x1b[32mhealthy\x1b[m  me\ne\u0301u     12  ok       you\n\x1b[2mno room for " +
				"NOTE; -o wide shows all\x1b[m\n"},
		{render.Style{Width: 1}, "NAME  STATUS\n東京  healthy\ne\u0301u    ok\nno room for NOTE, AGE, BY; -o wide shows all\n"},
	} {
		if got := table.Text(tc.style); got != tc.want {
			t.Errorf("%+v: got\n%s\nwant\n%s", tc.style, got, tc.want)
		}
	}
}
