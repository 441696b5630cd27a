package send_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/operate/notify/send"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/settings"
)

// taken returns the requests of a message to a target of a type: the path, authorization and body of each.
func taken(t *testing.T, c config.NotificationTarget, m send.Message) (all []map[string]any, where string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		where = r.URL.Path + " " + r.Header.Get("Authorization")
		var list []map[string]any
		var one map[string]any
		if json.Unmarshal(text, &list) != nil && json.Unmarshal(text, &one) == nil {
			list = append(list, one)
		}
		all = append(all, list...)
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()
	c.URL = settings.Secret(server.URL + "/at")
	if err := newSender(t, c).Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	return all, where
}

func TestSlack_TextIsEscaped(t *testing.T) {
	got, _ := taken(t, config.NotificationTarget{Type: "slack"}, aMessage)
	const want = "*[gslb] warning: name a.example*\n00:00:00 b1 is &lt;down&gt;\nand 2 more\n_told by ow-1_"
	if len(got) != 1 || got[0]["text"] != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestPagerDuty_WhatIsResolvedHereIsResolvedThere(t *testing.T) {
	c := config.NotificationTarget{Type: "pagerduty", Secret: "key"}
	got, _ := taken(t, c, aMessage)
	payload, _ := got[0]["payload"].(map[string]any)
	if len(got) != 1 || got[0]["routing_key"] != "key" || got[0]["event_action"] != "trigger" ||
		got[0]["dedup_key"] != "gslb name a.example" || payload["severity"] != "warning" || payload["source"] != "ow-1" ||
		payload["summary"] != "[gslb] warning: name a.example: b1 is <down>" ||
		payload["timestamp"] != "2026-03-01T12:00:00Z" {
		t.Errorf("%v", got)
	}
	m := aMessage
	m.Resolved, m.Key = true, strings.Repeat("x", 300)
	resolved, _ := taken(t, c, m)
	m.Resolved, m.Test = false, true
	test, _ := taken(t, c, m)
	if key, _ := resolved[0]["dedup_key"].(string); len(resolved) != 1 || resolved[0]["event_action"] != "resolve" ||
		len(key) != 64 || len(test) != 2 || test[1]["event_action"] != "resolve" || test[1]["dedup_key"] != key {
		t.Errorf("%v, %v", resolved, test)
	}
}

// All notifications of an alert have the same labels, so that the end matches the start. An alert lasts until its state
// ends.
func TestAlertmanager_AnAlertLastsUntilItIsResolved(t *testing.T) {
	c := config.NotificationTarget{Type: "alertmanager", Secret: "t"}
	for _, tc := range []struct {
		open, resolved, test bool
		least, most          time.Duration
	}{
		{true, false, false, 300 * 24 * time.Hour, 400 * 24 * time.Hour}, {false, true, false, -time.Minute, 0},
		{false, false, false, 0, time.Hour}, {false, false, true, 0, time.Hour},
	} {
		m := aMessage
		m.Open, m.Resolved, m.Test = tc.open, tc.resolved, tc.test
		got, where := taken(t, c, m)
		labels, _ := got[0]["labels"].(map[string]any)
		end, err := time.Parse(time.RFC3339, got[0]["endsAt"].(string))
		name := "GslbEvent"
		if tc.test {
			name = "GslbTest"
		}
		if left := time.Until(end); err != nil || left < tc.least || left > tc.most ||
			where != "/at/api/v2/alerts Bearer t" ||
			len(labels) != 3 || labels["alertname"] != name || labels["about"] != "name a.example" ||
			labels["cluster"] != "gslb" {
			t.Errorf("%+v: %s %v", tc, where, got)
		}
	}
}
