package cli // inside: it uses app, isList and outputs

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// leaves returns the commands that do something, by what follows gslbctl on the command line.
func leaves() map[string]*cobra.Command {
	found := map[string]*cobra.Command{}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Runnable() && !cmd.HasSubCommands() {
			found[strings.TrimPrefix(cmd.CommandPath(), "gslbctl ")] = cmd
		}
		for _, child := range cmd.Commands() {
			walk(child)
		}
	}
	walk((&app{}).rootCommand())
	found["health"], _, _ = (&app{}).rootCommand().Find([]string{"health"})
	return found
}

// once are the commands that show something and end, and why looking again is no use.
var once = map[string]string{
	"audit export": "a file", "audit tail": "has -f", "audit verify": "of one moment",
	"backends validate": "has the node do something",
	"config validate":   "a file", "context show": "a file", "gossip generate-key": "a new one each time",
	"events": "has -f", "external-dns": "runs until it is stopped",
	"export": "a file", "plan": "has an exit code of its own", "keygen gossip": "a new one each time",
	"keygen token": "a new one each time", "routing why": "the past", "watch": "is that", "man": "files", "init": "files",
	"import bind": "files", "import gdnsd": "files", "import route53": "files",
	"notifications test": "has the nodes do something",
}

// destroys are the commands that take something away that one command does not bring back.
var destroys = []string{"agents revoke", "agents unlock", "agents unpin", "config reset", "context delete", "dnssec roll",
	"dnssec unsign", "domains remove", "domains reset", "drain", "geo remove", "nodes deregister",
	"nodes reissue", "nodes revoke", "regions remove", "regions reset", "servers remove", "servers reset"}

// Every command either looks, and then it can be watched and is among those whose output is compared, or changes
// something.
func TestTree_WhatLooksCanBeWatchedAndIsCompared(t *testing.T) {
	// by tests of their own
	compared := map[string]bool{"context list": true, "diff": true, "dnssec check": true, "version": true}
	for _, r := range reads {
		words := strings.Fields(r.args)
		for n := range words {
			compared[strings.Join(words[:n+1], " ")] = true
		}
	}
	verbs := []string{"add", "set", "remove", "clear", "drain", "undrain", "revoke", "unpin", "unlock", "deregister",
		"reissue", "announce", "apply", "delete", "use", "reset", "reload", "sync", "check", "weight", "undo",
		"release", "roll", "unsign", "sign", "backup", "restore"}
	for path, cmd := range leaves() {
		last := path[strings.LastIndex(path, " ")+1:]
		watched := cmd.Flags().Lookup("watch") != nil
		switch {
		case watched && !compared[path]:
			t.Errorf("%s looks, and no test compares what it prints: add it to reads", path)
		case !watched && once[path] == "" && !slices.Contains(verbs, last):
			t.Errorf("%s has no --watch and is not known to change anything", path)
		}
	}
}

func TestTree_OutputFormatsAreThoseThatFit(t *testing.T) {
	for path, cmd := range leaves() {
		a := &app{timeout: 1}
		for _, format := range append(outputs(), "csv", "JSON", "") {
			a.output = format
			err := a.checkFlags(cmd)
			if fits := slices.Contains(outputs(), format) &&
				(format != outputName || cmd.Annotations[isList] != ""); (err == nil) != fits {
				t.Errorf("%s -o %q: %v", path, format, err)
			}
		}
		if strings.HasSuffix(path, " list") && cmd.Annotations[isList] == "" {
			t.Errorf("%s is no list", path)
		}
	}
}

// What looks and is a list prints names alone with -o name, and something else with the others.
func TestTree_ListsHaveNames(t *testing.T) {
	nodes := []*node{startNode(t)}
	all := leaves()
	for _, r := range reads {
		words := strings.Fields(r.args)
		path := strings.Join(words[:min(2, len(words))], " ")
		if cmd := all[path]; cmd == nil || cmd.Annotations[isList] == "" {
			continue
		}
		for _, format := range outputs() {
			got := call(t, System{}, nodes, append([]string{"--api", documented(0), "-o", format}, words...)...)
			if got.code != r.code || got.errors != "" || got.out == "" {
				t.Errorf("%s -o %s: %+v", r.args, format, got)
			}
			if format == outputName && strings.Contains(got.out, "  ") {
				t.Errorf("%s -o name prints more than names:\n%s", r.args, got.out)
			}
		}
	}
}

func TestTree_WhatDestroysAsks(t *testing.T) {
	all := leaves()
	for _, path := range slices.Sorted(maps.Keys(all)) {
		asks := all[path].Flags().Lookup("yes") != nil
		if asks != slices.Contains(append(slices.Clone(destroys), "undrain"), path) { // undrain has the flags of drain
			t.Errorf("%s: --yes %v", path, asks)
		}
	}
}

// Where nobody can answer a question, nothing is asked of a node but what the question needs, and --yes is named.
func TestTree_NothingIsDestroyedUnasked(t *testing.T) {
	for _, line := range []string{"agents revoke eu-1 --reason x", "agents unpin eu-1", "agents unlock app.example.com",
		"agents unpin --service app.example.com --never-reported",
		"config reset dns", "dnssec roll example.com --emergency", "dnssec unsign example.com",
		"domains remove app.example.com", "drain 192.0.2.10",
		"geo remove 198.51.100.0/24", "nodes deregister eu-1", "nodes reissue eu-1", "nodes revoke eu-1", "regions remove eu",
		"servers remove app.example.com:192.0.2.10:443"} {
		n := startNode(t)
		r := ask(t, line, n)
		if r.code != exitNotAsked || !strings.Contains(r.errors, "--yes") || len(n.changes()) > 0 ||
			strings.Count(strings.TrimSpace(r.errors), "\n") > 0 {
			t.Errorf("%s: %+v, %q", line, r, n.changes())
		}
	}
}

// Whatever is wrong is told in one sentence, with exit code 2 where no node can be reached.
func TestTree_ANodeThatIsGoneIsToldInOneSentence(t *testing.T) {
	gone := dead(t)
	for _, r := range reads {
		if strings.HasPrefix(r.args, "version") {
			continue // tells it in its table
		}
		got := call(t, System{}, nil, append([]string{"--api", gone}, strings.Fields(r.args)...)...)
		if got.code != exitNotAsked || got.out != "" ||
			!strings.HasPrefix(got.errors, "gslbctl: nothing listens on http://"+gone+": start the node") ||
			strings.Count(got.errors, "\n") != 1 {
			t.Errorf("%s: %+v", r.args, got)
		}
	}
}
