package integration_test

import (
	"encoding/json"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"gslb.internal/shared/api"
)

// gslbctl against a real node: each command shows what is there, in every format, and a change changes DNS.
func TestControl_ShowsAndChangesWhatANodeBelieves(t *testing.T) {
	t.Parallel()
	s := startSite(t, 1, 2)
	n, agent, b := s.nodes[0], s.agents[0], s.backends[0]
	control := func(args ...string) result {
		return command(t, append([]string{binaries(t).Control, "--api", n.API.String()}, args...)...)
	}
	// The second service has no backend, which is worth attention and an exit code.
	control("status").want(t, exitFailure, n.API.String(), "degraded", otherName)
	control("servers", "list").want(t, exitOK, appName, b.At.Addr().String(), "agent")
	control("backends").want(t, exitOK, appName, b.At.Addr().String(), "healthy")
	control("agents", "list").want(t, exitOK, agent.Name, s.agents[1].Name)
	control("agents", "show", agent.Name).want(t, exitOK, agent.Name, "sha256:", appName)
	control("agents", "show", "nobody").want(t, exitFailure, "nobody")

	var asJSON api.AgentList
	if err := json.Unmarshal([]byte(control("agents", "list", "-o", "json").output), &asJSON); err != nil || len(asJSON.Agents) != 2 {
		t.Errorf("-o json: %v, %d agents", err, len(asJSON.Agents))
	}
	var generic map[string]any
	if err := yaml.Unmarshal([]byte(control("agents", "list", "-o", "yaml").output), &generic); err != nil || generic["agents"] == nil {
		t.Errorf("-o yaml: %v, %v", err, generic)
	}

	revoked := time.Now()
	control("agents", "revoke", agent.Name, "--reason", "a test", "--yes").want(t, exitOK)
	s.gone(t, n, b.At.Addr(), revoked, 2*time.Second)
	control("agents", "unpin", agent.Name, "--yes").want(t, exitOK, "pin")
	control("agents", "show", agent.Name).want(t, exitFailure, agent.Name)
	if err := agent.Stop(); err != nil {
		t.Fatal(err)
	}
	start(t, agent) // the specification: it registers again on its next start
	s.answered(t, n, b.At.Addr(), time.Now(), reconnectBound)
	s.noFailures(t, n, s.began)
}

func TestControl_NodeThatIsNotThereIsToldByItsAddress(t *testing.T) {
	command(t, binaries(t).Control, "--api", "127.0.0.1:1", "status").want(t, exitBadInput, "127.0.0.1:1")
}

// startPromise is what a start of gslbctl takes of the processor, which is all that it does; the time by the clock depends on who else is
// there, and startHang is what nothing but waiting explains.
const (
	startPromise = 30 * time.Millisecond
	startHang    = 300 * time.Millisecond
)

func TestControl_StartsBeforeAnybodyNotices(t *testing.T) {
	best, used := time.Hour, time.Hour
	for range 20 {
		began := time.Now()
		r := command(t, binaries(t).Control, "version")
		best, used = min(best, time.Since(began)), min(used, r.cpu)
		r.want(t, exitOK, "gslbctl")
	}
	if used > startPromise || best > startHang {
		t.Errorf("the fastest of 20 starts took %s and %s of the processor, promised are %s", best, used, startPromise)
	}
	t.Logf("the fastest of 20 starts took %s and %s of the processor", best, used)
}
