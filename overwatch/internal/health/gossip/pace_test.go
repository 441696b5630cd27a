package gossip

import (
	"fmt"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/trust"
)

func TestPaces_ABurstAndThenTheRateForEachAgentAlone(t *testing.T) {
	p, now := newPaces(), time.Now()
	taken := func(agent string, tries int) (count int) {
		for range tries {
			if p.take(agent, now) {
				count++
			}
		}
		return count
	}
	if got := taken("moody", 10*agentBurst); got != agentBurst {
		t.Errorf("%d messages were taken at once, want %d", got, agentBurst)
	}
	if got := taken("sound", 1); got != 1 {
		t.Error("another agent pays for it")
	}
	now = now.Add(time.Second)
	if got := taken("moody", 10*agentBurst); got != agentRate {
		t.Errorf("%d messages were taken a second later, want %d", got, agentRate)
	}
	now = now.Add(time.Hour)
	if got := taken("moody", 10*agentBurst); got != agentBurst {
		t.Errorf("%d messages were taken after an hour of rest, want %d", got, agentBurst)
	}
	now = now.Add(time.Hour)
	for i := range 2 * trust.MaxAgents {
		if i%trust.MaxAgents == 0 {
			now = now.Add(time.Hour)
		}
		if !p.take(fmt.Sprint(i), now) {
			t.Fatalf("the first message of agent %d was not taken", i)
		}
	}
	if len(p.due) > trust.MaxAgents+1 {
		t.Errorf("%d agents are remembered, want %d at most", len(p.due), trust.MaxAgents)
	}
}
