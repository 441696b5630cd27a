package harness // inside: it tests the client in virtual time; tests with real processes test Watch

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
)

// A stalled machine makes an answer late. An answer is lost if it does not arrive although a later query was answered,
// or if the server answers no query.
func TestClient_TellsALateAnswerFromALostOne(t *testing.T) {
	const still = 20 * time.Second
	for name, c := range map[string]struct {
		delay func(question int) time.Duration // negative: no answer
		lost  bool
	}{
		"at once":          {func(int) time.Duration { return 0 }, false},
		"it stands still":  {func(i int) time.Duration { return max(still-time.Duration(i)*time.Second, 0) }, false},
		"soon after later": {func(i int) time.Duration { return max(lostAfter-time.Duration(i)*time.Hour, 0) }, false},
		"the first lost":   {func(i int) time.Duration { return time.Duration(min(i-1, 0)) }, true},
		"it hangs":         {func(int) time.Duration { return -1 }, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			questions := 0
			k := client{patience: time.Minute, dial: func(context.Context, string, string) (net.Conn, error) {
				ours, theirs := net.Pipe()
				go func() { <-ctx.Done(); theirs.Close() }()
				go answerAfter(&dns.Conn{Conn: theirs}, c.delay(questions))
				questions++
				return ours, nil
			}}
			defer k.close()
			_, err := k.exchange(ctx, new(dns.Msg).SetQuestion("a.", dns.TypeA))
			if lost := err != nil; lost != c.lost {
				t.Errorf("%s: %v after %d questions", name, err, questions)
			}
		})
	}
}

func answerAfter(conn *dns.Conn, delay time.Duration) {
	q, err := conn.ReadMsg()
	if err != nil || delay < 0 {
		return
	}
	time.Sleep(delay) // virtual
	_ = conn.WriteMsg(new(dns.Msg).SetReply(q))
}
