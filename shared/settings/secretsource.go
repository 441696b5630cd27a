package settings

import (
	"fmt"
	"os"
	"reflect"
	"strings"
)

// secrets reads secrets from sources outside the configuration files.
type secrets struct {
	report  *Report
	decoder *decoder
}

// collect sets each secret from its source. Lists and maps have the syntax of the configuration: YAML or JSON.
func (s *secrets) collect(leaves []leaf) {
	for _, leaf := range leaves {
		if !leaf.field.secret {
			continue
		}
		variable := Variable(leaf.path)
		fromFile, hasFile := s.decoder.secretFiles[leaf.path]
		hasVariable := os.Getenv(variable) != ""
		if s.severalSources(leaf.path, variable, hasFile, hasVariable) {
			continue
		}
		switch {
		case hasFile:
			if text, source, ok := s.decoder.readSecret(leaf.path, fromFile); ok {
				s.storeSecret(leaf, text, source)
			}
		case hasVariable:
			s.storeSecret(leaf, os.Getenv(variable), "environment variable "+variable)
		}
	}
}

// severalSources reports whether a secret has more than one source, and adds the problem.
func (s *secrets) severalSources(key, variable string, hasFile, hasVariable bool) bool {
	var ways []string
	if at, ok := s.report.given[key]; ok {
		ways = append(ways, "at "+at.String())
	}
	if hasFile {
		ways = append(ways, "by "+key+secretFileSuffix+" at "+s.decoder.secretFiles[key].at.String())
	}
	if hasVariable {
		ways = append(ways, "by the environment variable "+variable)
	}
	if len(ways) < 2 {
		return false
	}
	s.report.Add(key, "", fmt.Sprintf("is given in %d ways (%s): keep one", len(ways), strings.Join(ways, ", ")))
	return true
}

// readSecret reads the file that a _file key names for a secret.
func (d *decoder) readSecret(key string, from given) (text, path string, ok bool) {
	path = beside(from.at.File, from.text)
	wrong := func(message string) (string, string, bool) {
		p := Problem{Key: key + secretFileSuffix, Value: from.text, Message: "the file " + path + " " + message}
		d.report.append(p.in(from.at))
		d.report.problemKeys[key] = true
		return "", path, false
	}
	content, err := readFile(path, maxSecretFile)
	if err != nil {
		return wrong(err.Error())
	}
	if openToOthers(content.perm) {
		return wrong("holds a secret, but it is " + closeRemedy(path, content.perm))
	}
	if text = strings.TrimRight(content.text, "\r\n"); text == "" {
		return wrong("is empty")
	}
	return text, path, true
}

// storeSecret stores the text of a secret, read from source, in the leaf.
func (s *secrets) storeSecret(leaf leaf, text, source string) {
	s.report.outside[leaf.path] = Position{File: source}
	if leaf.field.shape == scalarShape {
		s.decoder.scalars[leaf.path] = text
		return
	}
	root, problems := parse(source, text)
	if problems != nil || root.isNull() {
		language := "YAML"
		if isJSON(source) {
			language = "JSON"
		}
		p := Problem{File: source, Key: leaf.path, Message: "not valid " + language + "; expected " + form(leaf.value.Type())}
		if problems != nil {
			p.Line, p.Column = problems[0].Line, problems[0].Column
		}
		s.report.append(p)
		return
	}
	d := *s.decoder // the same report, another document
	d.document = &document{path: source, root: root}
	d.path = path{{name: leaf.path}}
	d.collection(leaf.field, leaf.value, &root, true)
}

// form describes the syntax of a collection of secrets, for messages.
func form(t reflect.Type) string {
	if t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Slice {
		return `a map such as {"app.example.com": ["token"]}`
	}
	if t.Kind() == reflect.Map {
		return `a map such as {"app.example.com": "token"}`
	}
	return `a list such as ["first", "second"]`
}

// refuseSecretFiles adds a problem for each _file key of a text of LoadText.
func refuseSecretFiles(report *Report, d *decoder) {
	for key, from := range d.secretFiles {
		report.append(Problem{
			Line: from.at.Line, Key: key + secretFileSuffix, Value: from.text,
			Message: "this text is checked by itself and no file is read: put a value of the same form under " + key,
		})
		report.problemKeys[key] = true
	}
}
