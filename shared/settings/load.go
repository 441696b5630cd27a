package settings

import "reflect"

// Options controls Load.
type Options struct {
	// Mode is the value that the key `mode` must have.
	Mode string
	// Validate, unless nil, checks the filled struct and adds further problems to the report.
	Validate func(*Report)
}

// Load reads the file and its includes into the struct that into points to, which has the defaults before the call. The
// error is of type Problems and lists all faults; after an error the struct is invalid.
func Load(path string, into any, o Options) error {
	report := newReport()
	files := reader{report: report, known: map[string]Position{}}
	files.read(path, Position{})
	if len(report.problems) > 0 {
		return report.err() // keys may be missing only because a file cannot be read
	}
	if problem, ok := checkMode(report, o.Mode); !ok {
		return Problems{problem} // every key of another mode would be unknown
	}
	return decodeAll(report, into, o, false)
}

// LoadText is Load for a complete YAML text. It reads no files and no environment variables: includes, secrets in files
// and other files that Validate would read are problems.
func LoadText(text string, into any, o Options) error {
	report := newReport()
	report.alone = true
	doc := &document{}
	report.documents = append(report.documents, doc)
	var problems Problems
	if doc.root, problems = parseYAML(text); problems != nil {
		return problems
	}
	if doc.root.kind != mapping {
		return Problems{{Message: "expected keys with values, such as mode: overwatch"}}
	}
	if list := doc.root.value(includesKey); list != nil {
		const message = "this text is checked by itself and no file is read: put into it what it includes"
		return Problems{{Line: int(list.at.line), Key: includesKey, Message: message}}
	}
	if problem, ok := checkMode(report, o.Mode); !ok {
		return Problems{problem}
	}
	return decodeAll(report, into, o, true)
}

// decodeAll stores the documents of a report in a struct. If alone is true, other sources are problems.
func decodeAll(report *Report, into any, o Options, alone bool) error {
	root := reflect.ValueOf(into).Elem()
	d := newDecoder(report)
	if d.alone = alone; alone {
		d.budget = maxTextLists
	}
	for _, doc := range report.documents {
		d.decode(doc, root)
		if !alone && doc.secret.Key != "" && openToOthers(doc.perm) {
			doc.secret.Message = "is a secret, but the file is " + closeRemedy(doc.path, doc.perm)
			report.append(doc.secret)
		}
	}
	leaves := d.schema.leaves("", root)
	if alone {
		refuseSecretFiles(report, d)
	} else {
		(&secrets{report, d}).collect(leaves)
	}
	apply(d.scalars, report, leaves)
	if o.Validate != nil {
		o.Validate(report)
	}
	return report.err()
}
