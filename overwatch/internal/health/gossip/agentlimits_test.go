package gossip // inside: it uses maxAgentClasses and newAgentLimits

import (
	"fmt"
	"testing"
	"time"

	"gslb.internal/shared/wire"
)

// Fault 4.
func TestAgentLimits_ABurstAndThenTheRateForEachAgentAndKindAlone(t *testing.T) {
	p, now := newAgentLimits(), time.Now()
	const changeRate, changeBurst, heartbeatBurst = 10, 100, 50
	taken := func(agent string, kind wire.Type, tries int) (count int) {
		for range tries {
			if p.allowMessage(agent, kind, now) {
				count++
			}
		}
		return count
	}
	changes := []wire.Type{wire.TypeTransition, wire.TypeSignal, wire.TypeDrain, wire.TypeDeregister}
	sum := 0
	for _, kind := range changes {
		sum += taken("moody", kind, changeBurst/2)
	}
	if sum != changeBurst {
		t.Errorf("%d changes were taken at once, want %d", sum, changeBurst)
	}
	if got := taken("moody", wire.TypeHeartbeat, 10*heartbeatBurst); got != heartbeatBurst {
		t.Errorf("beside them %d heartbeats were taken, want %d", got, heartbeatBurst)
	}
	if got := taken("sound", wire.TypeTransition, 1); got != 1 {
		t.Error("another agent pays for it")
	}
	if got := taken("moody", wire.TypeEnrol, 1000); got != 1000 {
		t.Errorf("%d enrolments of 1000 were taken", got)
	}
	now = now.Add(time.Second)
	if got := taken("moody", wire.TypeTransition, 1000); got != changeRate {
		t.Errorf("%d changes were taken a second later, want %d", got, changeRate)
	}
	now = now.Add(time.Hour)
	if got := taken("moody", wire.TypeTransition, 1000); got != changeBurst {
		t.Errorf("%d changes were taken after an hour of rest, want %d", got, changeBurst)
	}
	now = now.Add(time.Hour)
	for i := range 2 * maxAgentClasses {
		if i%maxAgentClasses == 0 {
			now = now.Add(time.Hour)
		}
		if !p.allowMessage(fmt.Sprint(i), wire.TypeHeartbeat, now) {
			t.Fatalf("the first message of agent %d was not taken", i)
		}
	}
	if p.buckets.Len() > maxAgentClasses {
		t.Errorf("%d are remembered, want %d at most", p.buckets.Len(), maxAgentClasses)
	}
}
