package send

import (
	"context"
	"net/http"
	"strings"
	"time"
)

const (
	// openLife is the lifetime of an alert for an active state. An Alertmanager ends alerts without a lifetime after a few
	// minutes.
	openLife = 365 * 24 * time.Hour
	// onceLife is the lifetime of an alert for an event without an end.
	onceLife = 5 * time.Minute
)

// alertmanager sends messages to the API v2 of an Alertmanager.
type alertmanager struct {
	url    string // of the Alertmanager
	token  string // bearer; empty: none
	client *http.Client
}

type alert struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	StartsAt    *time.Time        `json:"startsAt,omitempty"`
	EndsAt      time.Time         `json:"endsAt"`
}

// Send implements Sender. The labels identify the alert; the severity may change, so it is an annotation.
func (a *alertmanager) Send(ctx context.Context, m Message) error {
	one := alert{Labels: map[string]string{"alertname": "GslbEvent", "about": m.Key},
		Annotations: map[string]string{"summary": m.title(), "description": m.lines(), "severity": string(m.Severity),
			"node": m.Node}, StartsAt: &m.Time, EndsAt: time.Now().Add(openLife)}
	if m.Cluster != "" {
		one.Labels["cluster"] = m.Cluster
	}
	switch {
	case m.Resolved:
		one.StartsAt, one.EndsAt = nil, time.Now()
	case m.Test:
		one.Labels["alertname"], one.EndsAt = "GslbTest", time.Now().Add(onceLife)
	case !m.Open:
		one.EndsAt = time.Now().Add(onceLife)
	}
	req, _, err := request(ctx, strings.TrimRight(a.url, "/")+"/api/v2/alerts", []alert{one})
	if err != nil {
		return err
	}
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	return do(a.client, req)
}
