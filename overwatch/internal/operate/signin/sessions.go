package signin

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"sync"
	"time"

	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// Limits of sessions. A new session replaces the oldest session.
const (
	maxSessions  = 1000
	maxPerPerson = 8
)

const idSize = 32 // bytes of random ids

// Session is the session of a person. It is immutable.
type Session struct {
	Person string // name in the audit log
	Role   api.Role
	Scope  *model.TokenScope
	Begins time.Time
	Ends   time.Time

	subject string // of the provider
}

// sessions has the current sessions by the hash of their id. It is safe for concurrent use.
type sessions struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]*Session
}

// add adds a session and returns its id. It removes expired sessions, and the oldest sessions above the limits.
func (s *sessions) add(made *Session) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.all, func(_ [sha256.Size]byte, old *Session) bool { return !made.Begins.Before(old.Ends) })
	s.shrink(maxPerPerson, func(old *Session) bool { return old.subject == made.subject })
	s.shrink(maxSessions, func(*Session) bool { return true })
	id = newID()
	s.all[sha256.Sum256([]byte(id))] = made
	return id
}

// shrink removes the oldest of the selected sessions, so that less than most of them are left.
func (s *sessions) shrink(most int, selects func(*Session) bool) {
	for {
		var oldest [sha256.Size]byte
		n := 0
		for hash, one := range s.all {
			if !selects(one) {
				continue
			}
			if n++; n == 1 || one.Begins.Before(s.all[oldest].Begins) {
				oldest = hash
			}
		}
		if n < most {
			return
		}
		delete(s.all, oldest)
	}
}

// get returns the session with an id, or nil if it has expired or ended.
func (s *sessions) get(id string, now time.Time) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.all[sha256.Sum256([]byte(id))]
	if found == nil || !now.Before(found.Ends) {
		return nil
	}
	return found
}

// end removes a session.
func (s *sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, sha256.Sum256([]byte(id)))
}

// newID returns a random id.
func newID() string {
	var id [idSize]byte
	_, _ = rand.Read(id[:]) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(id[:])
}
