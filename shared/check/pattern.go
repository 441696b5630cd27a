package check

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

// Bounds of body_matches. Together they bound what one match costs: its time grows with the instructions times the
// octets.
const (
	// MaxInstructions is how many instructions a pattern may have when it is compiled (regexp/syntax).
	MaxInstructions = 2000
	// MaxMatched is how much of a body a pattern sees, in octets.
	MaxMatched = 64 << 10
)

// hopeless is the estimate above which a pattern is refused without being compiled. The estimate exceeds the truth
// only for repetitions of what is empty, so a pattern below it is cheap to compile.
const hopeless = 4 * MaxInstructions

// patternRemedy says what is wrong with a regular expression; "" means nothing. It costs little, whatever the pattern
// is.
func patternRemedy(pattern string) string {
	if remedy := textRemedy(pattern); remedy != "" {
		return remedy
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "it is no regular expression: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	}
	n := estimate(tree)
	if n > MaxInstructions && n <= hopeless {
		program, err := syntax.Compile(tree.Simplify())
		if err != nil {
			return "it is no regular expression: " + err.Error()
		}
		n = len(program.Inst)
	}
	if n > MaxInstructions {
		return fmt.Sprintf("it has about %d instructions, at most %d are allowed: repeat less, or look for less", n, MaxInstructions)
	}
	return ""
}

// estimate is at least how many instructions a pattern is compiled to. The parser bounds what repetitions multiply to
// by 1000, so the number is bounded by the length of the pattern.
func estimate(tree *syntax.Regexp) int { return 2 + instructions(tree) } // it begins with fail and ends with match

func instructions(re *syntax.Regexp) int {
	n := 0
	for _, sub := range re.Sub {
		n += instructions(sub)
	}
	switch re.Op {
	case syntax.OpLiteral:
		return max(len(re.Rune), 1)
	case syntax.OpAlternate:
		return n + len(re.Sub)
	case syntax.OpConcat:
		return max(n, 1)
	case syntax.OpRepeat:
		if re.Max < 0 {
			return max(re.Min, 1)*n + 2
		}
		return max(re.Max*(n+1), 1)
	}
	return n + 2 // of a capture, a star, a plus, a question mark; more than anything without a part has
}

// Patterns compiles the regular expressions of many checks, each once, and bounds how many are matched at a time, so
// that dear ones do not take the processor from everything else. It is safe for concurrent use.
type Patterns struct {
	slots    chan struct{}
	mu       sync.Mutex
	compiled map[string]*regexp.Regexp
}

// maxCompiled bounds the patterns that are kept, each of up to some 200 KiB. One beyond them is compiled for each
// check.
const maxCompiled = 256

// NewPatterns returns Patterns of which so many may be matched at a time.
func NewPatterns(atOnce int) *Patterns {
	return &Patterns{slots: make(chan struct{}, max(atOnce, 1)), compiled: make(map[string]*regexp.Regexp)}
}

// errNoTurn is trouble of this machine: other checks' patterns took the time.
const errNoTurn = ownError("this machine matches other checks' patterns and had no time for this one")

// match reports whether the body, as much of it as a pattern sees, matches. It waits for its turn until ctx ends; then
// the error is an ownError.
func (p *Patterns) match(ctx context.Context, pattern *regexp.Regexp, body []byte) (bool, error) {
	if p != nil {
		select {
		case p.slots <- struct{}{}:
			defer func() { <-p.slots }()
		case <-ctx.Done():
			return false, errNoTurn
		}
	}
	return pattern.Match(body[:min(len(body), MaxMatched)]), nil
}

// compile returns the program of a pattern that patternRemedy has nothing against; nil for no pattern. Without
// Patterns it is compiled each time.
func (p *Patterns) compile(pattern string) *regexp.Regexp {
	if pattern == "" {
		return nil
	}
	if p == nil {
		return regexp.MustCompile(pattern)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	program := p.compiled[pattern]
	if program != nil {
		return program
	}
	program = regexp.MustCompile(pattern)
	if len(p.compiled) >= maxCompiled {
		for other := range p.compiled { // any one: those in use come back with their next check
			delete(p.compiled, other)
			break
		}
	}
	p.compiled[pattern] = program
	return program
}

var errMatches = errors.New("the body does not match the expected pattern")
