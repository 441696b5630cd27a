package httpapi

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/shared/api"
)

// Operation is a method of a path, with role, handler, parameters and description. Routes, roles, checks of parameters
// and the OpenAPI document are derived from the table of operations.
type Operation struct {
	Method  string
	Path    string   // as in OpenAPI, such as /api/v1/servers/{id}
	Role    api.Role // required role if tokens are used; empty: RoleRead for GET, RoleAdmin for changes
	Public  bool     // any client may use it, even outside api.allowed_networks
	Changes Kind     // kind of the changed objects; empty: the operation changes no object
	nodes   bool     // without a token: another node authenticates with its Authorization
	handle  handler
	objects finder // the objects of a request; nil: tokens with limits of objects cannot use the operation
	filters bool   // the handler itself applies the scope: it returns and changes only objects of the scope

	Summary     string
	Description string
	Query       []Parameter
	Header      []Parameter // of the request

	Body     any      // an example of the request body, a struct of package api or a text; nil: no body
	Required []string // required fields of the body
	Optional bool     // the body is optional
	YAML     bool     // the body is a configuration file
	MaxBody  int64    // the largest body, in bytes; 0: api.MaxBody

	Status int         // of success
	Answer any         // example of the answer's body; nil: no body
	Or     any         // example of another form of the answer's body; nil: none
	Also   map[int]any // further success statuses, with examples
	Files  []string    // media types of an answer that is not only JSON
	Errors []int       // statuses of errors, in addition to the statuses of all operations
}

// Parameter is a parameter of a query, or a header of a request.
type Parameter struct {
	Name, Description string
	Schema            map[string]any // its JSON schema
	Example           any
	Required          bool

	check     func(text string) error // nil: any text
	otherwise string                  // default value; empty: none
}

// Operations returns the table of all operations. A GET operation also answers HEAD.
func Operations() []Operation {
	return withScopes(withWait(slices.Concat(serviceOperations(), serverOperations(), domainOperations(),
		failbackOperations(), overwatchOperations(),
		brakeOperations(),
		pinOperations(), nodeOperations(), geoOperations(), recordOperations(), regionOperations(), sectionOperations(),
		dnssecOperations(), rolloverOperations(), auditOperations(), metricsOperations(), domainMetricsOperations(),
		configOperations(), routingOperations(),
		documentOperations(), replicationOperations(), eventOperations(),
		notificationOperations(), discoveryOperations(), tokenOperations())))
}

// LeastRole returns the required role for the operation if tokens are used.
func (o *Operation) LeastRole() api.Role {
	switch {
	case o.Role != "":
		return o.Role
	case o.Method == http.MethodGet:
		return api.RoleRead
	}
	return api.RoleAdmin
}

// action returns the action of a scope that the operation needs.
func (o *Operation) action() string {
	return operations.ActionOf(o.LeastRole())
}

// rest is a parameter of a path that may contain slashes.
const rest = "{cidr}"

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// route returns the operation's path as gin writes it.
func (o *Operation) route() string {
	return pathParameter.ReplaceAllStringFunc(o.Path, func(found string) string {
		name := found[1 : len(found)-1]
		if found == rest {
			return "*" + name
		}
		return ":" + name
	})
}

// Short names for the table.
const (
	get, post, put, patch, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete

	v1 = "/api/v1"

	absent   = http.StatusNotFound // for a path without {...}; paths with {...} always include it
	conflict = http.StatusConflict
	noStore  = http.StatusInsufficientStorage
	nothing  = http.StatusNotImplemented
	busy     = http.StatusServiceUnavailable
	tooMany  = http.StatusTooManyRequests

	exampleServer = "app.example.com:192.0.2.1:80"
)

// changeErrors are the error statuses of a change of an object.
var changeErrors = []int{http.StatusPreconditionFailed, noStore}

// unsafeChangeErrors are the error statuses of a change that also has if_safe.
var unsafeChangeErrors = append([]int{conflict}, changeErrors...)

// exampleTime returns the time in the examples of the document.
func exampleTime() time.Time { return time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC) }

// none are the parameters of an operation that accepts no parameters.
var none = []Parameter{}

// text returns a parameter that accepts any text.
func text(name, description string, example any) Parameter {
	return Parameter{Name: name, Description: description, Schema: map[string]any{"type": "string"}, Example: example}
}

// word returns a parameter that accepts one of the given words.
func word[S ~string](name, description string, words []S) Parameter {
	return Parameter{Name: name, Description: description, Schema: map[string]any{"type": "string", "enum": words},
		check: func(text string) error {
			if !slices.Contains(words, S(text)) {
				return badRequest("%s is %.64q: it must be one of %s", name, text, listed(words))
			}
			return nil
		}}
}

// flag returns a parameter that is true or false.
func flag(name, description string) Parameter {
	return word(name, description, []string{"true", "false"})
}

// list returns a parameter that accepts comma-separated words of a vocabulary.
func list(name, description string, words []string, example any) Parameter {
	p := text(name, description, example)
	p.check = func(text string) error {
		for _, given := range splitList(text) {
			if !slices.Contains(words, given) {
				return badRequest("%s has %.64q: it must have words of %s", name, given, listed(words))
			}
		}
		return nil
	}
	return p
}

// number returns a parameter that accepts a whole number from low to high.
func number(name, description string, low, high, otherwise int) Parameter {
	return Parameter{Name: name, Description: description, otherwise: strconv.Itoa(otherwise),
		Schema: map[string]any{"type": "integer", "minimum": low, "maximum": high, "default": otherwise},
		check: func(text string) error {
			if n, err := strconv.Atoi(text); err != nil || n < low || n > high {
				return badRequest("%s is %.64q: it must be a whole number from %d to %d", name, text, low, high)
			}
			return nil
		}}
}

// moment returns a parameter with a time (RFC 3339).
func moment(name, description string) Parameter {
	return Parameter{Name: name, Description: description,
		Schema: map[string]any{"type": "string", "format": "date-time"},
		check: func(text string) error {
			if _, err := time.Parse(time.RFC3339, text); err != nil {
				return badRequest("%s is %.64q: it must be a time such as 2026-01-31T12:00:00Z", name, text)
			}
			return nil
		}}
}

func needed(p Parameter) Parameter {
	p.Required = true
	return p
}

// maxOffset is beyond every list that fits in memory.
const maxOffset = 1 << 31

// paged adds limit and offset to the filters of a list.
func paged(filters ...Parameter) []Parameter {
	return append(filters,
		number("limit", "maximum number of entries", 1, api.MaxPageLimit, api.DefaultPageLimit),
		number("offset", "number of entries to skip", 0, maxOffset, 0))
}

// conditionsOf returns the conditional headers of a request. creates reports whether the request may create the object.
func conditionsOf(creates bool) []Parameter {
	match := text("If-Match", "make the change only if the object has this ETag, or is there at all (*)",
		`"jFhYQ3nN2kqB0aXr5Zt1"`)
	if !creates {
		return []Parameter{match}
	}
	return []Parameter{match, text("If-None-Match", "*: only if there is no such object", "*")}
}
