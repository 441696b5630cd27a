package audit

import (
	"iter"

	"gslb.internal/shared/api"
)

// auditEntry is the next element of a sequence of audit entries: an entry or an error. more is false at the end.
type auditEntry struct {
	api.AuditEntry
	err  error
	more bool
}

// merge joins two sequences of entries, each ordered by time. An error ends the sequence.
func merge(a, b iter.Seq2[api.AuditEntry, error], ascending bool) iter.Seq2[api.AuditEntry, error] {
	return func(yield func(api.AuditEntry, error) bool) {
		nextA, stopA := iter.Pull2(a)
		defer stopA()
		nextB, stopB := iter.Pull2(b)
		defer stopB()
		take := func(next func() (api.AuditEntry, error, bool)) (e auditEntry) {
			e.AuditEntry, e.err, e.more = next()
			return e
		}
		first, second := take(nextA), take(nextB)
		for first.more || second.more {
			var now auditEntry
			if second.more && (!first.more || second.err != nil ||
				ascending == second.Timestamp.Before(first.Timestamp)) {
				now, second = second, take(nextB)
			} else {
				now, first = first, take(nextA)
			}
			if !yield(now.AuditEntry, now.err) || now.err != nil {
				return
			}
		}
	}
}
