package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Report collects the problems of a configuration during reading and validation, and locates keys. It belongs to one
// goroutine. It stores the positions of all values and the text of the files; Load drops both on return.
type Report struct {
	documents   []*document
	given       map[string]Position // keys outside lists and maps in the files
	outside     map[string]Position // secrets from other files or environment variables
	problems    Problems
	problemKeys map[string]bool // keys that have a problem
	more        int             // problems beyond maxProblems
	large       []string        // YAML files of more than largeYAML octets
	alone       bool            // LoadText: no file is read
}

func newReport() *Report {
	return &Report{given: map[string]Position{}, outside: map[string]Position{}, problemKeys: map[string]bool{}}
}

// LargeFiles returns the YAML files that are so large that their lists should be JSON.
func (r *Report) LargeFiles() []string { return r.large }

// Add adds a problem with a key. It ignores the problem if the key or a key above it already has a problem, which is
// then the cause. value is empty for a missing value or a secret.
func (r *Report) Add(key, value, message string) {
	if r.HasProblem(key) {
		return
	}
	if r.full() {
		r.more++
		return
	}
	r.append(Problem{Key: key, Value: value, Message: message}.in(r.Locate(key)))
}

// Addf is Add with a format.
func (r *Report) Addf(key, value, format string, args ...any) {
	r.Add(key, value, fmt.Sprintf(format, args...))
}

// IsSet reports whether any source sets a scalar key outside lists and maps.
func (r *Report) IsSet(key string) bool {
	_, inFiles := r.given[key]
	_, elsewhere := r.outside[key]
	return inFiles || elsewhere
}

// append adds a problem that has a position.
func (r *Report) append(p Problem) {
	if r.full() {
		r.more++
		return
	}
	r.problemKeys[p.Key] = p.Key != ""
	r.problems = append(r.problems, p)
}

// full reports whether further problems are only counted.
func (r *Report) full() bool { return len(r.problems) >= maxProblems }

// HasProblem reports whether key or a key above it has a problem.
func (r *Report) HasProblem(key string) bool {
	for key != "" {
		if r.problemKeys[key] {
			return true
		}
		key = above(key)
	}
	return false
}

// above returns the enclosing key of a key, or "" for an outermost key.
func above(key string) string {
	if strings.HasSuffix(key, `"]`) {
		return key[:max(0, strings.LastIndex(key, `["`))]
	}
	return key[:max(0, strings.LastIndexAny(key, ".["))]
}

// err returns all problems in the order of files and lines, or nil.
func (r *Report) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	order := map[string]int{}
	for i, d := range r.documents {
		order[d.path] = i + 1
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		if a.File != b.File {
			return order[a.File] - order[b.File]
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	if r.more > 0 {
		r.problems = append(r.problems, Problem{Message: fmt.Sprintf("and %d problems more", r.more)})
	}
	return r.problems
}

// Inspect calls validate for a struct from another source than files, and returns the problems.
func Inspect(validate func(*Report)) Problems {
	report := newReport()
	validate(report)
	problems, _ := errors.AsType[Problems](report.err())
	return problems
}
