package roll

import "time"

// Coming is a stage that a node has not come to.
type Coming struct {
	Stage     Stage
	NotBefore time.Time // if the other nodes and the parent do their part at once
	WaitsFor  string    // reason, known now, for a delay beyond that time; empty: none
}

// Schedule lists the stages to come, each with the earliest time at which it can.
func Schedule(own *Progress, peers []Peer, ttl TTLs, now time.Time) (all []Coming) {
	began := own.allSince(peers)
	waits, _ := own.behind(peers)
	ttl = own.waits(peers, ttl)
	for at := *own; at.Stage < Done; at.Stage = at.after(at.Stage) {
		next := Coming{Stage: at.after(at.Stage), WaitsFor: waits}
		waits = ""
		if at.Stage == Offered {
			since := at.parentHas(peers)
			if since.IsZero() {
				next.WaitsFor, since = at.asksFor(), now
			}
			began = latest(began, since)
		}
		began = latest(began.Add(at.hold(ttl)+ttl.Margin), now)
		next.NotBefore = began
		all = append(all, next)
	}
	return all
}

// asksFor returns the state that the parent is to come to at Offered, for people.
func (r *Roll) asksFor() string {
	switch r.Way {
	case ToUnsigned:
		return "the parent to have no DS record"
	case ToSigned:
		return "the parent to have the DS record"
	}
	return "the parent to have the new DS record and no other"
}

// Act is a step that an operator may take by hand while a key changes.
type Act string

// The acts.
const (
	ReplaceDS Act = "replace_ds" // give the parent the new key's DS record in place of all others
	RemoveDS  Act = "remove_ds"  // take all DS records out of the parent
	RemoveKey Act = "remove_key" // take the files of the old keys off the nodes
	Cancel    Act = "cancel"     // take the roll back
)

// Advice says whether an act breaks anything now.
type Advice struct {
	Act    Act
	Safe   bool
	Until  time.Time // earliest time at which it is safe; zero: that depends on other nodes or on the parent
	Reason string    // consequence, if it is done now
}

// Advise returns the acts to choose from now, each with whether it is safe.
func Advise(own *Progress, peers []Peer, ttl TTLs, now time.Time) []Advice {
	if own.Way != ToKey {
		return adviseWay(own, peers, ttl, now)
	}
	if own.Stage >= Done {
		return nil
	}
	replace := Advice{Act: ReplaceDS, Safe: own.Stage >= Offered}
	remove := Advice{Act: RemoveKey}
	known := true // of when a stage comes
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
	remove.Reason = "resolvers that hold what the old keys have signed, or DNSKEY records with them alone, refuse answers"
	if own.Stage < Alone {
		remove.Reason = "resolvers that hold the DS record of an old key find no key that it is of"
	}
	return []Advice{replace, remove, {Act: Cancel, Safe: true}}
}

// Risk returns the consequence, as a sentence, if the next stage comes while a node that is not heard of answers
// resolvers.
func (r *Roll) Risk() string {
	switch r.Way {
	case ToUnsigned:
		return "if it answers resolvers, it offers its keys to the parent: once the parent has a DS record again, " +
			"resolvers refuse the unsigned answers of all other nodes, until that record is taken out and its TTL is over"
	case ToSigned:
		return "if it answers resolvers, it does so unsigned: once the parent has the DS record, resolvers refuse its " +
			"answers, until it has heard of the other nodes"
	}
	return "if it answers resolvers, it may do so with the old key alone: those that know the new DS record or the new " +
		"key refuse its answers, until it has heard of the other nodes"
}

// adviseWay is Advise while a zone comes to be signed or unsigned, and as long as it is not signed.
func adviseWay(own *Progress, peers []Peer, ttl TTLs, now time.Time) []Advice {
	replace := Advice{Act: ReplaceDS, Safe: own.Way == ToSigned && own.Stage >= Offered}
	switch {
	case own.Way == ToSigned && own.Stage == Done:
		return nil
	case own.Way == ToSigned && !replace.Safe:
		replace.Reason = "resolvers that hold unsigned answers refuse them below a DS record"
		if c := Schedule(own, peers, ttl, now)[0]; c.WaitsFor == "" {
			replace.Until = c.NotBefore
		}
	case own.Way == ToUnsigned:
		replace.Reason = "the nodes are about to answer unsigned, and resolvers refuse that below a DS record"
		if own.Stage >= Alone {
			replace.Reason = "the zone is not signed, and resolvers refuse that below a DS record: sign it first"
		}
	}
	all := []Advice{replace}
	if own.Way == ToUnsigned && own.Stage < Alone {
		all = append(all, Advice{Act: RemoveDS, Safe: true})
	}
	if own.Stage < Done {
		all = append(all, Advice{Act: Cancel, Safe: true})
	}
	return all
}
