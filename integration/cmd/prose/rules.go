package main

import (
	_ "embed" // the lists of rules
	"fmt"
	"regexp"
	"strings"
)

// The lists are text files, so that the checker does not find its own rules.
var (
	//go:embed terms.txt
	termList string
	//go:embed phrases.txt
	phraseList string
)

// rule is an expression that prose avoids, and the replacement.
type rule struct {
	find   *regexp.Regexp
	advice string
}

// rules are the rules of both lists.
type rules struct{ terms, phrases []rule }

func readRules() (rules, error) {
	terms, err := parseRules("terms.txt", termList)
	if err != nil {
		return rules{}, err
	}
	phrases, err := parseRules("phrases.txt", phraseList)
	return rules{terms, phrases}, err
}

// parseRules parses lines of the form "pattern|advice". Patterns match whole words, in upper and lower case. A line
// without advice is an error.
func parseRules(name, list string) (parsed []rule, err error) {
	for i, line := range strings.Split(list, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		at := strings.LastIndexByte(line, '|')
		if at < 1 || at == len(line)-1 {
			return nil, fmt.Errorf("%s:%d: %q: write the pattern, a vertical bar and the advice", name, i+1, line)
		}
		find, err := regexp.Compile(`(?i)\b(?:` + strings.ReplaceAll(line[:at], " ", `\s+`) + `)\b`)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
		parsed = append(parsed, rule{find, line[at+1:]})
	}
	return parsed, nil
}
