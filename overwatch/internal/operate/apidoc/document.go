package apidoc

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gslb.internal/shared/api"
)

// operation is one method of one path.
type operation struct {
	method, path string
	summary      string
	description  string
	query        []parameter
	header       []parameter // of the request

	body     any      // an example of the request's body, a pointer or a struct of package api; nil for none
	required []string // its fields that must be there
	optional bool     // the body may be left out
	yaml     bool     // the body is a configuration file

	status int // of success
	answer any // an example of the answer's body; nil for none
	// also maps further statuses to answers that are no errors.
	also map[int]any
	// files lists the media types of an answer that is not only JSON.
	files []string
	// errors lists the statuses that this operation adds to those that each may answer.
	errors []int
}

// parameter is one parameter of a query, or a header.
type parameter struct {
	name, description string
	schema            object
	example           any
	required          bool
}

// Operations lists what the document describes as "METHOD path", the path as OpenAPI writes it.
func Operations() []string {
	var list []string
	for _, o := range operations() {
		list = append(list, o.method+" "+o.path)
	}
	return list
}

// Document makes the document. types is the directory of the source of package api; role tells who may use an operation.
func Document(types string, role func(method, path string) api.Role) ([]byte, error) {
	src, err := readSource(types)
	if err != nil {
		return nil, err
	}
	s := &schemas{source: src, made: object{}, bounds: bounds(), used: map[string]bool{}}
	failure := s.ref(reflect.TypeFor[api.ErrorBody](), false, nil)
	paths := map[string]object{}
	tags := map[string]bool{}
	for _, o := range operations() {
		if paths[o.path] == nil {
			paths[o.path] = object{}
		}
		if _, twice := paths[o.path][strings.ToLower(o.method)]; twice {
			return nil, fmt.Errorf("%s %s stands twice in the table of operations", o.method, o.path)
		}
		paths[o.path][strings.ToLower(o.method)] = s.operation(o, role(o.method, o.path))
		tags[o.tag()] = true
	}
	for key := range s.bounds {
		if !s.used[key] {
			return nil, fmt.Errorf("bounds has %s, which no operation uses", key)
		}
	}
	document := object{
		"openapi": "3.1.0",
		"info": object{
			"title": "gslb overwatch API", "version": "v1",
			"summary": "What one overwatch node knows and does.", "description": introduction,
		},
		"servers":  []any{object{"url": "/", "description": "the node that served this document"}},
		"tags":     tagList(tags),
		"paths":    paths,
		"security": []any{object{}, object{"token": []string{}}},
		"components": object{
			"schemas": s.made, "responses": errorResponses(failure),
			"securitySchemes": object{"token": object{
				"type": "http", "scheme": "bearer",
				"description": "Needed where api.tokens is set: a token of at least the role that x-role of the operation names.",
			}},
		},
	}
	text, err := json.MarshalIndent(document, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encoding the document: %w", err)
	}
	return append(text, '\n'), nil
}

// tag is the resource of an operation: the first part of its path below the version.
func (o *operation) tag() string {
	rest, versioned := strings.CutPrefix(o.path, "/api/v1/")
	if !versioned {
		rest = strings.TrimPrefix(o.path, "/api/")
	}
	name, _, _ := strings.Cut(rest, "/")
	switch name {
	case "ready", "live", "version", "health", "openapi.json", "docs":
		return "service"
	}
	return name
}

func tagList(tags map[string]bool) []any {
	var names []string
	for name := range tags {
		names = append(names, name)
	}
	slices.Sort(names)
	var list []any
	for _, name := range names {
		list = append(list, object{"name": name})
	}
	return list
}

// id is a name for the operation that generated clients can use.
func (o *operation) id() string {
	var b strings.Builder
	b.WriteString(strings.ToLower(o.method))
	for part := range strings.FieldsFuncSeq(strings.TrimPrefix(strings.TrimPrefix(o.path, "/api"), "/v1"), func(r rune) bool {
		return !('a' <= r && r <= 'z') && !('0' <= r && r <= '9')
	}) {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

func (s *schemas) operation(o operation, role api.Role) object {
	made := object{
		"operationId": o.id(), "summary": o.summary, "tags": []string{o.tag()},
		"responses": s.responses(o), "x-role": role,
	}
	if o.description != "" {
		made["description"] = o.description
	}
	if role == api.RoleNone {
		made["security"] = []any{}
	}
	if list := parameters(o); len(list) > 0 {
		made["parameters"] = list
	}
	switch {
	case o.yaml:
		made["requestBody"] = object{"required": true, "content": object{"application/yaml": object{"schema": object{"type": "string"}, "example": o.body}}}
	case o.body != nil:
		made["requestBody"] = object{"required": !o.optional, "content": object{"application/json": object{
			"schema": s.ref(reflect.Indirect(reflect.ValueOf(o.body)).Type(), true, o.required), "example": o.body,
		}}}
	}
	return made
}

func parameters(o operation) []any {
	var list []any
	for part := range strings.SplitSeq(o.path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			name = strings.TrimSuffix(name, "}")
			p := pathParameter(o.path, name)
			list = append(list, object{"name": name, "in": "path", "required": true, "description": p.description, "schema": object{"type": "string"}, "example": p.example})
		}
	}
	add := func(in string, params []parameter) {
		for _, p := range params {
			made := object{"name": p.name, "in": in, "description": p.description, "schema": p.schema}
			if p.required {
				made["required"] = true
			}
			if p.example != nil {
				made["example"] = p.example
			}
			list = append(list, made)
		}
	}
	add("query", o.query)
	add("header", o.header)
	return list
}

// identified is the header of every answer.
func identified() object {
	return object{"X-Request-Id": object{"description": "the id of the request, as the node's log has it", "schema": object{"type": "string"}}}
}

func (s *schemas) responses(o operation) object {
	made := object{strconv.Itoa(o.status): s.success(o, o.status, o.answer)}
	for status, answer := range o.also {
		made[strconv.Itoa(status)] = s.success(o, status, answer)
	}
	for _, status := range o.failures() {
		if _, told := made[strconv.Itoa(status)]; !told {
			made[strconv.Itoa(status)] = object{"$ref": "#/components/responses/" + errorName(status)}
		}
	}
	return made
}

func (s *schemas) success(o operation, status int, answer any) object {
	made := object{"description": http.StatusText(status), "headers": identified()}
	switch {
	case len(o.files) > 0:
		content := object{}
		for _, kind := range o.files {
			content[kind] = object{"schema": object{"type": "string"}}
		}
		if answer != nil {
			content["application/json"] = s.json(answer)
		}
		made["content"] = content
	case answer != nil:
		made["content"] = object{"application/json": s.json(answer)}
	}
	return made
}

func (s *schemas) json(answer any) object {
	t := reflect.Indirect(reflect.ValueOf(answer)).Type()
	if t.Kind() == reflect.Map {
		return object{"schema": object{"type": "object"}}
	}
	return object{"schema": s.ref(t, false, nil), "example": answer}
}

// failures are the statuses of errors that the operation may answer.
func (o *operation) failures() []int {
	list := append([]int{http.StatusBadRequest, http.StatusMisdirectedRequest, http.StatusInternalServerError}, o.errors...)
	if o.open() {
		list = list[1:]
	} else {
		list = append(list, http.StatusForbidden, http.StatusUnauthorized)
	}
	if strings.Contains(o.path, "{") {
		list = append(list, http.StatusNotFound)
	}
	if o.method != http.MethodGet {
		list = append(list, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusForbidden, http.StatusServiceUnavailable)
	}
	return list
}

// open tells whether the operation is for everybody who can connect.
func (o *operation) open() bool {
	return slices.Contains([]string{"/api/health", "/api/v1/ready", "/api/v1/live", "/api/v1/version"}, o.path)
}
