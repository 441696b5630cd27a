package cli // inside: it uses oldNames

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
)

// Every old name still sends its request, and prints the name that replaces it.
func TestOldNames_RunAndWarn(t *testing.T) {
	lines := map[string]struct{ args, sent, out string }{
		"backends override": {"", "", "Set and clear overrides"},
		"backends override set": {"app.example.com 192.0.2.11:443 --healthy --reason r",
			`PUT /api/v1/overrides/app.example.com/192.0.2.11:443  {"healthy":true,"reason":"r","source":"gslbctl"}`,
			"app.example.com 192.0.2.11:443 is unhealthy for 30m"},
		"backends override clear": {"app.example.com 192.0.2.11:443",
			"DELETE /api/v1/overrides/app.example.com/192.0.2.11:443",
			"the override of app.example.com 192.0.2.11:443 is cleared"},
		"gossip config":       {"", "GET /api/v1/gossip/config", "PROBE TIMEOUT"},
		"gossip generate-key": {"", "POST /api/v1/gossip/generate-key", ""},
		"nodes deregister":    {"eu-9 -y", "DELETE /api/v1/nodes/agent/eu-9", "agent eu-9 is deleted"},
		"nodes overwatch":     {"", "GET /api/v1/nodes/overwatch", "ow-1"},
		"nodes revoke": {"eu-1 -y", "DELETE /api/v1/nodes/agent/eu-1/certificate",
			"eu-1 is rejected until it is unpinned"},
		"servers drain": {"app.example.com:192.0.2.12:443 --to 25% --reason half --for 1h",
			`POST /api/v1/servers/app.example.com:192.0.2.12:443/drain  ` +
				`{"share":0.25,"reason":"half","expires_in":"1h0m0s"}`,
			"server app.example.com:192.0.2.12:443 is draining to 25% of its weight by 03:04:05 UTC"},
		"servers undrain": {"app.example.com:192.0.2.12:443",
			"DELETE /api/v1/servers/app.example.com:192.0.2.12:443/drain",
			"server app.example.com:192.0.2.12:443 receives traffic again"},
		"watch": {"--count 1", "GET /api/v1/overwatch/agents", "192.0.2.10:443"},
	}
	for name, replacement := range oldNames() {
		line, known := lines[name]
		if !known {
			t.Errorf("no line tests the old name %q", name)
			continue
		}
		n := startNode(t)
		r := ask(t, name+" "+line.args, n)
		note := "gslbctl " + name + " is an old name, which version 2.0 removes: use gslbctl " + replacement + "\n"
		if r.code != 0 || r.errors != note || !strings.Contains(r.out, line.out) ||
			line.sent != "" && !slices.Contains(n.asked, line.sent) {
			t.Errorf("%s: %+v, sent %q", name, r, n.asked)
		}
		root := newApp(cmdline.System{}).rootCommand()
		old, _, err := root.Find(strings.Fields(name))
		if err != nil || old.IsAvailableCommand() {
			t.Errorf("help lists the old name %s (%v)", name, err)
		}
		if cmd, rest, err := root.Find(strings.Fields(replacement)); err != nil || !cmd.IsAvailableCommand() ||
			len(rest) > 1 {
			t.Errorf("%s, for %s, is no command: %v", replacement, name, err)
		}
	}
}

// Documents, messages and the console use the current names.
func TestOldNames_AreNotRecommended(t *testing.T) {
	var names []string
	for name := range oldNames() {
		names = append(names, name)
	}
	old := regexp.MustCompile(`gslbctl (?:` + strings.Join(names, "|") + `)\b`)
	read := 0
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || d.Name() == "bin"):
			return filepath.SkipDir
		case d.IsDir() || !slices.Contains([]string{".md", ".go", ".js", ".html", ".yaml"}, filepath.Ext(path)):
			return nil
		}
		text, err := os.ReadFile(path)
		if found := old.Find(text); found != nil {
			t.Errorf("%s recommends the old name %s", path, found)
		}
		read++
		return err
	})
	if err != nil || read < 500 {
		t.Errorf("%d files: %v", read, err)
	}
}

// sends are lines of the visible commands that change, without their names.
var sends = map[string]string{
	"agents remove": "eu-1 -y",
	"agents revoke": "eu-1 --reason r -y", "agents unlock": "app.example.com -y", "agents unpin": "eu-1 -y",
	"apply":             "-f shop.yaml",
	"backends validate": "", "brakes release": "app.example.com", "config reload": "", "config reset": "dns -y",
	"config set": "dns default_ttl=30", "dnssec roll": "example.com -y", "dnssec sign": "example.com",
	"dnssec sync": "", "dnssec unsign": "example.com -y", "domains add": "new.example.com",
	"domains remove": "app.example.com -y", "domains reset": "app.example.com -y",
	"domains set": "app.example.com --ttl 30", "drain": "192.0.2.10 -y", "failback": "app.example.com",
	"geo remove":     "198.51.100.0/24 -y",
	"records add":    "www.example.com A 192.0.2.1",
	"records set":    "www.example.com A 192.0.2.1",
	"records delete": "www.example.com A -y",
	"geo set":        "198.51.100.0/24 eu", "nodes announce": "eu-9",
	"nodes reissue": "eu-1 -y", "notifications test": "", "overrides clear": "192.0.2.11",
	"overrides set":   "192.0.2.11 --healthy --reason r",
	"preferences set": "theme=dark", "regions add": "ap", "regions remove": "eu -y", "regions reset": "eu -y",
	"regions set": "eu --priority 3", "servers add": "app.example.com:192.0.2.12:443 --region eu",
	"servers check":  "app.example.com:192.0.2.12:443 --path /",
	"servers remove": "app.example.com:192.0.2.12:443 -y", "servers reset": "app.example.com:192.0.2.12:443 -y",
	"servers set": "app.example.com:192.0.2.12:443 --weight 7", "undo": "7", "undrain": "192.0.2.11",
	"tokens create": "ci", "tokens revoke": "external-dns -y", "tokens rotate": "external-dns",
	"weight": "app.example.com:192.0.2.10:443 7 --reason r",
}

// sendsNothing are the commands that change only this machine, or that run until they are stopped.
var sendsNothing = []string{"context delete", "context set", "context use", "dnssec restore", "external-dns", "init",
	"top"}

// No two visible commands send the same requests: of several spellings, one is visible.
func TestCommands_SendDifferentRequests(t *testing.T) {
	lines := map[string]string{}
	for path, cmd := range visible() {
		if cmd.Annotations[cmdline.Effect] == cmdline.Reads || slices.Contains(sendsNothing, path) {
			continue
		}
		args, known := sends[path]
		if !known {
			t.Errorf("%s changes state: add a line to sends", path)
		}
		lines[path] = path + " " + args
	}
	for _, r := range reads {
		if path := commandOf(r.args); lines[path] == "" {
			lines[path] = r.args
		}
	}
	inFolder(t)
	by := map[string]string{}
	for _, path := range slices.Sorted(maps.Keys(lines)) {
		n := startNode(t)
		r := ask(t, lines[path], n)
		sent := n.changes()
		if len(sent) == 0 {
			sent = n.asked
		}
		slices.Sort(sent)
		key := strings.Join(slices.Compact(sent), "\n")
		if other, same := by[key]; same || key == "" {
			t.Errorf("%q sends the same as %q: %q (%+v)", path, other, key, r)
		}
		by[key] = path
	}
}

// visible returns the commands of leaves that help lists.
func visible() map[string]*cobra.Command {
	all := leaves()
	maps.DeleteFunc(all, func(_ string, cmd *cobra.Command) bool {
		return cmd.Hidden || cmd.HasParent() && cmd.Parent().Hidden
	})
	return all
}

// commandOf returns the words of a line that name its command.
func commandOf(line string) string {
	root := newApp(cmdline.System{}).rootCommand()
	cmd, _, err := root.Find(strings.Fields(line))
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(cmd.CommandPath(), "gslbctl ")
}
