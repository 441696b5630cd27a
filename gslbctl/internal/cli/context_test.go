package cli // inside: it uses environmentContext, environmentNodes and environmentToken

import (
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
)

// atHome returns a machine whose user's home is an empty directory.
func atHome(t *testing.T, env map[string]string) (cmdline.System, string) {
	t.Helper()
	home := t.TempDir()
	return cmdline.System{Getenv: func(key string) string {
		if key == "HOME" {
			return home
		}
		return env[key]
	}}, filepath.Join(home, ".config", "gslb", "config.yaml")
}

func TestContext_MadeUsedAndDeleted(t *testing.T) {
	n := startNode(t)
	sys, path := atHome(t, nil)
	lines := []struct {
		args string
		code int
		says string
	}{
		{"context list", 0, "There is no context in"},
		{"context show", 2, "no context is in use"},
		{"context use lab", 2, "there is no context"},
		{"context set lab", 2, "it names no node"},
		{"context set bad/name --api x", 2, "is not the name of a context"},
		{"context set lab --api " + documented(0) + " --dns 127.0.0.1:5353", 0, "context lab is kept"},
		{"context list -o name", 0, "lab\n"},
		{"context show", 0, "(DNS at 127.0.0.1:5353)"},
		{"agents -o name", 0, "eu-1\n"}, // the first one is in use at once
		{"context set away --api 192.0.2.1", 0, "context away is kept"},
		{"agents -o name --context lab", 0, "eu-1\n"},
		{"agents --context lba", 2, "; did you mean lab?"},
		{"agents --context nowhere", 2, `there is no context "nowhere"`},
		{"agents --context lab --api x", 2, "give one of them"},
		{"context set lab --dns 127.0.0.1:53,1", 2, "the port is"},
		{"context set lab --dns a:1 --dns b:1", 2, "2 DNS addresses are given for 1 node"},
		{"context use away", 0, "gslbctl uses the context away"},
		{"context show -o json", 0, `"name": "away"`},
		{"context delete away", 2, "add --yes"},
		{"context delete away --yes", 0, "context away is deleted"},
		{"context show", 2, "no context is in use"},
		{"context list -o name", 0, "lab\n"},
	}
	for _, line := range lines {
		r := call(t, sys, []*node{n}, strings.Fields(line.args)...)
		if r.code != line.code || !strings.Contains(r.out+r.errors, line.says) {
			t.Errorf("%s: %+v, want %d and %q", line.args, r, line.code, line.says)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%s has mode %o", path, info.Mode().Perm())
	}
	if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestContext_TokenIsSentAndNeverShownNorReadByOthers(t *testing.T) {
	const token = "aVerySecretToken"
	var sent atomic.Value
	node := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent.Store(r.Header.Get("Authorization"))
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}"))
	})
	srv, other := httptest.NewServer(node), httptest.NewServer(node)
	t.Cleanup(srv.Close)
	t.Cleanup(other.Close)
	sys, path := atHome(t, nil)
	run := func(args string) result {
		sys.In = strings.NewReader(token + "\n")
		return call(t, sys, nil, strings.Fields(args)...)
	}
	if r := run("context set lab --token-stdin --api " + srv.URL); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	for _, format := range []string{"table", "wide", "json", "yaml"} {
		for _, args := range []string{"context list -o " + format, "context show -o " + format} {
			if r := run(args); r.code != 0 || strings.Contains(r.out+r.errors, token) {
				t.Errorf("%s: %+v", args, r)
			}
		}
	}
	if r := run("agents"); r.code != 0 || sent.Load() != "Bearer "+token {
		t.Errorf("%+v, sent %q", r, sent.Load())
	}
	for args, want := range map[string]string{
		"agents --api " + srv.URL:                                "Bearer " + token,
		"agents --api " + strings.TrimPrefix(srv.URL, "http://"): "Bearer " + token,
		"agents --api " + other.URL:                              "", // never to an unknown node
		"agents --api " + srv.URL + " --api " + other.URL:        "",
	} {
		sent.Store("none")
		if r := run(args); r.code != 0 || sent.Load() != want {
			t.Errorf("%s: %+v, sent %q, want %q", args, r, sent.Load(), want)
		}
	}
	if r := run("context set far --token-stdin --api http://192.0.2.1"); r.code != 2 ||
		!strings.Contains(r.errors, "would cross the network unencrypted") {
		t.Errorf("a token over http: %+v", r)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"agents", "context list"} {
		if r := run(args); r.code != 2 || !strings.Contains(r.errors, "chmod 600") || strings.Contains(r.errors,
			token) {
			t.Errorf("%s with a file that others read: %+v", args, r)
		}
	}
}

func TestAccess_EnvironmentFillsInWhatTheContextLeavesOut(t *testing.T) {
	n := startNode(t)
	address := strings.TrimPrefix(n.url, "http://")
	for name, tc := range map[string]struct {
		env  map[string]string
		args string
		code int
		says string
	}{
		"both name nodes": {map[string]string{fleet.EnvNodes: "x", fleet.EnvContext: "y"}, "agents", 2,
			"set one of them"},
		"the flag comes first": {map[string]string{fleet.EnvContext: "y"}, "agents --api " + address, 0, "eu-1"},
		"an unknown context":   {map[string]string{fleet.EnvContext: "y"}, "agents", 2, `no context "y"`},
		"a token over http": {map[string]string{fleet.EnvNodes: "192.0.2.1", fleet.EnvToken: "t"}, "agents", 2,
			"unencrypted"},
		"a token with a newline": {map[string]string{fleet.EnvNodes: address, fleet.EnvToken: "a\nb"}, "agents", 2,
			"visible ASCII"},
		"half a certificate": {map[string]string{fleet.EnvNodes: address, fleet.EnvCert: "x"}, "agents", 2,
			"client_key"},
		"no CA there": {map[string]string{fleet.EnvNodes: address, fleet.EnvCA: "/nowhere"}, "agents", 2,
			"/nowhere"},
		"more DNS than nodes": {map[string]string{fleet.EnvNodes: address, fleet.EnvDNS: "a:1,b:2"}, "agents", 2,
			"at most one for each"},
	} {
		sys, _ := atHome(t, tc.env)
		if r := call(t, sys, nil, strings.Fields(tc.args)...); r.code != tc.code ||
			!strings.Contains(r.out+r.errors, tc.says) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestAccess_NodesOverTLSWithAnAuthorityOfTheirOwn(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"status":"healthy"}`))
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, certificatePEM(srv.Certificate()), 0o600); err != nil {
		t.Fatal(err)
	}
	sys, _ := atHome(t, nil)
	if r := call(t, sys, nil, "agents", "--api", srv.URL); r.code != 2 || !strings.Contains(r.errors, "--ca") {
		t.Errorf("an authority that nobody knows: %+v", r)
	}
	if r := call(t, sys, nil, "context", "set", "lab", "--api", srv.URL, "--ca", ca); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	if r := call(t, sys, nil, "agents"); r.code != 0 {
		t.Errorf("%+v", r)
	}
	if r := call(t, sys, nil, "context", "set", "lab", "--server-name", "elsewhere.invalid"); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	if r := call(t, sys, nil, "agents"); r.code != 2 || !strings.Contains(r.errors, "server_name") {
		t.Errorf("another name: %+v", r)
	}
}

func certificatePEM(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}
