package check // inside: it uses estimate, maxCompiled and patternRemedy

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"regexp/syntax"
	"runtime"
	"strings"
	"testing"
	"time"
)

// hostile are patterns that would be expensive to compile or match.
var hostile = []string{
	"(?:" + strings.Repeat("a", 225) + "){1000}b",
	strings.Repeat("(?:", 40) + "a{10}bb" + strings.Repeat(")", 40) + "{100}b{1000}",
	"(?:(?:(?:xyz){10}){10}){10}",
	`(?:\pL?){1000}`,
	`(?i)(?:[\pL\pM\pN]?b?c?){1,800}`,
	`(?:.*x){1000}`,
}

func TestPatternRemedy_CountsInstructions(t *testing.T) {
	for _, good := range []string{"ok", `^\{"status": ?"(up|ok)"`, `(?i)[a-z]{1,200}`, "a{1000}", `\pL{500}`,
		strings.Repeat("a", 256)} {
		if remedy := patternRemedy(good); remedy != "" {
			t.Errorf("%q is refused: %s", good, remedy)
		}
	}
	for _, bad := range hostile {
		if remedy := patternRemedy(bad); !strings.Contains(remedy, "instructions, at most 2000 are allowed") {
			t.Errorf("%q: %q", bad, remedy)
		}
	}
	if remedy := patternRemedy("("); !strings.HasPrefix(remedy, "it is no regular expression: missing closing )") {
		t.Error(remedy)
	}
}

// The bound applies to the compiled program, not to the estimate.
func TestPatternRemedy_TheBoundIsExact(t *testing.T) {
	within, beyond := "(?:ab?){665}", "(?:ab?){667}"
	for _, pattern := range []string{within, beyond} {
		tree, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		program, err := syntax.Compile(tree.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		if got, want := patternRemedy(pattern) == "", len(program.Inst) <= MaxInstructions; got != want {
			t.Errorf("%q has %d instructions, taken: %t", pattern, len(program.Inst), got)
		}
	}
	if patternRemedy(within) != "" || patternRemedy(beyond) == "" {
		t.Error("the two patterns are not on both sides of the bound")
	}
}

func TestPatterns_CompileOnceAndKeepFew(t *testing.T) {
	p := NewPatterns(1)
	if first := p.compile("a+"); first != p.compile("a+") {
		t.Error("compiled twice")
	}
	for i := range 2 * maxCompiled {
		p.compile(strings.Repeat("a", 1+i%250) + "{" + string(rune('1'+i/250)) + "}")
	}
	if n := len(p.compiled); n > maxCompiled {
		t.Errorf("%d are kept", n)
	}
	if p.compile("") != nil || (*Patterns)(nil).compile("x") == nil {
		t.Error("no pattern is compiled, or one is not")
	}
}

func TestPatterns_WaitForTheirTurn(t *testing.T) {
	p := NewPatterns(1)
	p.slots <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.match(ctx, regexp.MustCompile("x"), []byte("x"))
	if text, is := localError(err); !is || !strings.Contains(text, "had no time") {
		t.Errorf("%v is not this machine's trouble", err)
	}
	<-p.slots
	if found, err := p.match(t.Context(), regexp.MustCompile("x"), []byte("x")); !found || err != nil {
		t.Error(found, err)
	}
}

// A pattern matches only the beginning of a body, which bounds the time of a match.
func TestProber_APatternSeesTheFirst64KiB(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := MaxMatched - 2
		if r.URL.Path == "/beyond" {
			n = MaxMatched
		}
		_, _ = w.Write([]byte(strings.Repeat("a", n) + "ok"))
	}))
	t.Cleanup(server.Close)
	for path, want := range map[string]Outcome{"/within": Success, "/beyond": Failure} {
		spec := Spec{Type: HTTP, Path: path, Interval: time.Minute, Timeout: 10 * time.Second, FailureThreshold: 1,
			SuccessThreshold: 1,
			Detail:           Detail{BodyMatches: "ok"}.Details()}
		prober, err := NewPatterns(1).NewProber(spec, netip.MustParseAddrPort(server.Listener.Addr().String()), "test")
		if err != nil {
			t.Fatal(err)
		}
		if got := prober.Probe(t.Context()); got.Outcome != want {
			t.Errorf("%s: %v %s, want %v", path, got.Outcome, got.Err, want)
		}
	}
}

// Bounds of the cost of validating any pattern. The memory is far above the actual use. Only an endless validation
// reaches the time, even on a busy machine.
const (
	judgedWithin = 30 * time.Second
	judgedIn     = 64 << 20 // octets
)

// Validating any pattern is cheap, and an accepted pattern has at most the maximum number of instructions.
func FuzzPattern(f *testing.F) {
	for _, s := range append([]string{"ok", "(", `[\pL\pM]{30}`, "(a|b|)*{2,}", `^(?i:[^a]|\pL?){9}$`, "(?:(?:){1000}){1}",
		`\Qa.b\E+`}, hostile...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		remedy := patternRemedy(pattern)
		took := time.Since(began)
		runtime.ReadMemStats(&after)
		if took > judgedWithin {
			t.Errorf("judging %q took %s", pattern, took)
		}
		if cost := after.TotalAlloc - before.TotalAlloc; cost > judgedIn {
			t.Errorf("judging %q took %d octets", pattern, cost)
		}
		if remedy != "" {
			return
		}
		tree, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		program, err := syntax.Compile(tree.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		if n := len(program.Inst); n > MaxInstructions || n > estimate(tree) {
			t.Errorf("%q is taken with %d instructions, estimated as %d", pattern, n, estimate(tree))
		}
		runtime.ReadMemStats(&before)
		began = time.Now()
		compiled := regexp.MustCompile(pattern)
		runtime.ReadMemStats(&after)
		if took, cost := time.Since(began), after.TotalAlloc-before.TotalAlloc; took > judgedWithin || cost > judgedIn {
			t.Errorf("compiling %q took %s and %d octets", pattern, took, cost)
		}
		began = time.Now()
		compiled.MatchString(strings.Repeat("a\n", 2<<10))
		if took := time.Since(began); took > judgedWithin {
			t.Errorf("matching %q against 4 KiB took %s", pattern, took)
		}
	})
}
