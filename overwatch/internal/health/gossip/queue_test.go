package gossip // inside: it uses arrival and newQueue

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestQueue_UrgentGoesFirstButStarvesNobody(t *testing.T) {
	q := newQueue()
	for i := range 3 {
		q.add(waiting(key(i), from("192.0.2.1", false), 1), false)
	}
	for i := range 20 {
		q.add(waiting(key(100+i), from("192.0.2.1", false), 1), true)
	}
	var plainAt []int
	for i := range 23 {
		a, ok := q.waitForMessage(t.Context())
		if !ok {
			t.Fatal("queue ended")
		}
		if a.head.KeyID[4] < 100 {
			plainAt = append(plainAt, i)
		}
	}
	if plainAt[0] != maxUrgentInRow || plainAt[1] != 2*maxUrgentInRow+1 || plainAt[2] != 22 {
		t.Errorf("heartbeats were taken at %v", plainAt)
	}
}

func TestQueue_EveryWorkerOfAGroupIsWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		q, taken := newQueue(), make(chan arrival, 8)
		for range 4 {
			go func() {
				for {
					a, ok := q.waitForMessage(ctx)
					if !ok {
						return
					}
					taken <- a
					<-ctx.Done() // blocks: the other workers must receive the remaining messages
				}
			}()
		}
		synctest.Wait()
		for i := range 4 {
			q.add(waiting(key(i), from("192.0.2.1", false), 1), i%2 == 0)
		}
		synctest.Wait()
		if len(taken) != 4 {
			t.Errorf("%d of 4 messages were taken", len(taken))
		}
		cancel()
		synctest.Wait()
	})
}

func TestIntake_AnAgentsMessagesStayInOrder(t *testing.T) {
	d, _ := newDrops(testOptions(t).Logger)
	in := newIntake(d)
	a := newTestAgent(t, "a1", gossipKey, from("192.0.2.1", false).addr)
	for range 5 {
		in.deliver(a.heartbeat(), from("192.0.2.1", false))
	}
	if enrol, urgent, plain := in.depths(); plain != 5 || urgent != 0 || enrol != 0 {
		t.Fatalf("%d, %d, %d messages wait", plain, urgent, enrol)
	}
	in.deliver(a.enrolment(), from("192.0.2.1", false))
	if enrol, _, _ := in.depths(); enrol != 1 {
		t.Error("an enrolment waits among heartbeats")
	}
	q := in.shards[int(a.id.KeyID[0])%len(in.shards)]
	for want := uint64(1); want <= 5; want++ {
		if got, _ := q.waitForMessage(t.Context()); got.head.Seq != want || time.Since(got.at) > time.Minute {
			t.Errorf("sequence number %d, want %d", got.head.Seq, want)
		}
	}
}
