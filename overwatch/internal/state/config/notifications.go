package config

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"gslb.internal/shared/api"
	"gslb.internal/shared/settings"
)

// maxTargets bounds the receivers of notifications.
const maxTargets = 16

// Notifications are messages about events.
type Notifications struct {
	// Who is told of [events](events.md); at most 16. See [notifications](notifications.md).
	Targets []NotificationTarget `key:"targets" reload:"live"`
}

// NotificationTarget is one receiver of notifications.
type NotificationTarget struct {
	// The receiver's name, in lists and metrics: letters, digits, hyphens, underscores, dots; at most 64. The same on all
	// nodes, so that one of them tells it what all see.
	Name string `key:"name"`
	// `webhook`.
	Type string `key:"type"`
	// Where messages are sent: an `https` URL, or an `http` one. It is not shown, since what is in it may be secret.
	URL settings.Secret `key:"url"`
	// The secret that signs messages, as `whsec_` and base64 of 24 to 64 octets.
	Secret settings.Secret `key:"secret"`
	// The kinds of events that it is told of; empty: all. The [events](events.md#the-kinds) have the list.
	Kinds []string `key:"kinds"`
	// The domains whose events it is told of; empty: all, and what concerns none.
	Names []string `key:"names"`
	// `info`, `warning`, `error` or `critical`: it is told of events of this severity or a worse one, and of their end.
	Severity string `key:"severity" default:"warning"`
	// How long the first event of a group waits for others that go with it.
	GroupWait time.Duration `key:"group_wait" default:"10s" min:"1s" max:"10m"`
}

// TargetTypes lists the values of type.
func TargetTypes() []string { return []string{"webhook"} }

// notifications checks the receivers of notifications.
func (v *validator) notifications() {
	const key = "overwatch.notifications.targets"
	targets := v.config.Overwatch.Notifications.Targets
	if len(targets) > maxTargets {
		v.Addf(key, "", "has %d receivers: give at most %d", len(targets), maxTargets)
	}
	first := map[string]int{}
	for i := range targets {
		v.notified(fmt.Sprintf("%s[%d]", key, i), &targets[i])
		name := targets[i].Name
		if earlier, twice := first[name]; twice {
			v.Addf(fmt.Sprintf("%s[%d].name", key, i), name, "is already that of %s[%d]: give another", key, earlier)
			continue
		}
		first[name] = i
	}
}

func (v *validator) notified(key string, t *NotificationTarget) {
	if remedy := settings.LabelRemedy(t.Name, 64); remedy != "" {
		v.Add(key+".name", t.Name, remedy)
	}
	v.oneOf(key+".type", t.Type, TargetTypes())
	v.oneOf(key+".severity", t.Severity, api.EventSeverities())
	for _, kind := range t.Kinds {
		v.oneOf(key+".kinds", kind, api.EventKindNames())
	}
	if at, err := url.Parse(t.URL.Reveal()); err != nil || at.Host == "" || !slices.Contains([]string{"http", "https"}, at.Scheme) {
		v.Add(key+".url", "", "give a URL, such as https://hooks.example.com/gslb")
	}
	if _, err := WebhookKey(t.Secret); err != nil {
		v.Add(key+".secret", "", err.Error())
	}
	for i := range t.Names {
		name, remedy := settings.ParseName(t.Names[i])
		if remedy != "" {
			v.Add(fmt.Sprintf("%s.names[%d]", key, i), t.Names[i], remedy)
			continue
		}
		t.Names[i] = name
	}
}

// The bounds of the key of a webhook, in octets (Standard Webhooks).
const minWebhookKey, maxWebhookKey = 24, 64

// WebhookKey returns the key that signs messages, nil where there is none. Its error does not have the secret.
func WebhookKey(secret settings.Secret) ([]byte, error) {
	if secret == "" {
		return nil, nil
	}
	text, prefixed := strings.CutPrefix(secret.Reveal(), "whsec_")
	key, err := base64.StdEncoding.DecodeString(text)
	if !prefixed || err != nil || len(key) < minWebhookKey || len(key) > maxWebhookKey {
		return nil, fmt.Errorf("give whsec_ and %d to %d octets in base64; make them with: echo whsec_$(head -c 32 "+
			"/dev/urandom | base64)", minWebhookKey, maxWebhookKey)
	}
	return key, nil
}
