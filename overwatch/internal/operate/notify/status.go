package notify

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"time"

	"gslb.internal/overwatch/internal/operate/notify/send"
	"gslb.internal/shared/api"
)

// Status lists the targets in the order of the configuration.
func (n *Notifier) Status() []api.NotificationTarget {
	_, targets := n.current()
	list := make([]api.NotificationTarget, 0, len(targets))
	for _, t := range targets {
		t.mu.Lock()
		s := api.NotificationTarget{Name: t.c.Name, Type: t.c.Type, Queued: len(t.Waiting), Sent: t.sent,
			Failed: t.failed, Dropped: t.dropped, LastSent: api.MomentOrNull(t.LastSent),
			FailingSince: api.MomentOrNull(t.failing)}
		if t.Message != nil {
			s.Queued += len(t.Message.Message.Events) + t.Message.Message.More
		}
		if t.problem != "" {
			s.LastError = new(t.problem)
		}
		t.mu.Unlock()
		list = append(list, s)
	}
	return list
}

// patience is the time after which Trouble reports a failing target.
const patience = 5 * time.Minute

// Trouble returns a sentence for each target that receives no messages, by name. It includes a target that permanently
// rejects a message, and a target that has failed for the time patience.
func (n *Notifier) Trouble() map[string]string {
	_, targets := n.current()
	sentences := map[string]string{}
	for _, t := range targets {
		t.mu.Lock()
		if t.problem != "" && (t.refused || time.Since(t.failing) >= patience) {
			sentences[t.c.Name] = fmt.Sprintf("notifications of %s are not sent since %s: %s", t.c.Name,
				t.failing.UTC().Format(time.RFC3339), t.problem)
		}
		t.mu.Unlock()
	}
	return sentences
}

// Test sends a test message to the target of a name, or to all targets if the name is empty. Waiting messages are not
// affected. Without a matching target, the result is empty.
func (n *Notifier) Test(ctx context.Context, name string) []api.NotificationTest {
	_, targets := n.current()
	targets = slices.DeleteFunc(slices.Clone(targets), func(t *target) bool { return name != "" && t.c.Name != name })
	list := make([]api.NotificationTest, len(targets))
	var testing sync.WaitGroup
	for i, t := range targets {
		testing.Go(func() { list[i] = t.test(ctx) })
	}
	testing.Wait()
	return list
}

func (t *target) test(ctx context.Context) api.NotificationTest {
	done := api.NotificationTest{Target: t.c.Name, Sent: true}
	began := time.Now()
	sentence := "this is a test of notifications by node " + t.n.o.Node
	var err error
	if t.sender == nil {
		err = fmt.Errorf("it cannot be used: %s", t.problem) // the problem remains
	} else {
		err = t.send(ctx, send.Message{ID: rand.Text(), Key: "test on " + t.n.o.Node, Severity: api.EventInfo,
			Time: began, Node: t.n.o.Node, Test: true, Events: []api.Event{{Time: began.UTC(), Kind: api.EventNotification,
				State: "test", Severity: api.EventInfo, Phase: api.PhaseOnce, Subject: t.c.Name,
				Cause: "an operator asked for it", Sentence: sentence}}})
	}
	if err != nil {
		done.Sent, done.Error = false, new(reason(err))
	} else {
		t.mu.Lock()
		t.noteSuccess()
		t.mu.Unlock()
		select {
		case t.wake <- struct{}{}: // waiting messages may be sent now
		default:
		}
	}
	done.DurationMS = time.Since(began).Milliseconds()
	return done
}
