package integration_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gslb.internal/integration/harness"
)

// brokenOverwatch has six mistakes of six kinds.
const brokenOverwatch = `mode: overwatch
overwatch:
  identity: {node_id: ow-1, region: eu}
  gossip:
    encryption_key: "dG9vIHNob3J0"
  agent_tokens: {app.gslb.test: a-token-of-more-than-thirty-two-characters}
dns:
  listen_address: "127.0.0.1:99999"
  default_tll: 30
regions:
  - name: eu
    servers:
      - {address: 300.0.0.1, port: 80, service: app.gslb.test}
domains:
  - {name: app.gslb.test, routing_algorithm: fastest, regions: [eu, mars]}
`

// Each mistake is told at once, with its key, the value that was found and the line or remedy.
func TestValidate_TellsEveryMistakeOfAnOverwatchFileAtOnce(t *testing.T) {
	path := file(t, "overwatch.yaml", brokenOverwatch)
	mistakes := []string{
		"encryption_key", "32", // bytes it should have
		"listen_address", "99999",
		"default_tll", "default_ttl", // what it should be
		"300.0.0.1",
		"fastest", "round-robin", // one that works
		"mars",
		"overwatch.yaml:9", // where the unknown key is
	}
	for _, program := range []string{binaries(t).Overwatch, binaries(t).Launcher} {
		t.Run(filepath.Base(program), func(t *testing.T) {
			command(t, program, "--config", path, "--validate").want(t, exitBadInput, mistakes...)
		})
	}
}

const brokenAgent = `mode: agent
agent:
  identity: {service_token: a-token-of-more-than-thirty-two-characters, region: eu}
  backends:
    - {service: app.gslb.test, address: 127.0.0.1, port: 0, weight: 5000, health_check: {type: ping}}
  gossip:
    encryption_key: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    overwatch_nodes: ["127.0.0.1"]
  heartbeat: {intervall: 10s}
`

func TestValidate_TellsEveryMistakeOfAnAgentFileAtOnce(t *testing.T) {
	path := file(t, "agent.yaml", brokenAgent)
	mistakes := []string{"port", "weight", "5000", "1000", "ping", "http", "tcp", "overwatch_nodes", "intervall", "agent.yaml:9"}
	for _, program := range []string{binaries(t).Agent, binaries(t).Launcher} {
		t.Run(filepath.Base(program), func(t *testing.T) {
			command(t, program, "--config", path, "--validate").want(t, exitBadInput, mistakes...)
		})
	}
}

// Starting with a bad file says what validating it says, and starts nothing.
func TestValidate_BadFileStopsTheStartInTheSameWords(t *testing.T) {
	path := file(t, "overwatch.yaml", brokenOverwatch)
	command(t, binaries(t).Overwatch, "--config", path).want(t, exitBadInput, "encryption_key", "default_tll", "mars")
}

// A good file is called good and nothing is left in the directory that it names.
func TestValidate_GoodFilesOfBothRolesPassAndStartNothing(t *testing.T) {
	s := newSite(t, 1, 1)
	start(t, s.nodes[0])
	s.ready(t, s.nodes[0])
	start(t, s.agents[0])
	// What runs has its ports, and a port in use is a mistake too.
	for _, stop := range []func() error{s.agents[0].Stop, s.nodes[0].Stop} {
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	}
	for _, u := range []struct{ program, path string }{
		{binaries(t).Overwatch, s.nodes[0].Path},
		{binaries(t).Agent, s.agents[0].Path},
		{binaries(t).Launcher, s.nodes[0].Path},
		{binaries(t).Launcher, s.agents[0].Path},
	} {
		t.Run(filepath.Base(u.program)+" "+filepath.Base(u.path), func(t *testing.T) {
			// A copy, so that it is the file that is judged and not what runs with it.
			text, err := os.ReadFile(u.path)
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), "data")
			copied := file(t, "copy.yaml", strings.ReplaceAll(string(text), filepath.Join(filepath.Dir(u.path), "data"), dir))
			command(t, u.program, "--config", copied, "--validate").want(t, exitOK)
			if _, err := os.Stat(dir); err == nil {
				t.Errorf("--validate made %s", dir)
			}
		})
	}
}

func TestValidate_FileThatOthersCanReadIsRefusedByName(t *testing.T) {
	for _, u := range secretFiles(t) {
		t.Run(filepath.Base(u.program)+" "+filepath.Base(u.path), func(t *testing.T) {
			if err := os.Chmod(u.path, 0o644); err != nil {
				t.Fatal(err)
			}
			command(t, u.program, "--config", u.path, "--validate").want(t, exitBadInput, u.path, "chmod")
			command(t, u.program, "--config", u.path).want(t, exitBadInput, u.path, "chmod")
		})
	}
}

// A file that only includes a secret is refused for the included file, by that file's name.
func TestValidate_IncludedFileThatOthersCanReadIsRefusedByName(t *testing.T) {
	dir := t.TempDir()
	main := filepath.Join(dir, "overwatch.yaml")
	secret := filepath.Join(dir, "secrets.yaml")
	write(t, main, 0o644, "mode: overwatch\nincludes: [secrets.yaml]\ndomains: []\n")
	write(t, secret, 0o644, "overwatch:\n  gossip: {encryption_key: "+harness.NewGossipKey()+"}\n")
	command(t, binaries(t).Overwatch, "--config", main, "--validate").want(t, exitBadInput, secret, "chmod")
}

func TestValidate_IncludeCycleIsToldWithItsChain(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.yaml"), 0o600, "mode: overwatch\nincludes: [b.yaml]\n")
	write(t, filepath.Join(dir, "b.yaml"), 0o600, "includes: [a.yaml]\n")
	command(t, binaries(t).Overwatch, "--config", filepath.Join(dir, "a.yaml"), "--validate").want(t, exitBadInput, "a.yaml", "b.yaml", "cycle")
}

func TestCommand_MissingFileAndUnknownFlagAreBadInput(t *testing.T) {
	for _, program := range []string{binaries(t).Overwatch, binaries(t).Agent, binaries(t).Launcher} {
		t.Run(filepath.Base(program), func(t *testing.T) {
			command(t, program, "--config", "/nowhere/gslb.yaml").want(t, exitBadInput, "/nowhere/gslb.yaml")
			command(t, program, "--no-such-flag").want(t, exitBadInput, "no-such-flag")
		})
	}
}

func TestCommand_VersionNamesTheProgramAndGo(t *testing.T) {
	b := binaries(t)
	for _, program := range []string{b.Overwatch, b.Agent, b.Launcher} {
		t.Run(filepath.Base(program), func(t *testing.T) {
			command(t, program, "--version").want(t, exitOK, filepath.Base(program), "go1.")
		})
	}
}

func TestLauncher_MissingAndUnknownModeAreToldWithWhatWorks(t *testing.T) {
	launcher := binaries(t).Launcher
	none := file(t, "none.yaml", "data_dir: /nowhere\n")
	unknown := file(t, "unknown.yaml", "mode: observer\n")
	for _, validate := range []string{"--validate=true", "--validate=false"} {
		command(t, launcher, "--config", none, validate).want(t, exitBadInput, "mode", "overwatch", "agent", none)
		command(t, launcher, "--config", unknown, validate).want(t, exitBadInput, "mode", "observer", "overwatch", "agent", unknown)
	}
}

// The program of one role does not take the other role's file.
func TestCommand_FileOfTheOtherRoleIsRefused(t *testing.T) {
	command(t, binaries(t).Overwatch, "--config", file(t, "a.yaml", brokenAgent), "--validate").want(t, exitBadInput, "mode", "agent", "overwatch")
	command(t, binaries(t).Agent, "--config", file(t, "o.yaml", brokenOverwatch), "--validate").want(t, exitBadInput, "mode", "agent", "overwatch")
}

type configured struct{ program, path string }

// secretFiles writes a good file with secrets for each program.
func secretFiles(t *testing.T) []configured {
	t.Helper()
	b := binaries(t)
	overwatch := "mode: overwatch\ndata_dir: " + t.TempDir() + "\noverwatch:\n  gossip: {encryption_key: " + harness.NewGossipKey() + "}\n" +
		"  agent_tokens: {app.gslb.test: " + harness.NewToken() + "}\n"
	agent := "mode: agent\ndata_dir: " + t.TempDir() + "\nagent:\n  identity: {region: eu, service_token: " + harness.NewToken() + "}\n" +
		"  backends: [{service: app.gslb.test, address: 127.0.0.1, port: 80, health_check: {type: tcp}}]\n" +
		"  gossip: {encryption_key: " + harness.NewGossipKey() + ", overwatch_nodes: [\"127.0.0.1:7946\"]}\n"
	return []configured{
		{b.Overwatch, file(t, "overwatch.yaml", overwatch)},
		{b.Launcher, file(t, "overwatch.yaml", overwatch)},
		{b.Agent, file(t, "agent.yaml", agent)},
		{b.Launcher, file(t, "agent.yaml", agent)},
	}
}

func write(t *testing.T, path string, mode os.FileMode, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask is
		t.Fatal(err)
	}
}
