package explain

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// maxLines is the maximum number of lines about the backends of a name, per address family.
const maxLines = 32

// ToAskersIn returns a function that calls Lines for clients in one of the networks, and returns nil for other clients.
// It calls networks and view for each question.
func ToAskersIn(networks func() []netip.Prefix, view func() *zone.View) func(
	name string, client, asker netip.Addr, subnet bool) []string {
	return func(name string, client, asker netip.Addr, subnet bool) []string {
		isAsker := func(p netip.Prefix) bool { return p.Contains(asker.Unmap()) }
		if !slices.ContainsFunc(networks(), isAsker) {
			return nil
		}
		return Lines(view(), name, client, subnet)
	}
}

// Lines explains the answer for a load-balanced name in a few lines, without IPv6 if the name has no IPv6 address. It
// returns nil for other names.
func Lines(view *zone.View, name string, client netip.Addr, subnet bool) (lines []string) {
	for _, family := range []policy.Family{policy.IPv4, policy.IPv6} {
		e, err := Explain(view, Query{Name: name, Family: family, Client: client, Subnet: subnet})
		if err != nil || e.Basis == nil {
			return nil
		}
		if family == policy.IPv6 && e.Basis.Rules.AnswerNames { // as for IPv4
			break
		}
		if e.Outcome != policy.NoData || family == policy.IPv4 {
			lines = append(lines, e.lines()...)
		}
	}
	return lines
}

func (e *Explanation) lines() []string {
	kind := "A"
	switch {
	case e.Basis.Rules.AnswerNames:
		kind = "CNAME"
	case e.Family == policy.IPv6:
		kind = "AAAA"
	}
	first := fmt.Sprintf("%s: %s by %s", kind, e.Outcome, e.Decision.Algorithm)
	if len(e.Addresses) > 0 {
		first += fmt.Sprintf(", for %d s", e.TTL)
	}
	first += fmt.Sprintf("; client %s is in %s", e.Client, named(e.Region))
	if e.Place != nil && e.Region != "" {
		first += " by " + string(e.Place.Match)
	}
	lines := []string{first + fmt.Sprintf("; scope %d; snapshot %d", e.Scope, e.Basis.Generation)}
	var rest []string
	for i := range e.Backends {
		b := &e.Backends[i]
		if b.Excluded == "" {
			line := fmt.Sprintf("%s: %s in %s has %.1f%%", kind, Endpoint(b.Candidate), named(b.Region), 100*b.Share)
			if b.Info != nil && b.Info.Check != "" {
				line += "; " + b.Info.Check
			}
			rest = append(rest, line)
		}
	}
	for i := range e.Backends {
		if b := &e.Backends[i]; b.Excluded != "" {
			rest = append(rest, fmt.Sprintf("%s: not %s in %s: %s", kind, Endpoint(b.Candidate), named(b.Region), b.Excluded))
		}
	}
	for _, w := range e.WouldBe {
		rest = append(rest, fmt.Sprintf("%s: %s", kind, w.sentence()))
	}
	if over := len(rest) - maxLines; over > 0 {
		rest = append(rest[:maxLines], fmt.Sprintf("%s: and %d more lines: ask the API", kind, over))
	}
	return append(lines, rest...)
}

func (w *WouldBe) sentence() string {
	who := "all that may not serve were"
	if w.If != nil {
		who = Endpoint(w.If) + " were"
	}
	var answers []string
	for _, due := range w.Decision.Members {
		answers = append(answers, fmt.Sprintf("%s %.1f%%", due.Name(), 100*Share(w.Decision.Members, due)))
	}
	if len(answers) == 0 {
		answers = []string{"nothing"}
	}
	return fmt.Sprintf("if %s up: %s with %s", who, w.Decision.Outcome, strings.Join(answers, ", "))
}
