package httpapi

import (
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"gslb.internal/shared/api"
)

// params are the query parameters of a request, each given at most once.
type params map[string]string

// queryOf reads the query and refuses a parameter that the path does not
// have: a filter with a slip in its name must not look as if it had matched
// everything. An empty value counts as not given.
func queryOf(c *gin.Context, known ...string) (params, error) {
	values, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		return nil, badRequest("the query cannot be read: it is not well-formed URL encoding")
	}
	p := params{}
	for name, given := range values {
		switch {
		case len(known) == 0:
			return nil, badRequest("unknown query parameter %.64q: this path has none", name)
		case !slices.Contains(known, name):
			return nil, badRequest("unknown query parameter %.64q: known are %s", name, strings.Join(known, ", "))
		case len(given) > 1:
			return nil, badRequest("the query parameter %q stands %d times: give it once", name, len(given))
		case given[0] != "":
			p[name] = given[0]
		}
	}
	return p, nil
}

// number reads a parameter that must be a whole number from low to high.
func (p params) number(name string, otherwise, low, high int) (int, error) {
	text, given := p[name]
	if !given {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, badRequest("%s is %.64q: it must be a whole number from %d to %d", name, text, low, high)
	}
	return n, nil
}

// oneOf reads a parameter that must be a word of a vocabulary; "" when it was
// not given.
func oneOf[S ~string](p params, name string, vocabulary []S) (S, error) {
	value := S(p[name])
	if value == "" || slices.Contains(vocabulary, value) {
		return value, nil
	}
	return "", badRequest("%s is %.64q: it must be one of %s", name, string(value), listed(vocabulary))
}

// listed writes a vocabulary for people: its words with commas between.
func listed[S ~string](vocabulary []S) string {
	words := make([]string, len(vocabulary))
	for i, word := range vocabulary {
		words[i] = string(word)
	}
	return strings.Join(words, ", ")
}

// page is the part of a list that was asked for.
type page struct{ limit, offset int }

// maxOffset is beyond every list that fits in memory.
const maxOffset = 1 << 31

// listQuery reads the query of a list that can grow: its filters and the page.
func listQuery(c *gin.Context, filters ...string) (params, page, error) {
	q, err := queryOf(c, append(filters, "limit", "offset")...)
	if err != nil {
		return nil, page{}, err
	}
	p, err := q.page()
	return q, p, err
}

func (p params) page() (page, error) {
	limit, err := p.number("limit", api.DefaultPageLimit, 1, api.MaxPageLimit)
	if err != nil {
		return page{}, err
	}
	offset, err := p.number("offset", 0, 0, maxOffset)
	return page{limit, offset}, err
}

// pageOf converts the entries of one page and counts them all. The result is
// never nil, so that an empty list encodes as [].
func pageOf[T, U any](all iter.Seq[T], p page, convert func(T) U) (entries []U, total int) {
	var chosen []T // so that the entries, which are larger, are made once
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

// filtered yields the entries that keep accepts.
func filtered[T any](all iter.Seq[T], keep func(T) bool) iter.Seq[T] {
	return func(yield func(T) bool) {
		for entry := range all {
			if keep(entry) && !yield(entry) {
				return
			}
		}
	}
}
