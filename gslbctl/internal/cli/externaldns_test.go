package cli // inside: it shares fake_test.go

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
)

func TestExternalDNS_ServesUntilItIsStopped(t *testing.T) {
	n := startNode(t)
	reader, writer := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	sys := cmdline.System{Out: io.Discard, Err: writer, In: strings.NewReader(""),
		Getenv: func(string) string { return "" }}
	go func() {
		ended <- Run(ctx, sys, []string{"external-dns", "--owner", "shop", "--listen", "127.0.0.1:0", "--health-listen",
			"127.0.0.1:0", "--api", n.url})
		writer.Close()
	}()
	var told struct{ Msg, Listen, Health, Owner string }
	line, err := bufio.NewReader(reader).ReadString('\n')
	if err != nil || json.Unmarshal([]byte(line), &told) != nil || told.Msg != "serving" || told.Owner != "shop" {
		t.Fatalf("%q, %v", line, err)
	}
	for address, want := range map[string]string{
		told.Listen + "/": `{"include":["example.com","example.org"]}`, told.Listen + "/records": "[]",
		told.Health + "/healthz": "ok"} {
		answer, err := http.Get("http://" + address)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK || strings.TrimSpace(string(body)) != want {
			t.Errorf("%s: %d %s", address, answer.StatusCode, body)
		}
	}
	stop()
	if code := <-ended; code != fleet.OK {
		t.Errorf("exit code %d", code)
	}
	if _, err := http.Get("http://" + told.Listen + "/records"); err == nil {
		t.Error("it still listens")
	}
}

func TestExternalDNS_RefusesFlagsBeforeItListens(t *testing.T) {
	for args, want := range map[string]string{
		"":                                   "--owner is \"\": it must be a name of this cluster",
		"--owner " + strings.Repeat("a", 65): "at most 64 characters",
		"--owner eu --port 0":                "--port is 0: it must be from 1 to 65535",
		"--owner eu --listen nowhere":        "--listen: ",
		"--owner eu --listen 127.0.0.1:0 --health-listen 127.0.0.1:99999": "--health-listen: ",
		"--owner eu --api http://":                                        "it names no host",
	} {
		if r := call(t, cmdline.System{}, nil, append([]string{"external-dns"},
			strings.Fields(args)...)...); r.code != fleet.NotAsked ||
			!strings.Contains(r.errors, want) {
			t.Errorf("%q: %+v, want %q", args, r, want)
		}
	}
}

// Nodes without replication would diverge, because ExternalDNS reads the records of one node.
func TestExternalDNS_AsksNodesThatReplicateOnly(t *testing.T) {
	nodes := startNodes(t, 3)
	a := newApp(cmdline.System{Getenv: func(string) string { return "" }})
	for _, n := range nodes {
		a.API = append(a.API, n.url)
	}
	if _, err := a.oneNode(t.Context()); err == nil || !strings.Contains(err.Error(), "do not replicate") {
		t.Errorf("%v", err)
	}
	replicating(nodes, 0, false)
	if node, err := a.oneNode(t.Context()); err != nil || node.Node() != nodes[0].url {
		t.Errorf("%v, %v", node, err)
	}
	a.API = a.API[1:2]
	if node, err := a.oneNode(t.Context()); err != nil || node.Node() != nodes[1].url {
		t.Errorf("%v, %v", node, err)
	}
}

func TestExternalDNS_LogsTextOnATerminal(t *testing.T) {
	for terminal, want := range map[bool]string{true: "msg=serving owner=shop\n",
		false: `"msg":"serving","owner":"shop"}`} {
		var out strings.Builder
		slog.New(newApp(cmdline.System{Err: &out, Tells: terminal}).logHandler()).Info("serving", "owner", "shop")
		if !strings.Contains(out.String(), want) {
			t.Errorf("terminal %v: %s", terminal, out.String())
		}
	}
}
