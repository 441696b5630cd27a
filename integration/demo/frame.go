package demo

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// keptIncidents is the number of latest incidents on the screen.
const keptIncidents = 4

// bar is the maximum width of a bar of shares, in columns.
const bar = 10

// Widths of the columns of answers. Two names fit on a usual terminal.
const (
	labelWidth = 23
	shareWidth = bar + 15
)

// frame draws a view as at most height lines of at most width columns. If there are more lines, it first omits blank
// lines, and then the lowest lines except the keys.
func frame(v view, width, height int) []string {
	var lines, tight []string
	for _, section := range [][]string{heading(v), backends(v), answers(v), incidents(v), hints(v)} {
		lines = append(append(lines, section...), "")
		tight = append(tight, section...)
	}
	lines = append(lines, keys())
	if len(lines) > height {
		lines = append(tight[:min(len(tight), max(0, height-1))], keys())
	}
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, width, "")
	}
	return lines
}

func heading(v view) []string {
	t := v.timing
	agents := 0
	for _, r := range v.replicas {
		if r.agent != "" {
			agents++
		}
	}
	return []string{
		words(bold, " gslb") + words(plain, " demo, %d overwatch nodes, %d agents, %d backends, running for %s",
			len(v.nodes), agents, len(v.replicas), v.running.Round(time.Second)),
		words(dim, " checks: agents %s, nodes %s, %d failures; heartbeat %s, stale after %s",
			t.CheckInterval, t.ValidationInterval, t.FailureThreshold, t.Heartbeat, t.StaleThreshold),
	}
}

func backends(v view) []string {
	head := " " + pad("BACKEND", 7, bold) + pad("ADDRESS", 9, bold) + pad("PROCESS", 7, bold) +
		pad("AGENT, LAST SEEN", 24, bold)
	for _, n := range v.nodes {
		head += pad("ON "+strings.ToUpper(n), 10, bold)
	}
	lines := []string{head}
	for _, r := range v.replicas {
		line := " " + pad(r.name, 7, plain) + pad(r.addr, 9, plain) + state(r.up, 7) + agent(r)
		for i, status := range r.status {
			line += pad(status, 10, health(status, r.serves[i]))
		}
		lines = append(lines, line+words(dim, "%s", r.reason))
	}
	return lines
}

func agent(r replicaView) string {
	if r.agent == "" {
		return pad("none, nodes check it", 24, dim)
	}
	heard := "never"
	if r.heard >= 0 {
		heard = fmt.Sprintf("%.1f s", r.heard.Seconds())
	}
	if !r.agentUp {
		return pad(r.agent, 10, red) + pad("down, "+heard, 13, red)
	}
	return pad(r.agent, 10, plain) + pad(heard, 13, plain)
}

func state(up bool, width int) string {
	if up {
		return pad("up", width, green)
	}
	return pad("down", width, red)
}

// health returns the color of a status: green if DNS answers with the backend, red if it does not, yellow for an
// outdated report.
func health(status string, serves bool) ansi.Style {
	switch {
	case strings.Contains(status, "stale"):
		return yellow
	case serves:
		return green
	case status == "-" || status == "?":
		return dim
	}
	return red
}

func answers(v view) []string {
	head := pad(" CLIENTS GOT, LAST "+window.String(), labelWidth, bold)
	now := pad("   right now", labelWidth, plain)
	for _, n := range v.names {
		head += pad(strings.SplitN(n.name, ".", 2)[0]+" ("+n.policy+")", shareWidth, bold)
		now += pad(strings.Join(n.now, ", "), shareWidth, plain)
	}
	lines := []string{head, now}
	for i, r := range v.replicas {
		line := pad(fmt.Sprintf("   %-9s  %s", r.addr, r.name), labelWidth, plain)
		for _, n := range v.names {
			line += share(n.due[i], n.got[i])
		}
		lines = append(lines, line)
	}
	return lines
}

// share draws a bar of the share of answers that clients received, and the numbers of the actual and the expected
// share.
func share(due, got float64) string {
	text := fmt.Sprintf("%5.1f%% of %3.0f%%", 100*got, 100*due)
	s := plain
	if got == 0 {
		s = dim
	}
	return pad(strings.Repeat("█", int(got*bar+0.5)), bar, green) + pad(text, shareWidth-bar-1, s)
}

func incidents(v view) []string {
	lines := []string{words(bold, " WHAT HAPPENED, AS A CLIENT SAW IT  ") + words(yellow, "%s", v.notice)}
	if len(v.incidents) == 0 {
		return append(lines, words(dim, "   nothing yet: press k and watch a backend leave the answers"))
	}
	for _, i := range v.incidents[max(0, len(v.incidents)-keptIncidents):] {
		s, text := plain, i.finding.text
		switch {
		case i.finding.broken != nil:
			s, text = red, "promise broken: "+i.finding.broken.Error()
		case !i.finding.settled:
			s = yellow
		}
		lines = append(lines, words(dim, " %4.0fs ", i.at.Seconds())+words(bold, "%s: ", i.what)+words(s, "%s", text))
	}
	return lines
}

func hints(v view) []string {
	lines := []string{words(bold, " TRY, IN ANOTHER TERMINAL")}
	for _, h := range v.hints {
		lines = append(lines, words(plain, "   %s", h))
	}
	return lines
}

func keys() string {
	line := " "
	for _, k := range [][2]string{
		{"k", "kill a backend"}, {"a", "kill an agent"}, {"o", "stop a node"}, {"r", "bring back"}, {"R", "all"},
		{"q", "quit"},
	} {
		line += words(bold, "%s", k[0]) + words(plain, " %s  ", k[1])
	}
	return line
}
