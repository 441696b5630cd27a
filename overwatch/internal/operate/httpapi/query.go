package httpapi

import (
	"iter"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// params contains the non-empty query parameters of a request. Each value is valid for its Parameter.
type params map[string]string

// readQuery parses and validates a query. It rejects unknown parameters, so that a misspelled filter does not match all
// objects. It ignores empty values. An omitted number has its default.
func readQuery(raw string, known []Parameter) (params, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, badRequest("the query cannot be read: it is not well-formed URL encoding")
	}
	p := params{}
	for _, k := range known {
		given := values[k.Name]
		delete(values, k.Name)
		switch {
		case len(given) > 1:
			return nil, badRequest("the query has the parameter %q %d times: give it once", k.Name, len(given))
		case len(given) == 1 && given[0] != "":
			p[k.Name] = given[0]
			if k.check == nil {
				continue
			}
			if err := k.check(given[0]); err != nil {
				return nil, err
			}
		case k.otherwise != "":
			p[k.Name] = k.otherwise
		}
	}
	for name := range values {
		if len(known) == 0 {
			return nil, badRequest("unknown query parameter %.64q: this path has none", name)
		}
		return nil, badRequest("unknown query parameter %.64q: known are %s", name, parameterNames(known))
	}
	return p, nil
}

func parameterNames(known []Parameter) string {
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = k.Name
	}
	return strings.Join(names, ", ")
}

// number returns a parameter of the kind number, or 0 if the operation has no such parameter.
func (p params) number(name string) int {
	n, _ := strconv.Atoi(p[name]) // checked before
	return n
}

// moment returns a parameter of the kind moment, or the zero time if it is missing.
func (p params) moment(name string) time.Time {
	at, _ := time.Parse(time.RFC3339, p[name]) // checked before
	return at
}

// list returns the words of a parameter of the kind list.
func (p params) list(name string) []string { return splitList(p[name]) }

// flag returns whether a parameter of the kind flag is true.
func (p params) flag(name string) bool { return p[name] == "true" }

// period returns start_time and end_time, or zero if they are missing.
func (p params) period() (start, end time.Time, err error) {
	start, end = p.moment("start_time"), p.moment("end_time")
	if !start.IsZero() && !end.IsZero() && end.Before(start) {
		err = badRequest("end_time is %q: it must not be before start_time, which is %q", p["end_time"], p["start_time"])
	}
	return start, end, err
}

func splitList(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}

// matches reports whether a value matches a filter. An empty filter matches all values.
func matches[S ~string](filter string, value S) bool { return filter == "" || filter == string(value) }

// matchesRegion is matches for names of regions, which are case-insensitive.
func matchesRegion(filter, region string) bool {
	return filter == "" || strings.EqualFold(filter, region)
}

// listed returns the words of a vocabulary, separated by commas, for sentences.
func listed[S ~string](vocabulary []S) string {
	words := make([]string, len(vocabulary))
	for i, word := range vocabulary {
		words[i] = string(word)
	}
	return strings.Join(words, ", ")
}

// page is the requested page of a list; its fields are numbers of entries.
type page struct{ limit, offset int }

// pageOf converts the entries of a page, and counts all entries. The result is never nil, so that an empty list is
// encoded as [].
func pageOf[T, U any](all iter.Seq[T], p page, convert func(T) U) (entries []U, total int) {
	var chosen []T // the larger converted entries are then allocated once
	for entry := range all {
		if total >= p.offset && len(chosen) < p.limit {
			chosen = append(chosen, entry)
		}
		total++
	}
	entries = make([]U, len(chosen))
	for i, entry := range chosen {
		entries[i] = convert(entry)
	}
	return entries, total
}

// filtered yields the entries for which keep returns true.
func filtered[T any](all iter.Seq[T], keep func(T) bool) iter.Seq[T] {
	return func(yield func(T) bool) {
		for entry := range all {
			if keep(entry) && !yield(entry) {
				return
			}
		}
	}
}
