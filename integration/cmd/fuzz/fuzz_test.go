package main // inside: it uses found, run and target

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const deadline = `fuzz: elapsed: 10s, execs: 325017 (11336/sec), new interesting: 11 (total: 202)
--- FAIL: FuzzX (10.03s)
    context deadline exceeded
FAIL
exit status 1
FAIL	gslb.internal/shared/wire	10.040s
`

func TestJudge_TellsAFindingFromAnEarlyEnd(t *testing.T) {
	failed := errors.New("exit status 1")
	for name, c := range map[string]struct {
		output string
		err    error
		want   verdict
	}{
		"passed":           {"ok  \tgslb.internal/shared/wire\t10.5s", nil, passed},
		"the engine's end": {deadline, failed, endedEarly},
		"a failing input": {"--- FAIL: FuzzX (0.1s)\n    Failing input written to testdata/fuzz/FuzzX/a1\n", failed,
			found},
		"both": {deadline + "    Failing input written to testdata/fuzz/FuzzX/a1\n", failed, found},
		"a seed that fails": {"failure while testing seed corpus entry: FuzzX/s\n    context deadline exceeded\n", failed,
			found},
		"a word of the target": {"--- FAIL: FuzzX (0.1s)\n    x_test.go:9: context deadline exceeded\n", failed, found},
		"a broken build":       {"FAIL\tgslb.internal/shared/wire [build failed]\n", failed, found},
	} {
		if got := judge(c.output, c.err); got != c.want {
			t.Errorf("%s: verdict %d, want %d", name, got, c.want)
		}
	}
}

func TestCampaign_TriesAnEarlyEndAgainAndBounded(t *testing.T) {
	early := map[string]int{"FuzzOnce": 1, "FuzzAlways": 1000}
	var out strings.Builder
	c := campaign{tries: 3, out: &out, fuzz: func(_ context.Context, t target) (string, error) {
		if early[t.name]--; early[t.name] >= 0 {
			return deadline, errors.New("exit status 1")
		}
		return "fuzz: elapsed: 1s, execs: 7 (7/sec), new interesting: 2 (total: 3)", nil
	}}
	if err := c.all(t.Context(), []target{{name: "FuzzOnce"}, {name: "FuzzAlways"}, {name: "FuzzGood"}}); err != nil {
		t.Errorf("an early end is a failure: %v", err)
	}
	for _, want := range []string{
		"2 passed, 0 with a finding, 1 ended early", "3 runs were repeated", "target 3 of 3", "7 inputs, 2 of them",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, &out)
		}
	}
}

// A module with a failing target and a passing target, with Go's own engine.
func TestRun_FindsWhatFailsAndGoesOn(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.test\n\ngo 1.26\n",
		"x_test.go": `package x

import "testing"

func FuzzBad(f *testing.F)  { f.Add(1); f.Fuzz(func(t *testing.T, n int) { if n != 1 { t.Error("not one") } }) }
func FuzzGood(f *testing.F) { f.Add(1); f.Fuzz(func(t *testing.T, n int) {}) }
func TestFuzzNot(t *testing.T) {}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "off")
	var out strings.Builder
	err := run(t.Context(), []string{"-time", "1s", dir}, &out)
	if err == nil || !strings.Contains(err.Error(), "1 of 2 targets") {
		t.Errorf("error %v", err)
	}
	if !strings.Contains(out.String(), "2 targets") || !strings.Contains(out.String(), "1 passed, 1 with a finding") {
		t.Errorf("it says:\n%s", &out)
	}
	if inputs, _ := filepath.Glob(filepath.Join(dir, "testdata/fuzz/FuzzBad/*")); len(inputs) != 1 {
		t.Errorf("failing inputs %v", inputs)
	}
	if err := run(t.Context(), []string{"-time", "1s", "-run", "FuzzNone", dir}, &out); err == nil {
		t.Error("a pattern that matches nothing is no error")
	}
}
