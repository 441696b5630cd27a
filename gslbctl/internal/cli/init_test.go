package cli // inside: it uses environmentFile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/contexts"
	"gslb.internal/gslbctl/internal/fleet"
)

// home returns an environment with the contexts in a directory of the test.
func home(t *testing.T) (cmdline.System, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	return cmdline.System{Getenv: func(name string) string { return map[string]string{fleet.EnvFile: path}[name] }},
		path
}

func initLine(dir string, more ...string) []string {
	return append([]string{"init", dir, "--zone", "gslb.example.com", "--service", "app=192.0.2.10:443"}, more...)
}

// After init, gslbctl uses the written token for requests to the new nodes.
func TestInit_MakesATokenAndAContext(t *testing.T) {
	sys, path := home(t)
	dir := filepath.Join(t.TempDir(), "try")
	r := call(t, sys, nil, initLine(dir, "--local")...)
	f, err := contexts.Load(path)
	if err != nil || r.code != 0 {
		t.Fatalf("%v, %+v", err, r)
	}
	c := f.Contexts["gslb.example.com"]
	token, err := c.Secret()
	if err != nil || len(token) < 32 || f.Current != "gslb.example.com" || len(c.Nodes) != 1 ||
		c.Nodes[0] != (contexts.Node{API: "127.0.0.1:8080", DNS: "127.0.0.1:5300"}) {
		t.Errorf("%+v, %v", f, err)
	}
	if strings.Contains(r.out+r.errors, token) || !strings.Contains(r.out, "\n  gslbctl status\n") {
		t.Errorf("%s", r.out)
	}
	// A second init after the deletion of the directory keeps the context.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if r := call(t, sys, nil, initLine(dir, "--local")...); r.code != 0 {
		t.Errorf("once more: %+v", r)
	}
	// For other nodes, init overwrites no file of another cluster, and the current context stays.
	other := filepath.Join(t.TempDir(), "other")
	if r := call(t, sys, nil, initLine(other, "--local")...); r.code != 2 || !strings.Contains(r.errors, "--context") {
		t.Errorf("a context that is there: %+v", r)
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("half of it was written")
	}
	r = call(t, sys, nil, initLine(other, "--local", "--context", "lab")...)
	if f, err := contexts.Load(path); err != nil || r.code != 0 || f.Current != "gslb.example.com" ||
		len(f.Contexts) != 2 || !strings.Contains(r.out, "\n  gslbctl --context lab status\n") {
		t.Errorf("a second cluster: %v, %+v", err, r)
	}
	if r := call(t, sys, nil, initLine(t.TempDir(), "--local", "--context", "a b")...); r.code != 2 ||
		!strings.Contains(r.errors, "is not the name of a context") {
		t.Errorf("a wrong name: %+v", r)
	}
}

// For separate machines, init prints the commands that let the packaged services read the files.
func TestInit_SaysHowTheServicesGetTheirFiles(t *testing.T) {
	sys, _ := home(t)
	dir := t.TempDir()
	r := call(t, sys, nil, initLine(dir, "--node", "ns1=203.0.113.10", "--node", "ns2=2001:db8::1")...)
	for _, line := range []string{
		"install -o gslb -g gslb -m 600 " + dir + "/overwatch-ns2.yaml /etc/gslb/overwatch.yaml && systemctl " +
			"restart gslb-overwatch",
		"install -o gslb-agent -g gslb-agent -m 600 " + dir + "/agent.yaml /etc/gslb/agent.yaml && systemctl " +
			"restart gslb-agent",
		"# on ns2, as root, with the package gslb-overwatch",
	} {
		if r.code != 0 || !strings.Contains(r.out, "\n  "+line+"\n") {
			t.Errorf("%q is not in\n%s%s", line, r.out, r.errors)
		}
	}
	const there = "/etc/gslb/overwatch.yaml"
	if got := giveTo("gslb-overwatch", "gslb", there); got != "chown gslb:gslb "+there {
		t.Error(got)
	}
}

func TestInit_WithoutAContext(t *testing.T) {
	r := call(t, cmdline.System{}, nil, initLine(filepath.Join(t.TempDir(), "a"), "--local")...)
	if r.code != 0 || !strings.Contains(r.out, "set HOME") || !strings.Contains(r.out, "GSLB_TOKEN=$(cat ") {
		t.Errorf("nobody's home: %+v", r)
	}
	sys, path := home(t)
	r = call(t, sys, nil, initLine(filepath.Join(t.TempDir(), "a"), "--node", "ns1=203.0.113.10", "--api-listen",
		"203.0.113.10:8080")...)
	if _, err := os.Stat(path); err == nil || r.code != 0 || !strings.Contains(r.out,
		"must not cross the network unencrypted") {
		t.Errorf("an API that is not on loopback: %+v", r)
	}
}

// init --join prints the changes for each machine and needs neither a zone nor a service.
func TestInit_JoinPrintsTheStepsOfEachMachine(t *testing.T) {
	sys, _ := home(t)
	dir := t.TempDir()
	if r := call(t, sys, nil, initLine(dir, "--node", "ns1=203.0.113.10")...); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	join := []string{"init", dir, "--join", filepath.Join(dir, "overwatch.yaml"), "--node", "ns2=192.0.2.53"}
	for flag, words := range map[string]string{"--local": "--local: not available with --join",
		"--node=ns3=192.0.2.54": "2 nodes are given"} {
		if r := call(t, sys, nil, append(join, flag)...); r.code != 2 || !strings.Contains(r.errors, words) {
			t.Errorf("%s: %+v", flag, r)
		}
	}
	r := call(t, sys, nil, join...)
	for _, words := range []string{
		"secret: # copy the line from overwatch-ns2.yaml",
		`peers: ["http://203.0.113.10:8080", "http://192.0.2.53:8080"]`,
		"-m 600 " + dir + "/overwatch-ns2.yaml /etc/gslb/overwatch.yaml",
		`overwatch_nodes: ["203.0.113.10:7946", "192.0.2.53:7946"]`,
		`nameservers: ["ns1.gslb.example.com", "ns2.gslb.example.com"]`,
		"gslb.example.com. 3600 IN NS ns2.gslb.example.com.\n",
	} {
		if r.code != 0 || !strings.Contains(r.out, words) {
			t.Errorf("%q is not in\n%s%s", words, r.out, r.errors)
		}
	}
}
