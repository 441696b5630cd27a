package main

import (
	"go/scanner"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// proseOf returns the prose of a file, each line at its number: Markdown without code, comments and strings of Go.
func proseOf(path, content string) string {
	switch {
	case strings.HasSuffix(path, ".md"):
		return markdown(content)
	case strings.HasSuffix(path, ".go"):
		return comments(content)
	}
	return ""
}

// markdown returns a document without blocks and spans of code, HTML comments, and targets of links.
func markdown(content string) string {
	var b strings.Builder
	block := false
	for line := range strings.Lines(content) {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence {
			block = !block
		}
		if block || fence || strings.HasPrefix(line, "    ") && !isListText(line) {
			line = "\n"
		}
		b.WriteString(line)
	}
	return blank(b.String(), regexp.MustCompile("(?s)<!--.*?-->|`[^`]*`|\\]\\([^)]*\\)"))
}

// isListText reports whether an indented line can be the text of a nested list.
func isListText(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "- ") }

// comments returns the comments of a Go file, and its strings of three words or more.
func comments(source string) string {
	lines := make([]string, strings.Count(source, "\n")+1)
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(source))
	s.Init(file, []byte(source), func(token.Position, string) {}, scanner.ScanComments)
	for {
		pos, kind, text := s.Scan()
		if kind == token.EOF {
			return blank(strings.Join(lines, "\n"), regexp.MustCompile("`[^`]*`"))
		}
		switch kind {
		case token.COMMENT:
			if strings.HasPrefix(text, "//go:") || strings.HasPrefix(text, "//nolint") {
				continue
			}
			text = strings.Trim(text, "/*")
		case token.STRING:
			value, err := strconv.Unquote(text)
			if err != nil || len(words(value)) < 3 {
				continue
			}
			if text[0] == '"' {
				value = strings.ReplaceAll(value, "\n", " ") // an escaped line break
			}
			text = value
		default:
			continue
		}
		for i, line := range strings.Split(text, "\n") {
			if at := file.Line(pos) - 1 + i; at < len(lines) {
				lines[at] += " " + line
			}
		}
	}
}

// blank replaces all matches by spaces, except line breaks.
func blank(text string, what *regexp.Regexp) string {
	return what.ReplaceAllStringFunc(text, func(match string) string {
		return " " + strings.Repeat("\n", strings.Count(match, "\n"))
	})
}

// words returns the words of a text: sequences of letters and apostrophes.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '\'' && r < 128
	})
}
