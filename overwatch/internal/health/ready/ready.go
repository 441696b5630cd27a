// Package ready is a node's judgement: whether it is ready itself, whether the
// service that it gives is healthy, whether an agent still reports. It holds no facts of its own
// but asks those who have them, and may be used from any goroutine.
package ready

import (
	"errors"
	"strings"
	"sync"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
)

// statusAge is how old a Status may be: judging it looks at every backend,
// and anybody may ask.
const statusAge = 500 * time.Millisecond

// Options is where the facts come from. Every field but KeysLost, KeysApart, StoreFailing and Now is required.
type Options struct {
	// DNSServing reports whether the DNS server listens and has answers.
	DNSServing func() bool
	// ChecksCycled reports whether the node's own health checks have all been
	// made once; always true where validation is off.
	ChecksCycled func() bool
	// Domains lists the names that the node steers.
	Domains func() []string
	View    *registry.View
	// KeysLost reports whether a zone's signing keys were lost, so that the
	// parent's DS record fits none; nil where nothing is signed.
	KeysLost func() bool
	// KeysApart reports whether this node may sign with other keys than the other
	// nodes, since it has no secret to exchange them by; nil where nothing is signed.
	KeysApart func() bool
	// StoreFailing reports whether nothing can be stored; nil where nothing is.
	StoreFailing func() bool
	Now          func() time.Time // nil is time.Now
}

// Judge answers for the node.
type Judge struct {
	o Options

	mu      sync.Mutex
	status  api.ServiceStatus
	message string
	until   time.Time // when status has to be judged again
}

// New returns a Judge; it fails when a fact has no source.
func New(o Options) (*Judge, error) {
	if o.DNSServing == nil || o.ChecksCycled == nil || o.Domains == nil || o.View == nil {
		return nil, errors.New("ready: an option is not set")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Judge{o: o}, nil
}

// Readiness tells whether the DNS server listens and one cycle of health
// checks has completed; both must hold.
func (j *Judge) Readiness() api.Readiness {
	r := api.Readiness{DNSReady: j.o.DNSServing(), HealthReady: j.o.ChecksCycled()}
	r.Ready = r.DNSReady && r.HealthReady
	var missing []string
	if !r.DNSReady {
		missing = append(missing, "the DNS server does not answer yet")
	}
	if !r.HealthReady {
		missing = append(missing, "no cycle of health checks has completed yet")
	}
	r.Message = strings.Join(missing, "; ")
	return r
}

// Status judges the service, at most statusAge ago:
//
//	unhealthy  the DNS server does not answer, or no domain has a backend that may serve
//	degraded   the node is not ready, has set its own verdicts aside, has lost a zone's signing keys or made
//	           one that it cannot exchange, or cannot store anything; a domain has no backend that may serve;
//	           or a backend of a domain is unhealthy or stale without an operator's order
//	healthy    none of these; also when no domain is configured
func (j *Judge) Status() api.ServiceStatus {
	status, _ := j.Judgement()
	return status
}

// Judgement is Status and, where that is not healthy, why: sentences of a
// closed set, which name nothing, since anybody may ask.
func (j *Judge) Judgement() (status api.ServiceStatus, message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if now := j.o.Now(); !now.Before(j.until) {
		j.status, j.message = j.judge()
		j.until = now.Add(statusAge)
	}
	return j.status, j.message
}

func (j *Judge) judge() (api.ServiceStatus, string) {
	ready := j.Readiness()
	if !ready.DNSReady {
		return api.ServiceUnhealthy, ready.Message
	}
	domains := j.o.Domains()
	down, unwell := 0, false
	for _, name := range domains {
		serving := false
		for _, b := range j.o.View.Service(name) {
			serving = serving || b.MayServe
			unwell = unwell || (b.Status != api.EffectiveHealthy && b.Override == nil)
		}
		if !serving {
			down++
		}
	}
	var complaints []string
	for _, c := range []struct {
		holds bool
		words string
	}{
		{j.o.KeysLost != nil && j.o.KeysLost(),
			"the signing keys of a zone are gone and new ones were made: the parent zone must get their DS record"},
		{j.o.KeysApart != nil && j.o.KeysApart(),
			"the nodes sign with different keys until overwatch.dnssec.key_sync.secret is set on all of them"},
		{j.o.StoreFailing != nil && j.o.StoreFailing(),
			"nothing can be stored: the disk of this node is full, failing or hangs"},
		{down > 0 && down == len(domains), "no domain has a backend that may serve"},
		{down > 0 && down < len(domains), "a domain has no backend that may serve"},
		{down == 0 && unwell, "a backend of a domain is unhealthy or stale"},
		{j.o.View.ValidationSuspended(),
			"this node seems to be cut off from most backends and has set its own verdicts aside"},
		{!ready.Ready, ready.Message},
	} {
		if c.holds {
			complaints = append(complaints, c.words)
		}
	}
	message := strings.Join(complaints, "; ")
	switch {
	case down > 0 && down == len(domains):
		return api.ServiceUnhealthy, message
	case message != "":
		return api.ServiceDegraded, message
	default:
		return api.ServiceHealthy, ""
	}
}
