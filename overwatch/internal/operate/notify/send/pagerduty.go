package send

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"
)

// Bounds of a PagerDuty event, in characters. The code counts octets, which are at least as many.
const (
	maxSummary  = 1024
	maxDedupKey = 255
)

// pagerDuty sends messages to the Events API v2 of PagerDuty. The end of a state resolves its PagerDuty incident.
type pagerDuty struct {
	url    string
	key    string // of the integration
	client *http.Client
}

// pagerEvent is the body of a request to the PagerDuty Events API.
type pagerEvent struct {
	RoutingKey  string        `json:"routing_key"`
	EventAction string        `json:"event_action"`
	DedupKey    string        `json:"dedup_key"`
	Client      string        `json:"client,omitempty"`
	Payload     *pagerPayload `json:"payload,omitempty"`
}

type pagerPayload struct {
	Summary   string  `json:"summary"`
	Source    string  `json:"source"`
	Severity  string  `json:"severity"`
	Timestamp string  `json:"timestamp"`
	Component string  `json:"component"`
	Details   Message `json:"custom_details"`
}

// Send implements Sender. It resolves a test immediately.
func (p *pagerDuty) Send(ctx context.Context, m Message) error {
	e := pagerEvent{RoutingKey: p.key, EventAction: "trigger", DedupKey: dedupKey(m.Cluster + " " + m.Key), Client: "gslb"}
	if !m.Resolved {
		summary := m.title()
		if len(m.Events) > 0 {
			summary += ": " + m.Events[len(m.Events)-1].Sentence
		}
		e.Payload = &pagerPayload{Summary: cut(summary, maxSummary), Source: m.Node, Severity: string(m.Severity),
			Timestamp: m.Time.UTC().Format(time.RFC3339), Component: m.Key, Details: m}
		if err := post(ctx, p.client, p.url, e); err != nil || !m.Test {
			return err
		}
	}
	e.EventAction, e.Payload = "resolve", nil
	return post(ctx, p.client, p.url, e)
}

// dedupKey returns a valid dedup_key for PagerDuty.
func dedupKey(text string) string {
	if len(text) <= maxDedupKey {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
