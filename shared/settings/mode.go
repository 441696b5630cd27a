package settings

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// modeKey chooses the role of a process.
const modeKey = "mode"

// Mode reads which role a configuration file is for, as the launcher must know before anything else. known are the
// modes there are. The key must stand in this very file, not in an included one. What else is wrong with the file may be left to Load.
func Mode(path string, known []string) (string, error) {
	if mode, ok := modeAhead(path); ok && slices.Contains(known, mode) {
		return mode, nil
	}
	report := &Report{}
	doc := (&reader{report: report}).open(path, Position{})
	if doc == nil {
		return "", report.err()
	}
	choice := "use mode: " + strings.Join(known, " or mode: ")
	i := -1
	if len(doc.nodes) > 0 {
		i = doc.child(0, modeKey)
	}
	if i < 0 || doc.node(i).isNull() {
		return "", Problems{{File: path, Key: modeKey, Message: "is missing: " + choice}}
	}
	n, at := doc.node(i), doc.position(i)
	if !n.isScalar() || !slices.Contains(known, n.text) {
		return "", Problems{{File: at.File, Line: at.Line, Key: modeKey, Value: n.text, Message: "no such mode: " + choice}}
	}
	return n.text, nil
}

// maxHead is how much of a file is read to find the mode in it, in octets.
const maxHead = 64 << 10

// modeAhead reads the mode of a file that begins with it, as most do, which spares reading all of one that is large.
func modeAhead(path string) (mode string, ok bool) {
	f, err := openFile(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, maxHead))
	if err != nil {
		return "", false
	}
	return modeOf(string(head))
}

// modeOf reads the mode of a text that begins with it, unless the text ends before its next key.
func modeOf(text string) (mode string, ok bool) {
	s := scanner{tree: tree{text: text}, line: 1}
	if s.toContent(); s.eof || s.indent != 0 || !s.blockKey() || s.node(0).text != modeKey || !s.blockValue(0, true, 0) {
		return "", false
	}
	if n := s.node(1); n.isScalar() && n.text != "" && !s.eof && s.indent == 0 && onlyCoreCharacters(text[:s.pos+1]) {
		return n.text, true
	}
	return "", false
}

// checkMode tells whether the files are for the mode of this program; if not, the problem.
func checkMode(report *Report, want string) (Problem, bool) {
	for _, doc := range report.documents {
		i := -1
		if len(doc.nodes) > 0 {
			i = doc.child(0, modeKey)
		}
		if i < 0 || doc.node(i).isNull() {
			continue
		}
		n, at := doc.node(i), doc.position(i)
		if n.text == want {
			return Problem{}, true
		}
		return Problem{File: at.File, Line: at.Line, Key: modeKey, Value: n.text,
			Message: fmt.Sprintf("this program runs mode: %s; start the program of that mode, or gslb, which runs either", want)}, false
	}
	var first string
	if len(report.documents) > 0 {
		first = report.documents[0].path
	}
	return Problem{File: first, Key: modeKey, Message: "is missing: write mode: " + want}, false
}
