package cli_test

import (
	"encoding/json"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// gslbctl with a real node: each command prints the state of the node in every format, and a change affects DNS.
func TestControl_ShowsAndChangesWhatANodeBelieves(t *testing.T) {
	t.Parallel()
	s := startSite(t, 1, 2)
	n, agent, b := s.Nodes[0], s.Agents[0], s.Backends[0]
	control := func(args ...string) testbed.Result {
		return testbed.Command(t, append([]string{testbed.Binaries(t).Control, "--api", n.API.String()}, args...)...)
	}
	// The second service has no backend, which causes the status attention and its exit code.
	control("status").Want(t, testbed.ExitFailure, n.API.String(), "degraded", testbed.OtherName)
	control("servers", "list").Want(t, testbed.ExitOK, testbed.AppName, b.At.Addr().String(), "agent")
	control("backends").Want(t, testbed.ExitOK, testbed.AppName, b.At.Addr().String(), "healthy")
	control("agents", "list").Want(t, testbed.ExitOK, agent.Name, s.Agents[1].Name)
	control("agents", "show", agent.Name).Want(t, testbed.ExitOK, agent.Name, "sha256:", testbed.AppName)
	control("agents", "show", "nobody").Want(t, testbed.ExitFailure, "nobody")

	var asJSON api.AgentList
	if err := json.Unmarshal([]byte(control("agents", "list", "-o", "json").Output), &asJSON); err != nil ||
		len(asJSON.Agents) != 2 {
		t.Errorf("-o json: %v, %d agents", err, len(asJSON.Agents))
	}
	var generic map[string]any
	if err := yaml.Unmarshal([]byte(control("agents", "list", "-o", "yaml").Output), &generic); err != nil ||
		generic["agents"] == nil {
		t.Errorf("-o yaml: %v, %v", err, generic)
	}

	revoked := time.Now()
	control("agents", "revoke", agent.Name, "--reason", "a test", "--yes").Want(t, testbed.ExitOK)
	s.Gone(t, n, b.At.Addr(), revoked, 2*time.Second)
	control("agents", "unpin", agent.Name, "--yes").Want(t, testbed.ExitOK, "pin")
	control("agents", "show", agent.Name).Want(t, testbed.ExitFailure, agent.Name)
	testbed.Stop(t, agent)
	testbed.Start(t, agent) // the specification: it registers again on its next start
	s.Answered(t, n, b.At.Addr(), time.Now(), testbed.ReconnectBound)
	s.NoFailures(t, n, s.Began)
}

func TestControl_NodeThatIsNotThereIsToldByItsAddress(t *testing.T) {
	testbed.Command(t, testbed.Binaries(t).Control, "--api", "127.0.0.1:1", "status").Want(t, testbed.ExitBadInput,
		"127.0.0.1:1")
}

// startPromise is the maximum processor time of a start of gslbctl, on an idle machine (GSLB_TIMED). startHang is a
// wall-clock time that only a wait can exceed.
const (
	startPromise = 30 * time.Millisecond
	startHang    = 300 * time.Millisecond
)

func TestControl_StartsBeforeAnybodyNotices(t *testing.T) {
	best, used := time.Hour, time.Hour
	for range 20 {
		began := time.Now()
		r := testbed.Command(t, testbed.Binaries(t).Control, "version")
		best, used = min(best, time.Since(began)), min(used, r.Cpu)
		r.Want(t, testbed.ExitOK, "gslbctl")
	}
	if testbed.Timed && (used > startPromise || best > startHang) {
		t.Errorf("the fastest of 20 starts took %s and %s of the processor, promised are %s", best, used, startPromise)
	}
	t.Logf("the fastest of 20 starts took %s and %s of the processor", best, used)
}
