package gossip // inside: it uses beatPace, changePace and maxPaced

import (
	"fmt"
	"testing"
	"time"

	"gslb.internal/shared/wire"
)

// Fault 4.
func TestPaces_ABurstAndThenTheRateForEachAgentAndKindAlone(t *testing.T) {
	p, now := newPaces(), time.Now()
	taken := func(agent string, kind wire.Type, tries int) (count int) {
		for range tries {
			if p.take(agent, kind, now) {
				count++
			}
		}
		return count
	}
	changes := []wire.Type{wire.TypeTransition, wire.TypeSignal, wire.TypeDrain, wire.TypeDeregister}
	sum := 0
	for _, kind := range changes {
		sum += taken("moody", kind, changePace.burst/2)
	}
	if sum != changePace.burst {
		t.Errorf("%d changes were taken at once, want %d", sum, changePace.burst)
	}
	if got := taken("moody", wire.TypeHeartbeat, 10*beatPace.burst); got != beatPace.burst {
		t.Errorf("beside them %d heartbeats were taken, want %d", got, beatPace.burst)
	}
	if got := taken("sound", wire.TypeTransition, 1); got != 1 {
		t.Error("another agent pays for it")
	}
	if got := taken("moody", wire.TypeEnrol, 1000); got != 1000 {
		t.Errorf("%d enrolments of 1000 were taken", got)
	}
	now = now.Add(time.Second)
	if got := taken("moody", wire.TypeTransition, 1000); got != changePace.rate {
		t.Errorf("%d changes were taken a second later, want %d", got, changePace.rate)
	}
	now = now.Add(time.Hour)
	if got := taken("moody", wire.TypeTransition, 1000); got != changePace.burst {
		t.Errorf("%d changes were taken after an hour of rest, want %d", got, changePace.burst)
	}
	now = now.Add(time.Hour)
	for i := range 2 * maxPaced {
		if i%maxPaced == 0 {
			now = now.Add(time.Hour)
		}
		if !p.take(fmt.Sprint(i), wire.TypeHeartbeat, now) {
			t.Fatalf("the first message of agent %d was not taken", i)
		}
	}
	if len(p.due) > maxPaced+1 {
		t.Errorf("%d are remembered, want %d at most", len(p.due), maxPaced)
	}
}
