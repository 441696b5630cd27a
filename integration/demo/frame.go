package demo

import (
	"fmt"
	"strings"
	"time"
)

// keptIncidents is how many of the newest incidents are on the screen.
const keptIncidents = 4

// bar is the width of the longest bar of shares, in columns.
const bar = 10

// Widths of the columns of answers, so that two names fit an ordinary terminal.
const (
	labelWidth = 23
	shareWidth = bar + 15
)

// frame draws a view as at most height lines. When they do not fit, the blank lines go first, then hints, then
// whatever is lowest.
func frame(v view, height int) []line {
	blank := line{}
	sections := [][]line{heading(v), backends(v), answers(v), incidents(v), hints(v)}
	last := keys()
	var all []line
	for _, s := range sections {
		all = append(append(all, s...), blank)
	}
	all = append(all, last)
	if len(all) <= height {
		return all
	}
	all = all[:0]
	for _, s := range sections {
		all = append(all, s...)
	}
	if len(all) >= height {
		all = all[:max(0, height-1)]
	}
	return append(all, last)
}

func heading(v view) []line {
	t := v.timing
	agents := 0
	for _, r := range v.replicas {
		if r.agent != "" {
			agents++
		}
	}
	return []line{
		append(words(bold, " gslb"), words(plain, " demo, %d overwatch nodes, %d agents, %d backends, running for %s",
			len(v.nodes), agents, len(v.replicas), v.running.Round(time.Second))...),
		words(dim, " checks: agents %s, nodes %s, %d failures; heartbeat %s, stale after %s",
			t.CheckInterval, t.ValidationInterval, t.FailureThreshold, t.Heartbeat, t.StaleThreshold),
	}
}

func backends(v view) []line {
	head := line{{" ", plain}, pad("BACKEND", 7, bold), pad("ADDRESS", 9, bold), pad("PROCESS", 7, bold), pad("AGENT, LAST HEARD", 24, bold)}
	for _, n := range v.nodes {
		head = append(head, pad("ON "+strings.ToUpper(n.name), 10, bold))
	}
	lines := []line{head}
	for _, r := range v.replicas {
		l := line{{" ", plain}, pad(r.name, 7, plain), pad(r.addr, 9, plain), state(r.up, 7)}
		l = append(l, agent(r)...)
		for i, status := range r.status {
			l = append(l, pad(status, 10, health(status, r.serves[i])))
		}
		lines = append(lines, append(l, span{clean(r.reason), dim}))
	}
	return lines
}

func agent(r replicaView) line {
	if r.agent == "" {
		return line{pad("none, nodes check it", 24, dim)}
	}
	heard := "never"
	if r.heard >= 0 {
		heard = fmt.Sprintf("%.1f s", r.heard.Seconds())
	}
	if !r.agentUp {
		return line{pad(r.agent, 10, red), pad("down, "+heard, 13, red)}
	}
	return line{pad(r.agent, 10, plain), pad(heard, 13, plain)}
}

func state(up bool, width int) span {
	if up {
		return pad("up", width, green)
	}
	return pad("down", width, red)
}

// health colours a status: green and red are what DNS does with the backend, yellow is a claim that has grown old.
func health(status string, serves bool) style {
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

func answers(v view) []line {
	head := line{pad(" CLIENTS GOT, LAST "+window.String(), labelWidth, bold)}
	now := line{pad("   right now", labelWidth, plain)}
	for _, n := range v.names {
		head = append(head, pad(strings.SplitN(n.name, ".", 2)[0]+" ("+n.policy+")", shareWidth, bold))
		now = append(now, pad(strings.Join(n.now, ", "), shareWidth, plain))
	}
	lines := []line{head, now}
	for i, r := range v.replicas {
		l := line{pad(fmt.Sprintf("   %-9s  %s", r.addr, r.name), labelWidth, plain)}
		for _, n := range v.names {
			l = append(l, share(n.due[i], n.got[i])...)
		}
		lines = append(lines, l)
	}
	return lines
}

// share draws a bar for what was got, and the figures of what was got and due.
func share(due, got float64) line {
	text := fmt.Sprintf("%5.1f%% of %3.0f%%", 100*got, 100*due)
	s := plain
	if got == 0 {
		s = dim
	}
	return line{pad(strings.Repeat("█", int(got*bar+0.5)), bar, green), pad(text, shareWidth-bar-1, s)}
}

func incidents(v view) []line {
	head := append(words(bold, " WHAT HAPPENED, AS A CLIENT SAW IT  "), words(yellow, "%s", v.notice)...)
	lines := []line{head}
	if len(v.incidents) == 0 {
		return append(lines, words(dim, "   nothing yet: press k and watch a backend leave the answers"))
	}
	for _, i := range v.incidents[max(0, len(v.incidents)-keptIncidents):] {
		s, text := plain, i.finding.text
		switch {
		case i.finding.broken != nil:
			s, text = red, "promise not kept: "+i.finding.broken.Error()
		case !i.finding.settled:
			s = yellow
		}
		lines = append(lines, line{{fmt.Sprintf(" %4.0fs ", i.at.Seconds()), dim}, {clean(i.what) + ": ", bold}, {clean(text), s}})
	}
	return lines
}

func hints(v view) []line {
	lines := []line{words(bold, " TRY, IN ANOTHER TERMINAL")}
	for _, h := range v.hints {
		lines = append(lines, words(plain, "   %s", h))
	}
	return lines
}

func keys() line {
	l := line{{" ", plain}}
	for _, k := range [][2]string{{"k", "kill a backend"}, {"a", "kill an agent"}, {"o", "stop a node"}, {"r", "bring back"}, {"R", "all"}, {"q", "quit"}} {
		l = append(l, span{k[0], bold}, span{" " + k[1] + "  ", plain})
	}
	return l
}
