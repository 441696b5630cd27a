package httpapi

import "gslb.internal/overwatch/internal/state/store"

// Kind is the kind of the objects that an operation changes. It determines whether the change reaches every node.
type Kind string

// The kinds of objects that operations change.
const (
	KindDomain     Kind = store.KindDomain
	KindRegion     Kind = store.KindRegion
	KindMapping    Kind = store.KindMapping
	KindRecord     Kind = store.KindRecord
	KindServer     Kind = store.KindServer
	KindOverride   Kind = store.KindOverride
	KindWeight     Kind = store.KindWeight
	KindDrain      Kind = store.KindDrain
	KindAgent      Kind = store.KindAgent
	KindSetting    Kind = store.KindSetting // a section that all nodes share, or an overlay
	KindRevocation Kind = store.KindRevocation
	KindLock       Kind = store.KindLock
	KindFailback   Kind = store.KindFailback
	KindToken      Kind = store.KindToken

	KindSeveral Kind = "several" // objects of several replicated kinds: a document, or an undo
	KindNode    Kind = "node"    // state that is not replicated, such as log settings, pins and keys
)

// Replicates reports whether the operation is a change that reaches every node.
func (o *Operation) Replicates() bool {
	return o.Changes == KindSeveral || store.Replicates(string(o.Changes))
}
