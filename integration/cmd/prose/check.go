package main

import (
	"cmp"
	"slices"
	"strings"
)

const (
	// limit is the maximum number of phrases per 1000 words of a file.
	limit = 10
	// fewest is the number of phrases that a file of any length may have.
	fewest = 3
)

// hit is an expression that a rule found.
type hit struct {
	line         int
	text, advice string
}

// report is the result for a file.
type report struct {
	path           string
	words          int
	terms, phrases []hit
}

// density returns the number of phrases per 1000 words, rounded up.
func (r report) density() int {
	if r.words == 0 {
		return 0
	}
	return (len(r.phrases)*1000 + r.words - 1) / r.words
}

// exceeds reports whether the terms or phrases of the file exceed the limits. allowed contains the values of an earlier
// version.
func (r report) exceeds(allowed allowance) bool { return r.hasTerms(allowed) || r.hasPhrases(allowed) }

func (r report) hasTerms(allowed allowance) bool { return len(r.terms) > allowed.terms }

func (r report) hasPhrases(allowed allowance) bool {
	return len(r.phrases) > max(fewest, allowed.phrases) && r.density() > limit
}

// checkFile applies the rules to the content of a file.
func (r rules) checkFile(path, content string) report {
	text := proseOf(path, content)
	return report{path: path, words: len(words(text)), terms: find(text, r.terms), phrases: find(text, r.phrases)}
}

// find returns the matches of all rules, in the order of lines. Overlapping matches of several rules count once.
func find(text string, list []rule) (hits []hit) {
	type span struct {
		from, to int
		advice   string
	}
	var spans []span
	for _, r := range list {
		for _, at := range r.find.FindAllStringIndex(text, -1) {
			spans = append(spans, span{at[0], at[1], r.advice})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	end, line, counted := 0, 1, 0
	for _, s := range spans {
		if s.from < end {
			continue
		}
		line += strings.Count(text[counted:s.from], "\n")
		counted, end = s.from, s.to
		hits = append(hits, hit{line, strings.Join(strings.Fields(text[s.from:s.to]), " "), s.advice})
	}
	return hits
}
