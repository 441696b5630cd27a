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

// Bounds of body_matches. They bound the time of a match, which grows with the number of instructions times the number
// of octets.
const (
	// MaxInstructions bounds the instructions of a compiled pattern (regexp/syntax).
	MaxInstructions = 2000
	// MaxMatched is the length of the part of a body that patterns match, in octets.
	MaxMatched = 64 << 10
)

// hopeless is the estimate above which a pattern is rejected without compilation. The estimate is an upper bound, so a
// pattern below it is cheap to compile. It exceeds the actual number more than four times only for unusual patterns,
// such as repetitions of empty expressions.
const hopeless = 4 * MaxInstructions

// patternRemedy returns the problem of a regular expression, or "". It is cheap for any pattern.
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
		return fmt.Sprintf("it has about %d instructions, at most %d are allowed: repeat less, or look for less", n,
			MaxInstructions)
	}
	return ""
}

// estimate returns an upper bound of the instructions that a pattern compiles to. The parser limits
// nested repetitions to 1000, so the result is bounded by the pattern's length.
func estimate(tree *syntax.Regexp) int { return 2 + instructions(tree) } // plus fail at the start and match at the end

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
	return n + 2 // for a capture, a star, a plus or a question mark: the maximum for an expression without parts
}

// Patterns compiles the regular expressions of many checks, each once, and bounds the number of
// concurrent matches, so that expensive patterns do not take all processors. It is safe for
// concurrent use.
type Patterns struct {
	slots    chan struct{}
	mu       sync.Mutex
	compiled map[string]*regexp.Regexp
}

// maxCompiled bounds the number of compiled patterns in memory, each up to 200 KiB. Checks compile further patterns
// each time.
const maxCompiled = 256

// NewPatterns returns Patterns with at most atOnce concurrent matches.
func NewPatterns(atOnce int) *Patterns {
	return &Patterns{slots: make(chan struct{}, max(atOnce, 1)), compiled: make(map[string]*regexp.Regexp)}
}

// errNoTurn means that the patterns of other checks used the whole timeout. The error is local.
const errNoTurn = ownError("this machine matches other checks' patterns and had no time for this one")

// match reports whether the first MaxMatched octets of a body match. It waits for a free slot until ctx ends; then it
// returns an ownError.
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

// compile returns the compiled form of a pattern that patternRemedy has accepted; nil for an empty
// pattern. A nil Patterns compiles it each time.
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
		for other := range p.compiled { // any pattern: a pattern in use is compiled with its next check
			delete(p.compiled, other)
			break
		}
	}
	p.compiled[pattern] = program
	return program
}

var errMatches = errors.New("the body does not match the expected pattern")
