package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
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

// All mistakes are reported together, each with its key, the value, and the line or remedy.
//
// Fault 35.
func TestValidate_TellsEveryMistakeOfAnOverwatchFileAtOnce(t *testing.T) {
	path := testbed.File(t, "overwatch.yaml", brokenOverwatch)
	mistakes := []string{
		"encryption_key", "32", // bytes it should have
		"listen_address", "99999",
		"default_tll", "default_ttl", // what it should be
		"300.0.0.1",
		"fastest", "round-robin", // one that works
		"mars",
		"overwatch.yaml:9:3: ", // where the unknown key is
	}
	for _, program := range []string{testbed.Binaries(t).Overwatch, testbed.Binaries(t).Launcher} {
		t.Run(filepath.Base(program), func(t *testing.T) {
			testbed.Command(t, program, "--config", path, "--validate").Want(t, testbed.ExitBadInput, mistakes...)
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

// Fault 35.
func TestValidate_TellsEveryMistakeOfAnAgentFileAtOnce(t *testing.T) {
	path := testbed.File(t, "agent.yaml", brokenAgent)
	mistakes := []string{"port", "weight", "5000", "1000", "ping", "http", "tcp", "overwatch_nodes", "intervall",
		"agent.yaml:9:15: "}
	for _, program := range []string{testbed.Binaries(t).Agent, testbed.Binaries(t).Launcher} {
		t.Run(filepath.Base(program), func(t *testing.T) {
			testbed.Command(t, program, "--config", path, "--validate").Want(t, testbed.ExitBadInput, mistakes...)
		})
	}
}

// A start with an invalid file prints the same errors as the validation, and starts no part.
//
// Fault 35.
func TestValidate_BadFileStopsTheStartInTheSameWords(t *testing.T) {
	path := testbed.File(t, "overwatch.yaml", brokenOverwatch)
	testbed.Command(t, testbed.Binaries(t).Overwatch, "--config", path).Want(t, testbed.ExitBadInput, "encryption_key",
		"default_tll", "mars")
}

// A valid file is reported as valid, and the validation leaves no file in the data directory.
//
// Fault 35.
func TestValidate_GoodFilesOfBothRolesPassAndStartNothing(t *testing.T) {
	s := newSite(t, 1, 1)
	testbed.Start(t, s.Nodes[0])
	s.Ready(t, s.Nodes[0])
	testbed.Start(t, s.Agents[0])
	// The running programs use their ports, and a used port is also a mistake.
	for _, stop := range []func() error{s.Agents[0].Stop, s.Nodes[0].Stop} {
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	}
	node, agent := s.Nodes[0], s.Agents[0]
	for _, u := range []struct{ program, path, dataDir string }{
		{testbed.Binaries(t).Overwatch, node.Path, node.File.DataDir},
		{testbed.Binaries(t).Agent, agent.Path, agent.File.DataDir},
		{testbed.Binaries(t).Launcher, node.Path, node.File.DataDir},
		{testbed.Binaries(t).Launcher, agent.Path, agent.File.DataDir},
	} {
		t.Run(filepath.Base(u.program)+" "+filepath.Base(u.path), func(t *testing.T) {
			// This is a copy of the file, so that the validation ignores the running program.
			text := testbed.Read(t, u.path)
			dir := filepath.Join(t.TempDir(), "data")
			copied := testbed.File(t, "copy.yaml", strings.ReplaceAll(text, u.dataDir, dir))
			testbed.Command(t, u.program, "--config", copied, "--validate").Want(t, testbed.ExitOK)
			if _, err := os.Stat(dir); err == nil {
				t.Errorf("--validate made %s", dir)
			}
		})
	}
}

// Fault 35.
func TestValidate_FileThatOthersCanReadIsRefusedByName(t *testing.T) {
	for _, u := range secretFiles(t) {
		t.Run(filepath.Base(u.program)+" "+filepath.Base(u.path), func(t *testing.T) {
			if err := os.Chmod(u.path, 0o644); err != nil {
				t.Fatal(err)
			}
			testbed.Command(t, u.program, "--config", u.path, "--validate").Want(t, testbed.ExitBadInput, u.path, "chmod")
			testbed.Command(t, u.program, "--config", u.path).Want(t, testbed.ExitBadInput, u.path, "chmod")
		})
	}
}

// A file with an included secret is rejected because of the included file, and the error names the included file.
//
// Fault 35.
func TestValidate_IncludedFileThatOthersCanReadIsRefusedByName(t *testing.T) {
	dir := t.TempDir()
	main := filepath.Join(dir, "overwatch.yaml")
	secret := filepath.Join(dir, "secrets.yaml")
	testbed.Write(t, main, 0o644, "mode: overwatch\nincludes: [secrets.yaml]\ndomains: []\n")
	testbed.Write(t, secret, 0o644, "overwatch:\n  gossip: {encryption_key: "+harness.NewGossipKey()+"}\n")
	testbed.Command(t, testbed.Binaries(t).Overwatch, "--config", main, "--validate").Want(t, testbed.ExitBadInput, secret,
		"chmod")
}

// Fault 35.
func TestValidate_IncludeCycleIsToldWithItsChain(t *testing.T) {
	dir := t.TempDir()
	testbed.Write(t, filepath.Join(dir, "a.yaml"), 0o600, "mode: overwatch\nincludes: [b.yaml]\n")
	testbed.Write(t, filepath.Join(dir, "b.yaml"), 0o600, "includes: [a.yaml]\n")
	testbed.Command(t, testbed.Binaries(t).Overwatch, "--config", filepath.Join(dir, "a.yaml"), "--validate").Want(t,
		testbed.ExitBadInput, "a.yaml", "b.yaml", "cycle")
}

func TestCommand_MissingFileAndUnknownFlagAreBadInput(t *testing.T) {
	for _, program := range []string{testbed.Binaries(t).Overwatch, testbed.Binaries(t).Agent,
		testbed.Binaries(t).Launcher} {
		t.Run(filepath.Base(program), func(t *testing.T) {
			testbed.Command(t, program, "--config", "/nowhere/gslb.yaml").Want(t, testbed.ExitBadInput, "/nowhere/gslb.yaml")
			testbed.Command(t, program, "--no-such-flag").Want(t, testbed.ExitBadInput, "no-such-flag")
		})
	}
}

func TestCommand_VersionNamesTheProgramAndGo(t *testing.T) {
	b := testbed.Binaries(t)
	for _, program := range []string{b.Overwatch, b.Agent, b.Launcher} {
		t.Run(filepath.Base(program), func(t *testing.T) {
			testbed.Command(t, program, "--version").Want(t, testbed.ExitOK, filepath.Base(program), "go1.")
		})
	}
}

func TestLauncher_MissingAndUnknownModeAreToldWithWhatWorks(t *testing.T) {
	launcher := testbed.Binaries(t).Launcher
	none := testbed.File(t, "none.yaml", "data_dir: /nowhere\n")
	unknown := testbed.File(t, "unknown.yaml", "mode: observer\n")
	for _, validate := range []string{"--validate=true", "--validate=false"} {
		testbed.Command(t, launcher, "--config", none, validate).Want(t, testbed.ExitBadInput, "mode", "overwatch", "agent",
			none)
		testbed.Command(t, launcher, "--config", unknown, validate).Want(t, testbed.ExitBadInput, "mode", "observer",
			"overwatch", "agent", unknown)
	}
}

// The program of one role rejects the file of the other role.
func TestCommand_FileOfTheOtherRoleIsRefused(t *testing.T) {
	testbed.Command(t, testbed.Binaries(t).Overwatch, "--config", testbed.File(t, "a.yaml", brokenAgent),
		"--validate").Want(t, testbed.ExitBadInput, "mode", "agent", "overwatch")
	testbed.Command(t, testbed.Binaries(t).Agent, "--config", testbed.File(t, "o.yaml", brokenOverwatch),
		"--validate").Want(t, testbed.ExitBadInput, "mode", "agent", "overwatch")
}

type configured struct{ program, path string }

// secretFiles writes a valid file with secrets for each program.
func secretFiles(t *testing.T) []configured {
	t.Helper()
	b := testbed.Binaries(t)
	overwatch := "mode: overwatch\ndata_dir: " + t.TempDir() + "\noverwatch:\n  gossip: {encryption_key: " +
		harness.NewGossipKey() + "}\n" +
		"  agent_tokens: {app.gslb.test: " + harness.NewToken() + "}\n"
	agent := "mode: agent\ndata_dir: " + t.TempDir() + "\nagent:\n  identity: {region: eu, service_token: " +
		harness.NewToken() + "}\n" +
		"  backends: [{service: app.gslb.test, address: 127.0.0.1, port: 80, health_check: {type: tcp}}]\n" +
		"  gossip: {encryption_key: " + harness.NewGossipKey() + ", overwatch_nodes: [\"127.0.0.1:7946\"]}\n"
	return []configured{
		{b.Overwatch, testbed.File(t, "overwatch.yaml", overwatch)},
		{b.Launcher, testbed.File(t, "overwatch.yaml", overwatch)},
		{b.Agent, testbed.File(t, "agent.yaml", agent)},
		{b.Launcher, testbed.File(t, "agent.yaml", agent)},
	}
}
