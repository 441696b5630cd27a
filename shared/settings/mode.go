package settings

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// modeKey is the key that chooses the role of a process.
const modeKey = "mode"

// Mode reads the mode of a configuration file, before Load. known are the valid modes. The file itself must contain the
// key, not an included file. Load reports other faults.
func Mode(path string, known []string) (string, error) {
	if mode := modeAhead(path); slices.Contains(known, mode) {
		return mode, nil
	}
	report := newReport()
	doc := (&reader{report: report}).open(path, Position{})
	if doc == nil {
		return "", report.err()
	}
	choice := "use mode: " + strings.Join(known, " or mode: ")
	n := doc.root.value(modeKey)
	if n == nil {
		return "", Problems{{File: path, Key: modeKey, Message: "is missing: " + choice}}
	}
	if !n.isScalar() || !slices.Contains(known, n.text) {
		problem := Problem{Key: modeKey, Value: n.text, Message: "no such mode: " + choice}
		return "", Problems{problem.in(doc.position(n.at))}
	}
	return n.text, nil
}

// maxHead bounds the octets that are searched for the mode.
const maxHead = 64 << 10

// modeAhead returns the mode of a file that begins with it, as most do, so that a large file is read only once. ""
// means that the caller must read the whole file.
func modeAhead(path string) string {
	f, err := openFile(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, maxHead))
	if err != nil {
		return ""
	}
	return modeOf(string(head))
}

// modeLine matches the beginning of a YAML text: comments, the mode as a plain word on its line, comments, and the
// first letter of the next key. Without the next key, the word could continue beyond the octets of the head.
var modeLine = regexp.MustCompile(`^(?: *(?:#[ -~]*)?\n)*` +
	modeKey + `: +([a-z]+) *(?: #[ -~]*)?\n(?: *(?:#[ -~]*)?\n)*[a-z]`)

// modeOf returns the mode of a text that begins with it, or "".
func modeOf(text string) string {
	if found := modeLine.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}

// checkMode reports whether the files have the mode of this program, and returns the problem if not.
func checkMode(report *Report, want string) (Problem, bool) {
	for _, doc := range report.documents {
		n := doc.root.value(modeKey)
		if n == nil {
			continue
		}
		if n.text == want {
			return Problem{}, true
		}
		problem := Problem{Key: modeKey, Value: n.text, Message: fmt.Sprintf(
			"this program runs mode: %s; start the program of that mode, or gslb, which runs either", want)}
		return problem.in(doc.position(n.at)), false
	}
	var first string
	if len(report.documents) > 0 {
		first = report.documents[0].path
	}
	return Problem{File: first, Key: modeKey, Message: "is missing: write mode: " + want}, false
}
