package hints

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/check"
	"gslb.internal/shared/tokenbucket"
)

// errNoSecret is the error of a node without a secret for peer authentication.
var errNoSecret = errors.New("overwatch.dnssec.key_sync.secret is not set on this node")

// Challenge returns the value of WWW-Authenticate for a peer.
func (e *Exchange) Challenge() string { return e.server.Challenge() }

// Answer receives a hint of a peer that its Authorization authenticates, starts checks of the backends, and returns the
// votes of this node, sealed. where is the path with the query of the request, and backends the parameter of the query.
// The error contains no secret and may be in the response.
func (e *Exchange) Answer(where, backends, authorization string) (sealed string, err error) {
	settings := e.settings.Get()
	if len(settings.Secret) == 0 {
		return "", errNoSecret
	}
	client, err := e.server.Authenticate([][]byte{settings.Secret}, where, authorization)
	if err != nil {
		return "", err
	}
	ids, err := parseBackends(backends)
	if err != nil {
		return "", err
	}
	for _, id := range e.accept(client.Node(), ids, time.Now()) {
		e.o.Check(id)
	}
	plain, err := json.Marshal(e.answerTo(ids, settings.Checks, time.Now()))
	if err != nil {
		return "", err
	}
	return client.Seal(plain)
}

// parseBackends parses the backends of a request.
func parseBackends(text string) (ids []registry.ID, err error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("backends has %d octets: at most %d are allowed", len(text), maxText)
	}
	if strings.Count(text, separator) >= maxBackends {
		return nil, fmt.Errorf("backends has more than %d entries", maxBackends)
	}
	for part := range strings.SplitSeq(text, separator) {
		if part == "" {
			continue
		}
		id, err := registry.ParseID(part)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// accept counts received hints and returns the backends to check. It drops hints of this node itself, about unknown
// backends, about backends whose own check already fails, within hintGap after an earlier hint, and above the rates. A
// dropped hint spends no token.
func (e *Exchange) accept(node string, ids []registry.ID, now time.Time) (accepted []registry.ID) {
	e.metrics.received.Add(float64(len(ids)))
	e.mu.Lock()
	defer e.mu.Unlock()
	var bucket *tokenbucket.Bucket
	if node != e.o.NodeID {
		bucket = e.received.Bucket(node, nodeLimit(), now)
	}
	for _, id := range ids {
		if bucket == nil || !bucket.HasToken(now) || !e.total.HasToken(now) || !e.needsCheck(id) ||
			!e.noteRecent(id, now) {
			e.metrics.dropped.Inc()
			continue
		}
		bucket.Spend(now, 1)
		e.total.Spend(now, 1)
		accepted = append(accepted, id)
	}
	return accepted
}

// needsCheck reports whether a backend is known and its last own check has not failed. Checks of a failing backend
// follow soon, and a hint must not shorten the time until the threshold.
func (e *Exchange) needsCheck(id registry.ID) bool {
	b := e.o.Backend(id)
	return b != nil && b.OwnCheck.Failures == 0 && b.OwnCheck.State != check.StateUnhealthy
}

// noteRecent stores the time of a hint about a backend. It returns false within hintGap after an earlier hint, and if
// maxRecent backends are stored. The caller holds mu.
func (e *Exchange) noteRecent(id registry.ID, now time.Time) bool {
	if last, found := e.recent[id]; found && now.Sub(last) < hintGap {
		return false
	}
	if len(e.recent) >= maxRecent {
		for other, last := range e.recent {
			if now.Sub(last) >= hintGap {
				delete(e.recent, other)
			}
		}
	}
	if len(e.recent) >= maxRecent {
		return false
	}
	e.recent[id] = now
	return true
}
