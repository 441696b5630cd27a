package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// allowedPath is the list of files above the limits, from the top of the repository.
const allowedPath = "integration/cmd/prose/allowed.txt"

const allowedHead = `# Files that were above the limits when the check began: path, number of terms, number of phrases.
# The list only shrinks: go run ./integration/cmd/prose -update
`

// allowance contains the permitted numbers of terms and phrases of a file above the limits.
type allowance struct{ terms, phrases int }

// readAllowed reads the list of allowed files. A missing list is empty.
func readAllowed(path string) (map[string]allowance, error) {
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("list of allowed files: %w", err)
	}
	list := map[string]allowance{}
	for i, line := range strings.Split(string(text), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		if len(fields) != 3 {
			return nil, fmt.Errorf("%s:%d: %q: write path, terms and phrases", path, i+1, line)
		}
		var a allowance
		if a.terms, err = strconv.Atoi(fields[1]); err == nil {
			a.phrases, err = strconv.Atoi(fields[2])
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
		list[fields[0]] = a
	}
	return list, nil
}

// shrink returns the list with lower values from the reports, without files below the limits.
func shrink(list map[string]allowance, reports []report) map[string]allowance {
	shrunk := map[string]allowance{}
	for _, r := range reports {
		old, listed := list[r.path]
		if !listed {
			continue
		}
		a := allowance{terms: min(old.terms, len(r.terms))}
		if r.hasPhrases(allowance{}) {
			a.phrases = min(old.phrases, len(r.phrases))
		}
		if a != (allowance{}) {
			shrunk[r.path] = a
		}
	}
	return shrunk
}

func writeAllowed(path string, list map[string]allowance) error {
	var b strings.Builder
	b.WriteString(allowedHead)
	for _, file := range slices.Sorted(maps.Keys(list)) {
		fmt.Fprintf(&b, "%s %d %d\n", file, list[file].terms, list[file].phrases)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("list of allowed files: %w", err)
	}
	return nil
}
