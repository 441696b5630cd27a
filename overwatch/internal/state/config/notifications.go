package config

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"strings"
	"time"

	"gslb.internal/shared/api"
	"gslb.internal/shared/settings"
)

// maxTargets is the maximum number of receivers of notifications.
const maxTargets = 16

// Notifications has the receivers of messages about events.
type Notifications struct {
	// The receivers of [events](events.md); at most 16. See [notifications](notifications.md).
	Targets []NotificationTarget `key:"targets" reload:"live"`
}

// NotificationTarget is a receiver of notifications.
type NotificationTarget struct {
	// The name of the receiver in lists and metrics: letters, digits, hyphens, underscores, dots; at most 64 characters.
	// Use the same name on all nodes, so that only one node sends each notification.
	Name string `key:"name"`
	// `webhook`, `slack`, `pagerduty`, `alertmanager` or `email`; see [notifications](notifications.md#types).
	Type string `key:"type"`
	// The `https` or `http` URL for messages, for all types except `email`. The API does not show the URL, because it may
	// contain a secret. Default for `pagerduty`: `https://events.pagerduty.com/v2/enqueue`.
	URL settings.Secret `key:"url"`
	// For `webhook`: the signing key of messages, as `whsec_` and base64 of 24 to 64 octets. For `pagerduty`: the
	// integration key (required). For `alertmanager`: a bearer token. For `email`: the password of `username`.
	Secret settings.Secret `key:"secret"`
	// For `email`: the host and port of the mail server, such as `mail.example.com:587`.
	Server string `key:"server"`
	// For `email`: the sender address.
	From string `key:"from"`
	// For `email`: the recipient addresses; at most 16.
	To []string `key:"to"`
	// For `email`: the user name for the mail server. Empty: no login.
	Username string `key:"username"`
	// The kinds of events to send. Empty: all kinds. See [events](events.md#kinds).
	Kinds []string `key:"kinds"`
	// The domains of the events to send. Empty: all domains, and events without a domain.
	Names []string `key:"names"`
	// The minimum severity of the events to send: `info`, `warning`, `error` or `critical`.
	Severity string `key:"severity" default:"warning"`
	// The time for which the node collects further events of a group, after the first event, before it sends the group.
	GroupWait time.Duration `key:"group_wait" default:"10s" min:"1s" max:"10m"`
}

// The values of type.
const (
	TargetWebhook      = "webhook"
	TargetSlack        = "slack"
	TargetPagerDuty    = "pagerduty"
	TargetAlertmanager = "alertmanager"
	TargetEmail        = "email"
)

// TargetTypes lists the values of type.
func TargetTypes() []string {
	return []string{TargetWebhook, TargetSlack, TargetPagerDuty, TargetAlertmanager, TargetEmail}
}

// pagerDutyURL is the default of url for pagerduty: the Events API of PagerDuty. Services in Europe have another URL.
const pagerDutyURL = "https://events.pagerduty.com/v2/enqueue"

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
	v.reached(key, t)
	for i := range t.Names {
		name, remedy := settings.ParseName(t.Names[i])
		if remedy != "" {
			v.Add(fmt.Sprintf("%s.names[%d]", key, i), t.Names[i], remedy)
			continue
		}
		t.Names[i] = name
	}
}

// The bounds of the key of a webhook in octets (Standard Webhooks).
const minWebhookKey, maxWebhookKey = 24, 64

// WebhookKey returns the key that signs messages, or nil without a secret. Its error does not contain the secret.
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

// reached checks the URL and secret of a target.
func (v *validator) reached(key string, t *NotificationTarget) {
	if t.Type == TargetPagerDuty && t.URL == "" {
		t.URL = pagerDutyURL
	}
	byMail := t.Type == TargetEmail
	for name, given := range map[string]bool{"server": t.Server != "", "from": t.From != "", "to": len(t.To) > 0,
		"username": t.Username != "", "url": t.URL != ""} {
		if given && byMail == (name == "url") {
			v.Addf(key+"."+name, "", "a target of the type %s has no %s: remove it", t.Type, name)
		}
	}
	switch {
	case byMail:
		v.mailed(key, t)
		return
	case t.Type == TargetPagerDuty && t.Secret == "":
		v.Add(key+".secret", "", "is missing: give the integration key of the service")
	case t.Type == TargetSlack && t.Secret != "":
		v.Add(key+".secret", "", "a target of the type slack has no secret: remove it")
	case t.Type == TargetWebhook:
		if _, err := WebhookKey(t.Secret); err != nil {
			v.Add(key+".secret", "", err.Error())
		}
	}
	at, err := url.Parse(t.URL.Reveal())
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		v.Add(key+".url", "", "give a URL, such as https://hooks.example.com/gslb")
	}
}

// mailed validates the keys of a target of type email.
func (v *validator) mailed(key string, t *NotificationTarget) {
	if host, port, err := net.SplitHostPort(t.Server); err != nil || host == "" || port == "" {
		v.Add(key+".server", t.Server, "give a host and a port, such as mail.example.com:587")
	}
	if (t.Username == "") != (t.Secret == "") {
		v.Add(key+".username", t.Username, "username and secret go together: give both or neither")
	}
	const maxTo = 16
	if len(t.To) == 0 || len(t.To) > maxTo {
		v.Addf(key+".to", "", "has %d addresses: give 1 to %d", len(t.To), maxTo)
	}
	for i, address := range append([]string{t.From}, t.To...) {
		place := key + ".from"
		if i > 0 {
			place = fmt.Sprintf("%s.to[%d]", key, i-1)
		}
		if parsed, err := mail.ParseAddress(address); err != nil || parsed.Address != address || !ascii(address) {
			v.Add(place, address, "give a mail address, such as gslb@example.com")
		}
	}
}

func ascii(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}
