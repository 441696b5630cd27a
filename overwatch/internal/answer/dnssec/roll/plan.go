package roll

import "time"

// UpcomingStage is a stage that a node has not reached.
type UpcomingStage struct {
	Stage     Stage
	NotBefore time.Time // earliest time, if the other nodes and the parent follow immediately
	WaitsFor  string    // known reason for a later time; empty if missing
}

// Schedule returns the upcoming stages with their earliest times.
func Schedule(own *Progress, peers []Peer, ttl TTLs, now time.Time) (all []UpcomingStage) {
	began := own.allSince(peers)
	waits, _ := own.laggingPeer(peers)
	ttl = own.waitTTLs(peers, ttl)
	for at := *own; at.Stage < Done; at.Stage = at.nextStage(at.Stage) {
		next := UpcomingStage{Stage: at.nextStage(at.Stage), WaitsFor: waits}
		waits = ""
		if at.Stage == Offered {
			since := at.parentHas(peers)
			if since.IsZero() {
				next.WaitsFor, since = at.parentCondition(), now
			}
			began = latest(began, since)
		}
		began = latest(began.Add(at.stageDuration(ttl)+ttl.Margin), now)
		next.NotBefore = began
		all = append(all, next)
	}
	return all
}

// parentCondition describes the state that the parent must reach at Offered, for operators.
func (r *Roll) parentCondition() string {
	switch r.Goal {
	case ToUnsigned:
		return "the parent to have no DS record"
	case ToSigned:
		return "the parent to have the DS record"
	}
	return "the parent to have the new DS record and no other"
}

// Act is a manual step of an operator during a rollover.
type Act string

// The manual steps.
const (
	ReplaceDS Act = "replace_ds" // replace all DS records at the parent by the DS record of the new key
	RemoveDS  Act = "remove_ds"  // remove all DS records from the parent
	RemoveKey Act = "remove_key" // remove the files of the old keys from the nodes
	Cancel    Act = "cancel"     // cancel the rollover
)

// Advice states whether a manual step is safe now.
type Advice struct {
	Act    Act
	Safe   bool
	Until  time.Time // earliest safe time; zero if it depends on other nodes or the parent
	Reason string    // consequence of the step now
}

// Advise returns the available manual steps.
func Advise(own *Progress, peers []Peer, ttl TTLs, now time.Time) []Advice {
	if own.Goal != ToKey {
		return adviseTransition(own, peers, ttl, now)
	}
	if own.Stage >= Done {
		return nil
	}
	replace := Advice{Act: ReplaceDS, Safe: own.Stage >= Offered}
	remove := Advice{Act: RemoveKey}
	known := true // the times of the stages are known
	for _, c := range Schedule(own, peers, ttl, now) {
		if known = known && c.WaitsFor == ""; !known {
			break
		}
		if c.Stage == Offered {
			replace.Until = c.NotBefore
		}
		if c.Stage == Done {
			remove.Until = c.NotBefore
		}
	}
	if !replace.Safe {
		replace.Reason = "resolvers that hold DNSKEY records without the new key find none that the new DS record is of"
	}
	remove.Reason = "resolvers that cache old signatures, or DNSKEY records with only the old keys, reject answers"
	if own.Stage < Alone {
		remove.Reason = "resolvers that hold the DS record of an old key find no key that it is of"
	}
	return []Advice{replace, remove, {Act: Cancel, Safe: true}}
}

// Risk returns the consequence, as a sentence, of continuing while an unreachable node still answers resolvers.
func (r *Roll) Risk() string {
	switch r.Goal {
	case ToUnsigned:
		return "if it answers resolvers, it offers its keys to the parent: once the parent has a DS record again, " +
			"resolvers refuse the unsigned answers of all other nodes, until that record is taken out and its TTL is over"
	case ToSigned:
		return "if it answers resolvers, it does so unsigned: once the parent has the DS record, resolvers refuse its " +
			"answers, until it has contacted the other nodes"
	}
	return "if it answers resolvers, it may do so with the old key alone: those that know the new DS record or the new " +
		"key refuse its answers, until it has contacted the other nodes"
}

// adviseTransition is Advise during a signing transition and for an unsigned zone.
func adviseTransition(own *Progress, peers []Peer, ttl TTLs, now time.Time) []Advice {
	replace := Advice{Act: ReplaceDS, Safe: own.Goal == ToSigned && own.Stage >= Offered}
	switch {
	case own.Goal == ToSigned && own.Stage == Done:
		return nil
	case own.Goal == ToSigned && !replace.Safe:
		replace.Reason = "resolvers that hold unsigned answers refuse them below a DS record"
		if c := Schedule(own, peers, ttl, now)[0]; c.WaitsFor == "" {
			replace.Until = c.NotBefore
		}
	case own.Goal == ToUnsigned:
		replace.Reason = "the nodes are about to answer unsigned, and resolvers refuse that below a DS record"
		if own.Stage >= Alone {
			replace.Reason = "the zone is not signed, and resolvers refuse that below a DS record: sign it first"
		}
	}
	all := []Advice{replace}
	if own.Goal == ToUnsigned && own.Stage < Alone {
		all = append(all, Advice{Act: RemoveDS, Safe: true})
	}
	if own.Stage < Done {
		all = append(all, Advice{Act: Cancel, Safe: true})
	}
	return all
}
