package cli // inside: it uses reason

import (
	"testing"

	"gslb.internal/shared/api"
)

// What a node leaves out of an agent's check stands behind the reason of the backend's status.
func TestReason_SaysWhatTheAgentJudgesAlone(t *testing.T) {
	b := api.Backend{Reason: "its agent says unhealthy", ValidationError: pointer("refused")}
	if got := reason(b); got != "its agent says unhealthy: refused" {
		t.Error(got)
	}
	b.ValidationNote = pointer("its agent alone judges expect")
	if got := reason(b); got != "its agent says unhealthy: refused; its agent alone judges expect" {
		t.Error(got)
	}
}
