package cli // inside: it shares fake_test.go

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/shared/api"
)

// dead returns an address at which nothing listens.
func dead(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(nil)
	srv.Close()
	return strings.TrimPrefix(srv.URL, "http://")
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestOutput_ThatCannotBeWrittenIsAnError(t *testing.T) {
	for _, format := range []string{cmdline.Table, cmdline.JSON, cmdline.YAML} {
		var said strings.Builder
		sys := cmdline.System{Out: brokenPipe{}, Err: &said, Getenv: func(string) string { return "" }}
		if code := Run(t.Context(), sys, []string{"version", "-o", format}); code != 1 ||
			said.String() != "gslbctl: writing the output: broken pipe\n" {
			t.Errorf("-o %s: exit code %d, %q", format, code, said.String())
		}
	}
}

func TestErrors_AreOneSentenceWithTheNextStep(t *testing.T) {
	n := startNode(t)
	nodes := []*node{n}
	for status, words := range map[int]string{
		403: "allowed_networks", 421: "by its address in --api", 500: "see the log of the node", 501: "newer version",
		503: "retry in",
		507: "free space on the disk", 404: "answered 404: no",
	} {
		message := "no"
		if status == 403 {
			message = "192.0.2.1 is not in api.allowed_networks"
		}
		n.answers["GET /api/v1/servers"] = &api.Error{Status: status, Message: message}
		r := ask(t, "servers", nodes...)
		if r.code != 1 || r.out != "" || !strings.HasPrefix(r.errors, "gslbctl: http://127.0.0.1:18080 answered ") ||
			!strings.Contains(r.errors, words) || strings.Count(r.errors, "\n") != 1 {
			t.Errorf("%d: %+v", status, r)
		}
	}
	for message, words := range map[string]string{
		"this needs a token of role admin": "of role admin\n", // another network would not help
		"":                                 "not the response of an overwatch node",
	} {
		n.answers["GET /api/v1/servers"] = &api.Error{Status: 403, Message: message}
		if r := ask(t, "servers", nodes...); r.code != 1 || !strings.Contains(r.errors, words) {
			t.Errorf("%q: %+v", message, r)
		}
	}
	for args, words := range map[string]string{
		"servers --api " + dead(t):     "nothing listens on http://127.0.0.1",
		"servers --api ftp://x":        `the scheme is "ftp"`,
		"servers -o xml":               `--output is "xml": it must be one of table, wide, name, json, yaml`,
		"status -o name":               "-o name is for lists, and gslbctl status is not a list",
		"agents unpin eu-1 -y -o name": "-o name is for lists",
		"servers --timeout 0s":         "--timeout is 0s",
		"servers --timeout soon":       `--timeout is "soon": it must be a time with its unit`,
		"servers now": `unknown command "now" for gslbctl servers; gslbctl servers --help ` +
			`shows`,
		"server": `unknown command "server" for gslbctl: did you mean servers? ` +
			`gslbctl --help shows`,
		"servers lsit":       "did you mean list or set?",
		"rollback":           "did you mean undo?",
		"drain":              "name a backend, an address, an agent or a region",
		"drain a --region b": `--region b and "a" are given: omit one of them`,
		"agents remove ow-1 -y --api " + documented(0): "ow-1 is an overwatch node, not an " +
			"agent: see \"Remove a node\" in " +
			"overwatch/docs/tasks.md; nothing was changed",
		"status now": `unexpected argument "now": write gslbctl status; gslbctl status --help shows`,
		"servers add": "arguments are missing: write gslbctl servers add <service>:<ip or host name>:<port> " +
			"--region <region>; gslbctl servers add --help shows",
		"servers --bogus":                "unknown flag: --bogus; gslbctl servers --help shows",
		"domains show a b":               `"a b" does not fit: write gslbctl domains show <name>`,
		"completion tcsh":                `unknown command "tcsh" for gslbctl completion`,
		"audit list --limit many":        `--limit is "many": it must be a whole number`,
		"regions add x --latitude north": `--latitude is "north": it must be a number`,
		"domains show":                   "write gslbctl domains show <name>",
		"agents show .. --api x":         `".." cannot be a name`,
		"agents revoke " +
			"eu-1": `--reason is missing: the reason, for other operators, such as --reason "`,
		"servers add a 192.0.2.1 80":            "--region is missing: where the server is, such as --region eu",
		"servers add a 192.0.2.1 x --region eu": "the port is",
		"servers set a:192.0.2.1:80":            "nothing to change",
		"domains set x":                         "nothing to change",
		"regions remove eu":                     "for the question; nothing was changed",
		"regions set eu":                        "nothing to change",
		"diff":                                  "name two or more",
		"config reset system":                   "must be one of dns, gossip, health-check, logging",
		"config show nothing":                   "must be one of dns, gossip, health-check, logging, system",
		"config set system a=b":                 `no section "system" to change`,
		"config set dns " +
			"x=1": `"x" cannot be changed: it must be one of max_udp_size, default_ttl`,
		"config set dns default_ttl":                 "write key=value",
		"config set dns default_ttl=a":               `default_ttl is "a": it must be a number`,
		"config set dns default_ttl=1 default_ttl=2": `"default_ttl" is given twice`,
		"config set dns zones=[":                     "cannot be read",
		"config set dns zones.x=1":                   `"zones.x" cannot be changed`,
		"config set dns return_last_healthy=[1]":     `return_last_healthy is "[1]": it must be true or false`,
		"config validate /nowhere":                   "no such file",
		"config validate testdata/list.txt": "testdata/list.txt: the key mode cannot be read: it must be a YAML " +
			"file with mode: overwatch or mode: agent",
		"routing test x": "--client is missing: give the address of the resolver, such as --client 192.0.2.1; " +
			"gslbctl routing test --help",
		"init x": "--service is missing: a name in the zone with its backends, such as --service " +
			"app=192.0.2.10:8080; --zone is missing: the zone that the nodes answer, such as --zone " +
			"gslb.example.com; gslbctl init --help",
		"overrides set a b": "--healthy is missing: give the health, --healthy=true or --healthy=false; --reason is " +
			"missing: the reason",
		"overrides set a b --healthy":                             "--reason",
		"overrides set a b --healthy=maybe":                       `--healthy is "maybe": it must be true or false`,
		"overrides set a b --reason r":                            "--healthy",
		"overrides set a b --healthy --reason r --expires-in -5m": "--expires-in is -5m0s",
	} {
		r := call(t, cmdline.System{}, nodes, strings.Fields(args)...)
		if r.code != 2 || r.out != "" || !strings.HasPrefix(r.errors, "gslbctl: ") || !strings.Contains(r.errors,
			words) {
			t.Errorf("%s: %+v", args, r)
		}
	}
	if list := n.changes(); len(list) != 0 {
		t.Errorf("something was changed: %q", list)
	}
}
