package upgrade_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"gslb.internal/integration/harness/testbed"
)

// In the cluster of packaging/compose, the programs accept the configurations that prepare.sh writes, compose.yaml
// mounts only existing files, and each site has an agent for its own backend.
func TestCompose_ThePreparedConfigurationsAreValid(t *testing.T) {
	t.Parallel()
	b := testbed.Binaries(t)
	run, env := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "env")
	cmd := exec.CommandContext(t.Context(), "packaging/compose/prepare.sh")
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "GSLBCTL="+b.Control, "RUN="+run, "ENV="+env)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("prepare.sh: %v\n%s", err, output)
	}
	var file struct {
		Services map[string]struct {
			Build   struct{ Dockerfile string }
			Volumes []string
		}
	}
	if err := yaml.Unmarshal([]byte(testbed.Read(t, "../../packaging/compose/compose.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	mounted := 0
	for name, service := range file.Services {
		for _, volume := range service.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			if _, err := os.Stat(filepath.Join(run, strings.TrimPrefix(source, "./run/"))); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			mounted++
		}
		if service.Build.Dockerfile != "" {
			testbed.Read(t, filepath.Join("../..", service.Build.Dockerfile))
		}
	}
	if len(file.Services) != 7 || mounted != 8 {
		t.Errorf("%d services with %d mounts, want 7 and 8", len(file.Services), mounted)
	}
	for name, program := range map[string]string{"overwatch-ns1": b.Overwatch, "overwatch-ns2": b.Overwatch,
		"agent-1": b.Agent, "agent-2": b.Agent} {
		path := filepath.Join(run, name+".yaml")
		if r := testbed.Command(t, program, "--config", path, "--validate"); r.Code != 0 {
			t.Errorf("%s: exit code %d\n%s", name, r.Code, r.Output)
		}
	}
	for site, own := range map[string]string{"1": "172.28.0.21", "2": "172.28.0.22"} {
		text := testbed.Read(t, filepath.Join(run, "agent-"+site+".yaml"))
		if strings.Count(text, "address: ") != 1 || !strings.Contains(text, own) {
			t.Errorf("the agent of site %s has other backends than %s:\n%s", site, own, text)
		}
	}
	if text := testbed.Read(t, env); !strings.Contains(text, "GSLB_USER=") || !strings.Contains(text, "GSLB_TOKEN=") {
		t.Error("the environment lacks the user or the token")
	}
}
