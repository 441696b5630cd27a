package conditions

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/api"
)

// Conditions lists the active conditions in the order of api.ConditionTypes. Their sentences contain the names of
// agents, backends and domains, so they are for operators only.
func (j *Judge) Conditions() []api.Condition {
	list := collect(func(to report) { j.walk(true, to) })
	order := map[api.ConditionKind]int{}
	for i, t := range api.ConditionTypes() {
		order[t.Kind] = i
	}
	slices.SortStableFunc(list, func(a, b api.Condition) int { return order[a.Kind] - order[b.Kind] })
	return list
}

// Standing lists the active conditions, in any order and without the conditions of names and their backends.
func (j *Judge) Standing() []api.Condition {
	l := j.findLosses()
	list := collect(func(to report) {
		j.walkNode(true, to)
		j.walkLosses(l, to)
		l.walkShares(to)
		j.walkOthers(l, to)
	})
	for i := range list {
		switch c := &list[i]; c.Kind {
		case api.RegionLost:
			c.State = l.regions[c.Subject].state(false)
		case api.AgentLost:
			c.State = l.agents[c.Subject].state(true)
		}
	}
	for id, g := range l.agents {
		if _, silent := l.silent[id]; (g.lost || silent) && l.foldsAgent(id) {
			list = append(list, api.Condition{Kind: api.AgentLost, Subject: id, Folded: true})
		}
	}
	return list
}

func collect(walk func(report)) []api.Condition {
	list := []api.Condition{}
	walk(func(kind api.ConditionKind, subject string, describe func() (sentence, command string)) {
		sentence, command := describe()
		list = append(list, api.Condition{Kind: kind, Severity: kind.TypeOf().Severity, Subject: subject,
			Sentence: sentence, Command: command})
	})
	return list
}

// report receives an active condition. The receiver calls describe only for a list, because sentences take time.
type report func(kind api.ConditionKind, subject string, describe func() (sentence, command string))

// listed returns the list of a source, or nil without a source.
func listed[T any](source func() []T) []T {
	if source == nil {
		return nil
	}
	return source()
}

// fixed returns a describe function with a fixed sentence and command.
func fixed(sentence, command string) func() (string, string) {
	return func() (string, string) { return sentence, command }
}

// walk reports the active conditions. Unless all is set, it omits the conditions of a healthy service.
func (j *Judge) walk(all bool, to report) {
	if !j.walkNode(all, to) {
		return
	}
	l := j.findLosses()
	j.walkLosses(l, to)
	j.walkNames(l, all, to)
	if all {
		j.walkOthers(l, to)
	}
}

// walkNode reports the conditions of the node. It returns false if the caller must not check other conditions: DNS does
// not answer, and all is not set.
func (j *Judge) walkNode(all bool, to report) bool {
	ready := j.Readiness()
	public := func(kind api.ConditionKind, holds bool, command string) {
		if holds {
			to(kind, "", fixed(kind.TypeOf().Public, command))
		}
	}
	public(api.DNSSilent, !ready.DNSReady, "gslbctl health")
	public(api.ChecksIncomplete, !ready.HealthReady, "gslbctl health")
	if !ready.DNSReady && !all {
		return false
	}
	asked := func(f func() bool) bool { return f != nil && f() }
	public(api.SigningKeysLost, asked(j.o.KeysLost), "gslbctl dnssec ds")
	public(api.SigningKeysApart, asked(j.o.KeysApart), "gslbctl dnssec status")
	public(api.SigningFails, asked(j.o.SigningFails), "gslbctl dnssec status")
	j.walkSignatures(to)
	j.walkKeyMismatches(to)
	public(api.StoreFails, asked(j.o.StoreFailing), "df on the disk of data_dir")
	public(api.VerdictsSetAside, j.o.View.IsIsolated(), "gslbctl backends list")
	j.reportHolds(to)
	j.walkTroubles(to)
	j.walkRejected(to)
	return true
}

// walkOthers reports the conditions of a healthy service, without the conditions of domains.
func (j *Judge) walkOthers(l *losses, to report) {
	j.walkOrders(to)
	j.walkAgents(l, to)
	j.walkRefused(to)
	j.walkFailbacks(to)
	j.walkRegions(to)
	j.walkNodes(to)
	j.walkKeys(to)
	j.walkReplication(to)
	j.walkNotifications(to)
	j.walkFiles(to)
	j.walkKeyRolls(to)
	j.walkCertificates(to)
}

// walkNames reports names with fewer serving backends than required, and unhealthy backends.
func (j *Judge) walkNames(l *losses, all bool, to report) {
	domains := j.o.Domains()
	l.walkShares(to)
	l.walkFlapping(j.flapWindow(), to)
	dark := 0
	for _, d := range domains {
		backends := j.o.View.Service(d.Name)
		for _, b := range backends {
			if b.Status != api.EffectiveHealthy && b.Override == nil && b.FlapReason == "" && !l.folds(b) {
				to(api.BackendUnwell, b.ID.String(), func() (string, string) { return describeUnwell(b) })
			}
		}
		backends = d.answering(backends)
		if all {
			walkEmptyRegions(d, backends, l, to)
		}
		kind, serving, minimum := judgeName(d, backends)
		if kind == "" {
			continue
		}
		if serving == 0 {
			dark++
		}
		to(kind, d.Name, func() (string, string) {
			sentence := describeName(d, kind, backends, serving, minimum)
			if refused := j.refusedOf(d.Name); refused != "" {
				sentence += "; " + refused
			}
			return sentence, "gslbctl backends list --service " + d.Name
		})
	}
	if dark > 0 && dark == len(domains) {
		to(api.NoNameAnswered, "", fixed(api.NoNameAnswered.TypeOf().Public, "gslbctl domains list"))
	}
}

// answering returns the backends that answers of a name can contain.
func (d Domain) answering(all []*registry.Backend) []*registry.Backend {
	if !d.Names {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(b *registry.Backend) bool { return b.Host().Name == "" })
}

// judgeName returns api.NameUnanswered, api.NameOnLastResort, or an empty kind if enough backends may serve the name.
// backends contains the backends that answers of the name can contain.
func judgeName(d Domain, backends []*registry.Backend) (kind api.ConditionKind, serving, minimum int) {
	known := 0
	for _, b := range backends {
		if b.MayServe {
			serving++
		}
		if b.Reason != status.ReasonUnknown {
			known++
		}
	}
	switch minimum = d.MinHealthy.RequiredOf(known); {
	case serving >= minimum:
		return "", serving, minimum
	case slices.ContainsFunc(backends, d.mayBeLast):
		return api.NameOnLastResort, serving, minimum
	}
	return api.NameUnanswered, serving, minimum
}

// CountServing returns the number of backends that may serve a name, and the number that the name requires.
func CountServing(d Domain, backends []*registry.Backend) (serving, required int) {
	_, serving, required = judgeName(d, d.answering(backends))
	return serving, required
}

func describeName(d Domain, kind api.ConditionKind, backends []*registry.Backend, serving, minimum int) string {
	answer := "nobody answers " + d.Name
	if kind == api.NameOnLastResort {
		answer = d.Name + " is answered by its last resort"
	}
	return fmt.Sprintf("%s: %d of at least %d backends may serve%s", answer, serving, minimum, whyNot(d, backends))
}

// Name returns the condition of a name: api.NameUnanswered or api.NameOnLastResort with a sentence about the reason, or
// an empty kind if enough backends may serve.
func Name(d Domain, backends []*registry.Backend) (kind api.ConditionKind, sentence string) {
	backends = d.answering(backends)
	kind, serving, minimum := judgeName(d, backends)
	if kind == "" {
		return "", ""
	}
	return kind, describeName(d, kind, backends, serving, minimum)
}

// Answers returns the number of backends that may serve a name, the required number, and the kind of its answers.
func Answers(d Domain, backends []*registry.Backend) (serving, required int, answers api.AnswerStatus) {
	kind, serving, required := judgeName(d, d.answering(backends))
	switch kind {
	case api.NameUnanswered:
		return serving, required, api.AnswersNone
	case api.NameOnLastResort:
		return serving, required, api.AnswersFallback
	}
	return serving, required, api.AnswersNormal
}

// walkEmptyRegions reports regions of a name that have no backend. A name without any backend has another condition.
func walkEmptyRegions(d Domain, backends []*registry.Backend, l *losses, to report) {
	if len(backends) == 0 {
		return
	}
	for _, region := range d.Regions {
		if g := l.regions[region]; g != nil && g.lost {
			continue
		}
		if !slices.ContainsFunc(backends, func(b *registry.Backend) bool { return b.Region == region }) {
			to(api.RegionEmpty, d.Name+" "+region, fixed(d.Name+" names region "+region+
				" and has no backend there, configured or reported", "gslbctl backends list --service "+d.Name))
		}
	}
}

// mayBeLast reports whether the fallback answer of the name can contain a backend.
func (d Domain) mayBeLast(b *registry.Backend) bool {
	if b.Override != nil && !b.Override.Healthy {
		return false
	}
	switch d.OnAllDown {
	case policy.All:
		return true
	case policy.LastHealthy:
		return b.MayServe || !b.LastHealthyAt.IsZero()
	}
	return false
}

// whyNot returns a clause that begins with ": " and explains why no backend serves or there is no backend. It contains
// the reasons of at most three backends. It returns "" if all backends may serve.
func whyNot(d Domain, backends []*registry.Backend) string {
	const shown = 3
	var reasons []string
	for _, b := range backends {
		if !b.MayServe {
			reasons = append(reasons, b.ID.String()+" is "+because(b))
		}
	}
	if len(backends) == 0 && d.Names {
		return ": its answers are names of targets, and no address of one is known"
	}
	if len(backends) == 0 {
		return ": it has no backend, configured or reported"
	}
	if len(reasons) == 0 {
		return ""
	}
	more := ""
	if n := len(reasons) - shown; n > 0 {
		reasons, more = reasons[:shown], fmt.Sprintf(" and %d more", n)
	}
	return ": " + strings.Join(reasons, ", ") + more
}

// because returns a short text about the status of a backend.
func because(b *registry.Backend) string {
	switch {
	case b.IsDrained():
		return "drained"
	case b.Override != nil:
		return fmt.Sprintf("called unhealthy by %s (%s)", b.Override.CreatedBy, b.Override.Reason)
	}
	return string(b.Status) + " (" + b.Reason + ")"
}

func describeUnwell(b *registry.Backend) (sentence, command string) {
	sentence = fmt.Sprintf("%s in %s is %s: %s", b.ID, b.Region, b.Status, b.Reason)
	if problem := b.Report().LastError; problem != "" {
		sentence += "; agent: " + problem
	}
	if b.OwnCheck.LastError != "" {
		sentence += "; own check: " + OwnCheck(b)
	}
	return sentence, "gslbctl backends list --service " + b.Service
}

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// agents returns the agents that keep accepts, ordered by id.
func (j *Judge) agents(keep func(*registry.AgentState) bool) (list []*registry.AgentState) {
	for a := range j.o.View.EachAgent() {
		if keep(a) {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b *registry.AgentState) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// walkAgents reports silent agents, agents with an expiring certificate, and locked tokens.
func (j *Judge) walkAgents(l *losses, to report) {
	for _, id := range slices.Sorted(maps.Keys(l.silent)) {
		a := l.silent[id]
		if l.refused[a.ID] || l.agents[a.ID].lost || l.foldsAgent(a.ID) {
			continue
		}
		to(api.AgentSilent, a.ID, func() (string, string) {
			return fmt.Sprintf("agent %s in %s was last seen %s", a.ID, a.Region, moment(a.LastSeen)),
				"gslbctl agents show " + a.ID
		})
	}
	for _, a := range listed(j.o.Agents) {
		if a.Revoked || a.ExpiresInHours > api.DefaultExpiringDays*24 {
			continue
		}
		to(api.CertificateEnds, a.AgentID, func() (string, string) {
			return fmt.Sprintf("the certificate of %s ends %s: renew and unpin it", a.AgentID, moment(a.NotAfter)),
				"gslbctl agents expiring"
		})
	}
	for _, l := range listed(j.o.Locks) {
		to(api.TokenLocked, l.Service, func() (string, string) {
			if !l.Closed {
				return l.Service + " has a locked previous token: remove it from overwatch.previous_agent_tokens",
					"gslbctl agents locks"
			}
			return fmt.Sprintf("%s takes no new agents since %s was revoked: change its token", l.Service, l.AgentID),
				"gslbctl agents unlock " + l.Service
		})
	}
}

// walkReplication reports why changes of operators do not reach all nodes.
func (j *Judge) walkReplication(to report) {
	for _, sentence := range listed(j.o.NotReplicated) {
		peer, _, of := strings.Cut(sentence, " takes no part in replication") // at most one sentence concerns no peer
		if !of {
			peer = ""
		}
		to(api.NotReplicated, peer, fixed(sentence, "gslbctl diff"))
	}
}

// walkNotifications reports targets that receive no notifications.
func (j *Judge) walkNotifications(to report) {
	if j.o.NotNotified == nil {
		return
	}
	for target, sentence := range j.o.NotNotified() {
		to(api.NotificationsFail, target, fixed(sentence, "gslbctl notifications list"))
	}
}
