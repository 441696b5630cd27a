package cli // inside: it uses app, isList and outputs

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
)

// leaves returns the commands with an action, by their words after gslbctl.
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
	walk(newApp(cmdline.System{}).rootCommand())
	found["health"], _, _ = newApp(cmdline.System{}).rootCommand().Find([]string{"health"})
	return found
}

// once contains the read commands without --watch, each with the reason.
var once = map[string]string{
	"audit export": "a file", "audit tail": "has -f", "audit verify": "of one moment",
	"config validate": "a file", "context show": "a file",
	"events": "has -f", "export": "a file", "plan": "has an exit code of its own",
	"keygen gossip": "a new one each time",
	"keygen token":  "a new one each time", "routing why": "the past", "man": "files",
	"why":         "the past",
	"import bind": "files", "import gdnsd": "files", "import route53": "files",
	"dnssec backup": "a file",
}

// A command that reads has --watch and is among those with compared output. A command that changes has no --watch.
func TestTree_WhatLooksCanBeWatchedAndIsCompared(t *testing.T) {
	// separate tests compare their output
	compared := map[string]bool{"context list": true, "diff": true, "dnssec check": true, "version": true}
	for _, r := range reads {
		words := strings.Fields(r.args)
		for n := range words {
			compared[strings.Join(words[:n+1], " ")] = true
		}
	}
	for path, cmd := range leaves() {
		if cmd.Hidden {
			continue
		}
		watched, reads := cmd.Flags().Lookup("watch") != nil, cmd.Annotations[cmdline.Effect] == cmdline.Reads
		switch {
		case watched && !compared[path]:
			t.Errorf("%s has --watch, and no test compares its output: add it to reads", path)
		case reads != (watched || once[path] != ""):
			t.Errorf("%s has --watch: %v; its effect: %s", path, watched, cmd.Annotations[cmdline.Effect])
		}
	}
}

// Every runnable command declares its effect.
func TestTree_CommandsDeclareTheirEffect(t *testing.T) {
	root := newApp(cmdline.System{}).rootCommand()
	cmdline.AddCompletion(root)
	effects := []string{cmdline.Reads, cmdline.Changes, cmdline.Destroys}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Runnable() && !slices.Contains(effects, cmd.Annotations[cmdline.Effect]) {
			t.Errorf("%s declares the effect %q: wrap it in reading, changing or destroying", cmd.CommandPath(),
				cmd.Annotations[cmdline.Effect])
		}
		for _, child := range cmd.Commands() {
			walk(child)
		}
	}
	walk(root)
}

func TestTree_OutputFormatsAreThoseThatFit(t *testing.T) {
	for path, cmd := range leaves() {
		a := newApp(cmdline.System{})
		a.Timeout = 1
		for _, format := range append(cmdline.Formats(), "csv", "JSON", "") {
			a.Output = format
			err := a.CheckFlags(cmd)
			if fits := slices.Contains(cmdline.Formats(), format) &&
				(format != cmdline.Name || cmd.Annotations[cmdline.IsList] != ""); (err == nil) != fits {
				t.Errorf("%s -o %q: %v", path, format, err)
			}
		}
		if strings.HasSuffix(path, " list") && cmd.Annotations[cmdline.IsList] == "" {
			t.Errorf("%s is no list", path)
		}
	}
}

// With -o name, each list command prints only names. Other commands reject -o name.
func TestTree_ListsHaveNames(t *testing.T) {
	nodes := []*node{startNode(t)}
	all := leaves()
	for _, r := range reads {
		words := strings.Fields(r.args)
		path := strings.Join(words[:min(2, len(words))], " ")
		if cmd := all[path]; cmd == nil || cmd.Annotations[cmdline.IsList] == "" {
			continue
		}
		for _, format := range cmdline.Formats() {
			got := call(t, cmdline.System{}, nodes, append([]string{"--api", documented(0), "-o", format}, words...)...)
			if got.code != r.code || got.errors != "" || got.out == "" {
				t.Errorf("%s -o %s: %+v", r.args, format, got)
			}
			if format == cmdline.Name && strings.Contains(got.out, "  ") {
				t.Errorf("%s -o name prints more than names:\n%s", r.args, got.out)
			}
		}
	}
}

// Every destructive command has --yes. drain asks for confirmation if it selects several servers, and undrain accepts
// the same flags.
func TestTree_WhatDestroysAsks(t *testing.T) {
	all := leaves()
	for _, path := range slices.Sorted(maps.Keys(all)) {
		asks := all[path].Flags().Lookup("yes") != nil
		if asks != (all[path].Annotations[cmdline.Effect] == cmdline.Destroys || path == "drain" || path == "undrain") {
			t.Errorf("%s has --yes: %v; its effect: %s", path, asks, all[path].Annotations[cmdline.Effect])
		}
	}
}

// Without a terminal, the command sends only the requests that the question needs, and the error names --yes.
func TestTree_NothingIsDestroyedUnasked(t *testing.T) {
	asking := map[string]bool{"context delete": true} // of this machine, by a test of its own
	for _, line := range []string{"agents revoke eu-1 --reason x", "agents unpin eu-1", "agents unlock app.example.com",
		"agents unpin --service app.example.com --never-reported",
		"config reset dns", "dnssec roll example.com --emergency", "dnssec unsign example.com",
		"domains remove app.example.com", "drain 192.0.2.10", "domains reset app.example.com", "regions reset eu",
		"servers reset app.example.com:192.0.2.10:443",
		"agents remove eu-1", "geo remove 198.51.100.0/24",
		"records delete www.example.com A", "nodes reissue eu-1", "regions remove eu",
		"servers remove app.example.com:192.0.2.10:443", "tokens revoke external-dns"} {
		n := startNode(t)
		asking[commandOf(line)] = true
		r := ask(t, line, n)
		if r.code != fleet.NotAsked || !strings.Contains(r.errors, "--yes") || len(n.changes()) > 0 ||
			strings.Count(strings.TrimSpace(r.errors), "\n") > 0 {
			t.Errorf("%s: %+v, %q", line, r, n.changes())
		}
	}
	for path, cmd := range visible() {
		if cmd.Annotations[cmdline.Effect] == cmdline.Destroys && !asking[path] {
			t.Errorf("%s destroys, and no line above tests its question", path)
		}
	}
}

// Each failure is reported in one sentence, with exit code 2 if no node is reachable.
func TestTree_ANodeThatIsGoneIsToldInOneSentence(t *testing.T) {
	gone := dead(t)
	for _, r := range reads {
		if strings.HasPrefix(r.args, "version") {
			continue // tells it in its table
		}
		got := call(t, cmdline.System{}, nil, append([]string{"--api", gone}, strings.Fields(r.args)...)...)
		if got.code != fleet.NotAsked || got.out != "" ||
			!strings.HasPrefix(got.errors, "gslbctl: nothing listens on http://"+gone+": start the node") ||
			strings.Count(got.errors, "\n") != 1 {
			t.Errorf("%s: %+v", r.args, got)
		}
	}
}
