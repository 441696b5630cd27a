package config_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const notificationKeys = `mode: overwatch
overwatch:
  gossip: {encryption_key: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=}
  notifications:
    targets:
`

func TestNotifications_ATargetNeedsLittle(t *testing.T) {
	c, problems := loadText(t, notificationKeys+`    - {name: on-call, type: webhook, url: "https://h.example/x"}
    - {name: chat, type: webhook, url: "http://[::1]:80", secret: whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=,
       kinds: [name], names: [App.Example.com.], severity: error, group_wait: 1m}
    - {name: pager, type: pagerduty, secret: 0123456789abcdef0123456789abcdef}
    - {name: mail, type: email, server: "[::1]:25", from: a@b.example, to: [c@d.example], username: u, secret: p}
    - {name: am, type: alertmanager, url: "http://am:9093", secret: token}
`)
	if problems != nil {
		t.Fatal(problems)
	}
	targets := c.Overwatch.Notifications.Targets
	if first := targets[0]; first.Severity != "warning" || first.GroupWait != 10*time.Second {
		t.Errorf("%+v", first)
	}
	if targets[2].URL.Reveal() != "https://events.pagerduty.com/v2/enqueue" {
		t.Errorf("%q", targets[2].URL.Reveal())
	}
	got := fmt.Sprintf("%+v", targets[1])
	if !strings.Contains(got, "Names:[app.example.com] Severity:error GroupWait:1m0s") ||
		strings.Contains(got, "AAEC") {
		t.Error(got)
	}
}

// Secrets of a target may be in separate files, like other secrets.
func TestNotifications_SecretsComeFromFiles(t *testing.T) {
	const one = notificationKeys + `    - {name: chat, type: webhook, url_file: url, secret_file: key}
    - {name: pager, type: pagerduty, secret_file: key}
`
	const key = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	c, problems := loadText(t, one, "url", "https://h.example/x\n", "key", key+"\n")
	if problems != nil {
		t.Fatal(problems)
	}
	targets := c.Overwatch.Notifications.Targets
	if targets[0].URL.Reveal() != "https://h.example/x" || targets[0].Secret.Reveal() != key ||
		targets[1].Secret.Reveal() != key {
		t.Errorf("%q %q", targets[0].URL.Reveal(), targets[1].Secret.Reveal())
	}
	replaced := func(by string) string { return strings.Replace(one, "url_file: url", by, 1) }
	for text, want := range map[string]string{
		one: `overwatch.notifications.targets[0].url_file: "url": the file `,
		replaced("url_file: key, url: \"https://h.example\""): "targets[0].url_file: stands beside url",
		replaced("name_file: key"):                            "targets[0].name_file: unknown key",
	} {
		if _, problems := loadText(t, text, "key", key); !strings.Contains(strings.Join(problems, "\n"), want) {
			t.Errorf("%q, want %q", problems, want)
		}
	}
}

func TestNotifications_FaultsAreNamed(t *testing.T) {
	whole := map[string]string{"name": "chat", "type": "webhook", "url": "https://h.example"}
	for _, tc := range []struct{ key, value, word string }{
		{"name", `""`, "is missing"}, {"name", "a b", "use letters"}, {"type", "fax", "webhook"},
		{"url", "h.example", "give a URL"},
		{"url", "ftp://h.example", "give a URL"}, {"url", `""`, "give a URL"}, {"severity", "loud", "critical"},
		{"kinds", "[backends]", "backend"}, {"names", "[a..b]", "names[0]"}, {"group_wait", "0s", "1s"},
		{"secret", "whsec_short", "24 to 64 octets"}, {"secret", strings.Repeat("A", 44), "24 to 64 octets"},
	} {
		text := notificationKeys + "    - {"
		for key, value := range whole {
			if key != tc.key {
				text += key + ": " + value + ", "
			}
		}
		_, problems := loadText(t, text+tc.key+": "+tc.value+"}\n")
		if len(problems) != 1 || !strings.Contains(problems[0], "overwatch.notifications.targets[0]."+tc.key) ||
			!strings.Contains(problems[0], tc.word) || strings.Contains(problems[0], "AAAA") {
			t.Errorf("%s: %s: %q", tc.key, tc.value, problems)
		}
	}
	for text, word := range map[string]string{
		"type: slack, url: \"https://h.example\", secret: x":         "secret: a target of the type slack has no",
		"type: slack, url: \"https://h.example\", to: [a@b.example]": "to: a target of the type slack has no to",
		"type: pagerduty": "secret: is missing",
		"type: email, server: mail.example, from: a@b.example, to: [c@d.example]":                "server",
		"type: email, server: \"m:25\", from: a@b.example":                                       "to: has 0 addresses",
		"type: email, server: \"m:25\", from: a, to: [c@d.example]":                              "from",
		"type: email, server: \"m:25\", from: a@b.example, to: [\"C <c@d.example>\"]":            "to[0]",
		"type: email, server: \"m:25\", from: a@b.example, to: [c@d.example], username: u":       "go together",
		"type: email, server: \"m:25\", from: a@b.example, to: [c@d.example], url: \"http://h\"": "has no url",
	} {
		if _, problems := loadText(t, notificationKeys+"    - {name: chat, "+text+"}\n"); len(problems) != 1 ||
			!strings.Contains(problems[0], word) {
			t.Errorf("%s: %q, want %q", text, problems, word)
		}
	}
	one := "    - {name: chat, type: webhook, url: \"https://h.example\"}\n"
	_, problems := loadText(t, notificationKeys+one+one)
	if len(problems) != 1 || !strings.Contains(problems[0], "already") {
		t.Errorf("%q", problems)
	}
	var many strings.Builder
	for i := range 17 {
		many.WriteString(strings.Replace(one, "chat", fmt.Sprint("t", i), 1))
	}
	_, problems = loadText(t, notificationKeys+many.String())
	if len(problems) != 1 || !strings.Contains(problems[0], "16") {
		t.Errorf("%q", problems)
	}
}
