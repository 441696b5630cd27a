package settings

import "fmt"

// LoadList reads a YAML or JSON file of at most limit octets, whose top-level value is a list, into the key of the
// struct that into points to. It reads no other file and no environment. An empty file is a problem, because another
// process may be writing it; an empty list is []. The error is of type Problems; after an error the struct is invalid.
func LoadList(path string, limit int64, key string, into any, validate func(*Report)) error {
	content, err := readFile(path, limit)
	if err != nil {
		return Problems{{File: path, Message: err.Error()}}
	}
	list, problems := parse(path, content.text)
	for i := range problems {
		problems[i].File = path
	}
	if problems != nil {
		return problems
	}
	doc := &document{path: path}
	if list.kind != sequence {
		message := fmt.Sprintf("expected a list, [] if there is nothing to say, found %s", list.describe())
		return Problems{Problem{Message: message}.in(doc.position(list.at))}
	}
	list.key = key
	doc.root = node{kind: mapping, at: list.at, children: []node{list}}
	report := newReport()
	report.documents = append(report.documents, doc)
	return decodeAll(report, into, Options{Validate: validate}, true)
}
