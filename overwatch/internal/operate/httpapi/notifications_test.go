package httpapi // inside: it shares world_test.go

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gslb.internal/shared/api"
)

// notifier has one target, chat.
type notifier struct{}

func (notifier) Status() []api.NotificationTarget {
	return []api.NotificationTarget{{Name: "chat", Type: "slack", Queued: 3}}
}

func (notifier) Test(_ context.Context, target string) []api.NotificationTest {
	if target != "" && target != "chat" {
		return []api.NotificationTest{}
	}
	return []api.NotificationTest{{Target: "chat", Error: new("it answers 500")}}
}

func (notifier) Challenge() string { return api.KeySyncScheme + ` nonce="n"` }

func (notifier) Answer(where, target, group, authorization string) (string, error) {
	if authorization != api.KeySyncScheme+" good" {
		return "", errors.New("the proof is wrong")
	}
	return where + " " + target + " " + group, nil
}

func TestNotifications(t *testing.T) {
	w := newWorld(t)
	const told = "/api/v1/notifications/told?target=chat&group=name+a.example"
	for _, tc := range []struct {
		method, path, proof string
		status              int
		has                 string
	}{
		{"GET", "/api/v1/notifications", "", 200, `"name":"chat","type":"slack","queued":3,`},
		{"POST", "/api/v1/notifications/test", "", 200, `{"target":"chat","sent":false,"error":"it answers 500",`},
		{"POST", "/api/v1/notifications/test?target=chat", "", 200, `"total":1`},
		{"POST", "/api/v1/notifications/test?target=mail", "", 404, `no target is named mail`},
		{"GET", told, "", 200, `{}`},
		{"GET", told, "bad", 401, `the proof is wrong`},
		{"GET", told, "good", 200, `{"sealed":"` + told + ` chat name a.example"}`},
	} {
		var headers []string
		if tc.proof != "" {
			headers = append(headers, "Authorization", api.KeySyncScheme+" "+tc.proof)
		}
		if r := w.send(tc.method, tc.path, "", headers...); r.status != tc.status || !strings.Contains(r.body, tc.has) {
			t.Errorf("%s %s: %d %s", tc.method, tc.path, r.status, r.body)
		}
	}
}

// A client without the secret that sends requests like a node causes only a few log lines.
func TestNotifications_RefusedProofsDoNotFillTheLog(t *testing.T) {
	w := newWorld(t)
	for range 100 {
		w.wantError("a bad proof", w.send("GET", "/api/v1/notifications/told", "", "Authorization", api.KeySyncScheme+" bad"),
			401, "the proof is wrong")
	}
	if n := strings.Count(w.log.String(), "a request of another node was refused"); n < 1 || n > 8 {
		t.Errorf("%d lines", n)
	}
}
