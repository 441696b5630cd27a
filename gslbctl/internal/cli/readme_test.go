package cli // inside: it uses app and exitCodes

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"gslb.internal/gslbctl/internal/cmdline"
)

const readme = "../../README.md"

// exampleDir is the directory that the README's commands write to.
const exampleDir = "/tmp/gslb-try"

// TestREADME_ExamplesDoWhatTheyShow runs every console example.
func TestREADME_ExamplesDoWhatTheyShow(t *testing.T) {
	nodes := []*node{startNode(t), startNode(t)}
	examples := consoleExamples(t)
	if len(examples) < 6 {
		t.Fatalf("only %d examples found", len(examples))
	}
	code := 0
	made, at := t.TempDir(), t.TempDir()
	for _, e := range examples {
		e.line, e.output = strings.ReplaceAll(e.line, exampleDir, made), strings.ReplaceAll(e.output, exampleDir, made)
		got := fmt.Sprintln(code)
		if e.line != "echo $?" {
			words := shellWords(e.line)
			if words[0] != "gslbctl" {
				t.Fatalf("%s: not a command that this test can run", e.line)
			}
			sys := cmdline.System{Getenv: func(name string) string { return map[string]string{"HOME": at}[name] }}
			r := call(t, sys, nodes, words[1:]...)
			code, got = r.code, strings.ReplaceAll(r.out+r.errors, at, "/home/me")
		}
		if got != e.output {
			t.Errorf("$ %s\ngot\n%s\nthe README shows\n%s", e.line, got, e.output)
		}
	}
}

type example struct{ line, output string }

// consoleExamples reads the console blocks: a command after "$ ", followed by its output.
func consoleExamples(t *testing.T) []example {
	t.Helper()
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	var list []example
	for i, block := range strings.Split(string(text), "```console\n") {
		if i == 0 {
			continue
		}
		block, _, _ = strings.Cut(block, "```")
		for line := range strings.Lines(block) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				list = append(list, example{line: strings.TrimSpace(command)})
			} else {
				list[len(list)-1].output += line
			}
		}
	}
	return list
}

// shellWords splits a line at blanks outside double quotes.
func shellWords(line string) []string {
	var words []string
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}
