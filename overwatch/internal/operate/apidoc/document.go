package apidoc

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gslb.internal/overwatch/internal/operate/httpapi"
	"gslb.internal/shared/api"
)

// Document returns the OpenAPI document of the operations. types are the directories with the source of packages api
// and model.
func Document(types []string, operations []httpapi.Operation) ([]byte, error) {
	src, err := readSource(types...)
	if err != nil {
		return nil, err
	}
	s := &schemas{source: src, made: object{}, bounds: bounds(), used: map[string]bool{}}
	failure := s.ref(reflect.TypeFor[api.ErrorBody](), false, nil)
	paths := map[string]object{}
	tags := map[string]bool{}
	for _, o := range operations {
		if paths[o.Path] == nil {
			paths[o.Path] = object{}
		}
		if _, twice := paths[o.Path][strings.ToLower(o.Method)]; twice {
			return nil, fmt.Errorf("%s %s stands twice in the table of operations", o.Method, o.Path)
		}
		paths[o.Path][strings.ToLower(o.Method)] = s.operation(o)
		tags[tag(o.Path)] = true
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

// tag returns the resource of a path: its first part below the version.
func tag(path string) string {
	rest, versioned := strings.CutPrefix(path, "/api/v1/")
	if !versioned {
		rest = strings.TrimPrefix(path, "/api/")
	}
	name, _, _ := strings.Cut(rest, "/")
	switch name {
	case "ready", "live", "version", "health", "openapi.json", "docs":
		return "service"
	}
	return name
}

func tagList(tags map[string]bool) []any {
	var list []any
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		list = append(list, object{"name": name})
	}
	return list
}

// id returns a name for the operation that generated clients can use.
func id(o httpapi.Operation) string {
	var b strings.Builder
	b.WriteString(strings.ToLower(o.Method))
	for part := range strings.FieldsFuncSeq(strings.TrimPrefix(strings.TrimPrefix(o.Path, "/api"), "/v1"),
		func(r rune) bool {
			return !('a' <= r && r <= 'z') && !('0' <= r && r <= '9')
		}) {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

func (s *schemas) operation(o httpapi.Operation) object {
	made := object{
		"operationId": id(o), "summary": o.Summary, "tags": []string{tag(o.Path)},
		"responses": s.responses(o), "x-role": o.LeastRole(),
	}
	if o.Description != "" {
		made["description"] = o.Description
	}
	if o.LeastRole() == api.RoleNone {
		made["security"] = []any{}
	}
	if list := parameters(o); len(list) > 0 {
		made["parameters"] = list
	}
	switch {
	case o.YAML:
		made["requestBody"] = object{"required": true,
			"content": object{"application/yaml": object{"schema": object{"type": "string"}, "example": o.Body}}}
	case o.Body != nil:
		made["requestBody"] = object{"required": !o.Optional, "content": object{"application/json": object{
			"schema": s.body(reflect.Indirect(reflect.ValueOf(o.Body)).Type(), o.Required), "example": o.Body,
		}}}
	}
	return made
}

func parameters(o httpapi.Operation) []any {
	var list []any
	for part := range strings.SplitSeq(o.Path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			name = strings.TrimSuffix(name, "}")
			description, example := pathParameter(o.Path, name)
			list = append(list, object{
				"name": name, "in": "path", "required": true, "description": description,
				"schema": object{"type": "string"}, "example": example,
			})
		}
	}
	add := func(in string, params []httpapi.Parameter) {
		for _, p := range params {
			made := object{"name": p.Name, "in": in, "description": p.Description, "schema": p.Schema}
			if p.Required {
				made["required"] = true
			}
			if p.Example != nil {
				made["example"] = p.Example
			}
			list = append(list, made)
		}
	}
	add("query", o.Query)
	add("header", o.Header)
	return list
}

// identified returns the header of every response.
func identified() object {
	return object{"X-Request-Id": object{"description": "the id of the request, as the node's log has it",
		"schema": object{"type": "string"}}}
}

func (s *schemas) responses(o httpapi.Operation) object {
	made := object{strconv.Itoa(o.Status): s.success(o, o.Status, o.Answer)}
	for status, answer := range o.Also {
		made[strconv.Itoa(status)] = s.success(o, status, answer)
	}
	for _, status := range errorsOf(o) {
		if _, told := made[strconv.Itoa(status)]; !told {
			made[strconv.Itoa(status)] = object{"$ref": "#/components/responses/" + errorName(status)}
		}
	}
	return made
}

func (s *schemas) success(o httpapi.Operation, status int, answer any) object {
	made := object{"description": http.StatusText(status), "headers": identified()}
	switch {
	case len(o.Files) > 0:
		content := object{}
		for _, kind := range o.Files {
			content[kind] = object{"schema": object{"type": "string"}}
		}
		if answer != nil {
			content["application/json"] = s.json(answer)
		}
		made["content"] = content
	case answer != nil && o.Replicates():
		body := s.json(answer)
		body["schema"] = object{"allOf": []any{body["schema"], object{"type": "object", "properties": object{
			"replication": s.ref(reflect.TypeFor[api.Reached](), false, nil)}}}}
		made["content"] = object{"application/json": body}
	case answer != nil:
		body := s.json(answer)
		if o.Or != nil && status == o.Status {
			body["schema"] = object{"anyOf": []any{body["schema"], s.json(o.Or)["schema"]}}
		}
		made["content"] = object{"application/json": body}
	}
	return made
}

func (s *schemas) json(answer any) object {
	t := reflect.Indirect(reflect.ValueOf(answer)).Type()
	if t.Kind() == reflect.Map {
		return object{"schema": object{"type": "object"}}
	}
	if t.Kind() == reflect.Slice {
		return object{"schema": object{"type": "array", "items": s.ref(t.Elem(), false, nil)}, "example": answer}
	}
	return object{"schema": s.ref(t, false, nil), "example": answer}
}

// errorsOf returns the error statuses of the operation.
func errorsOf(o httpapi.Operation) []int {
	list := append([]int{http.StatusBadRequest, http.StatusMisdirectedRequest, http.StatusInternalServerError},
		o.Errors...)
	if o.Public {
		list = list[1:]
	} else {
		list = append(list, http.StatusForbidden, http.StatusUnauthorized)
	}
	if strings.Contains(o.Path, "{") {
		list = append(list, http.StatusNotFound)
	}
	if o.Method != http.MethodGet {
		list = append(list, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
			http.StatusForbidden, http.StatusServiceUnavailable)
	}
	return list
}
