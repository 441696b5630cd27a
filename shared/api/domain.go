package api

import (
	"time"

	"gslb.internal/shared/model"
)

// Domain is a load-balanced name with its settings. TTL is the TTL that DNS answers have.
type Domain struct {
	ID string `json:"id"` // the name
	model.Domain
	// RoutingPolicy equals RoutingAlgorithm.
	RoutingPolicy string `json:"routing_policy"`
	// HealthCheckID is the id of the first server of the domain that the node checks. Each server has its own check, at
	// /servers/{id}/health-check. Empty: the node checks none.
	HealthCheckID string `json:"health_check_id"`
	// DNSSECEnabled reports whether answers are signed.
	DNSSECEnabled bool `json:"dnssec_enabled"`
	// ActiveRegions are the regions in the answers of a domain with a failback setting, on this node.
	ActiveRegions []string `json:"active_regions,omitempty"`
	// PendingFailbacks are the regions that were down and whose clients stay in other regions.
	PendingFailbacks []PendingFailback `json:"pending_failbacks,omitempty"`
	BackendCount     int               `json:"backend_count"`
	HealthyBackends  int               `json:"healthy_backends"`
	// ServingBackends is the number of backends that may serve now, without drained ones. RequiredBackends is the number
	// that min_healthy requires.
	ServingBackends  int          `json:"serving_backends"`
	RequiredBackends int          `json:"required_backends"`
	AnswerStatus     AnswerStatus `json:"answer_status"`
	Source           string       `json:"source"`            // config or api
	Overlay          *Overlay     `json:"overlay,omitempty"` // API values over a domain of the configuration
	// Settings are set in the detail view only.
	Settings *DomainSettings `json:"settings,omitempty"`
}

// AnswerStatus is the kind of answers that a domain gives now.
type AnswerStatus string

// The values of AnswerStatus.
const (
	AnswersNormal   AnswerStatus = "normal"   // at least the required number of backends may serve
	AnswersFallback AnswerStatus = "fallback" // fewer backends may serve: the fallback answer of on_all_down
	AnswersNone     AnswerStatus = "none"     // fewer backends may serve, and there is no fallback answer: SERVFAIL
	AnswersOff      AnswerStatus = "disabled" // the domain is disabled
)

// DomainSettings are the routing details of a domain.
type DomainSettings struct {
	GeoRoutingEnabled   bool   `json:"geo_routing_enabled"`
	FailoverEnabled     bool   `json:"failover_enabled"`
	FailoverThreshold   int    `json:"failover_threshold"`
	LoadBalancingMethod string `json:"load_balancing_method"`
}

// DomainList is the answer of GET /api/v1/domains.
type DomainList struct {
	Domains     []Domain  `json:"domains"`
	Total       int       `json:"total"`
	GeneratedAt time.Time `json:"generated_at"`
}

// DomainDetail is the answer of GET /api/v1/domains/{name}.
type DomainDetail struct {
	Domain Domain `json:"domain"`
}

// DomainBackend is a backend of a domain; ID is "<domain>:<address>:<port>".
type DomainBackend struct {
	ID        string     `json:"id"`
	Address   string     `json:"address"`
	Port      int        `json:"port"`
	Weight    int        `json:"weight"`   // declared
	Priority  int        `json:"priority"` // position of its region in the order of the domain, from 1
	Region    string     `json:"region"`
	Healthy   bool       `json:"healthy"`
	Enabled   bool       `json:"enabled"`    // receives traffic when healthy: a weight above 0 and no drain
	LastCheck *time.Time `json:"last_check"` // null: never checked
	// WeightOverride is the weight of an operator, which replaces Weight; null: none.
	WeightOverride *ActiveWeight `json:"weight_override"`
}

// DomainBackendList is the answer of GET /api/v1/domains/{name}/backends.
type DomainBackendList struct {
	Backends    []DomainBackend `json:"backends"`
	Total       int             `json:"total"`
	GeneratedAt time.Time       `json:"generated_at"`
}

// DomainChange is the body of POST /api/v1/domains, which needs a name, and of PUT and PATCH /api/v1/domains/{name}: a
// merge patch. Fields that it omits keep their values; null resets a field to its default.
type DomainChange = model.Patch[model.Domain]

// Reload is the answer of POST /api/v1/config/reload.
type Reload struct {
	Reloaded bool `json:"reloaded"`
	// changed keys now in effect, and the directory of changed signing keys
	Changes         []string `json:"changes"`
	RestartRequired []string `json:"restart_required"` // changed keys and files that wait for a restart
}

// GossipKey is the answer of POST /api/v1/gossip/generate-key.
type GossipKey struct {
	Key       string `json:"key"` // base64
	Algorithm string `json:"algorithm"`
	Bits      int    `json:"bits"`
}
