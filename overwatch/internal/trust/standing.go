package trust

import (
	"net/netip"
	"sync"
	"sync/atomic"

	"gslb.internal/overwatch/internal/store"
	"gslb.internal/shared/identity"
)

// pinned is one pinned agent. Its id and certificate never change: another certificate makes another pinned.
type pinned struct {
	id          string
	certificate *identity.Certificate
	standing    atomic.Pointer[standing] // replaced, never edited

	mu     sync.Mutex
	window identity.Window // of this process; mu
	pin    store.Pin       // as stored; mu
}

// standing is what an agent may do at present.
type standing struct {
	region  string
	revoked bool
	grants  []grant // ordered by service; empty when revoked or unpinned
}

// grant is a service that the agent speaks for.
type grant struct {
	service string
	allowed []netip.Prefix // where its backends may be; empty: anywhere
}

func (s *standing) grant(service string) *grant {
	for i := range s.grants { // at most 16
		if s.grants[i].service == service {
			return &s.grants[i]
		}
	}
	return nil
}
