package api

import (
	"context"
	"time"
)

// Severity is the severity of a condition.
type Severity string

// The severities. With attention, the service is still healthy.
const (
	SeverityAttention Severity = "attention"
	SeverityDegraded  Severity = "degraded"
	SeverityUnhealthy Severity = "unhealthy"
)

// ConditionKind is the kind of a condition.
type ConditionKind string

// ConditionType has the common properties of all conditions of a kind.
type ConditionType struct {
	Kind     ConditionKind
	Severity Severity
	Public   string // the sentence in GET /api/health, without domains and nodes; empty for attention
	Alert    string // the alert of gslb-alerts.yaml for this condition, or ""
}

// The kinds.
const (
	DNSSilent         ConditionKind = "dns_silent"
	SigningKeysLost   ConditionKind = "signing_keys_lost"
	SigningKeysApart  ConditionKind = "signing_keys_apart"
	SigningFails      ConditionKind = "signing_fails"
	SignaturesEnd     ConditionKind = "signatures_end"
	SigningMismatch   ConditionKind = "signing_mismatch"
	StoreFails        ConditionKind = "store_fails"
	NoNameAnswered    ConditionKind = "no_name_answered"
	NameUnanswered    ConditionKind = "name_unanswered"
	NameOnLastResort  ConditionKind = "name_on_last_resort"
	RegionLost        ConditionKind = "region_lost"
	AgentLost         ConditionKind = "agent_lost"
	BackendUnwell     ConditionKind = "backend_unwell"
	Flapping          ConditionKind = "flapping"
	DegradedShare     ConditionKind = "degraded_share"
	AgentsHeld        ConditionKind = "agents_held"
	VerdictsSetAside  ConditionKind = "verdicts_set_aside"
	ChecksIncomplete  ConditionKind = "checks_incomplete"
	OverrideInForce   ConditionKind = "override_in_force"
	WeightInForce     ConditionKind = "weight_in_force"
	DrainInForce      ConditionKind = "drain_in_force"
	AgentSilent       ConditionKind = "agent_silent"
	CertificateEnds   ConditionKind = "certificate_ends"
	TokenLocked       ConditionKind = "token_locked"
	KeysNotExchanged  ConditionKind = "keys_not_exchanged"
	NotReplicated     ConditionKind = "not_replicated"
	RegionEmpty       ConditionKind = "region_empty"
	RegionUnknown     ConditionKind = "region_unknown"
	FailbackPending   ConditionKind = "failback_pending"
	NodeUnheard       ConditionKind = "node_unheard"
	NodeIDShared      ConditionKind = "node_id_shared"
	NoAgreement       ConditionKind = "no_agreement"
	TLSEnds           ConditionKind = "tls_ends"
	KeyRollWaits      ConditionKind = "key_roll_waits"
	NotificationsFail ConditionKind = "notifications_fail"
	AgentDuplicate    ConditionKind = "agent_duplicate"
	AgentRefused      ConditionKind = "agent_refused"
	BackendRefused    ConditionKind = "backend_refused"
	ConfigInvalid     ConditionKind = "config_invalid"
	DatabaseUnusable  ConditionKind = "geo_database_unusable"
	QueryLogFails     ConditionKind = "query_log_fails"
	NodeRejected      ConditionKind = "node_rejected"
)

// ConditionTypes returns the table of all kinds, in the order of lists. The health record of a node, gslbctl status and
// the alerts use it.
func ConditionTypes() []ConditionType {
	return []ConditionType{
		{DNSSilent, SeverityUnhealthy, "the DNS server does not answer yet", "GslbOverwatchNotReady"},
		{SigningKeysLost, SeverityDegraded,
			"the signing keys of a zone are gone and new ones were made: the parent zone must get their DS record",
			"GslbSigningKeysLost"},
		{SigningKeysApart, SeverityDegraded,
			"the nodes sign with different keys until overwatch.dnssec.key_sync.secret is set on all of them",
			"GslbKeyExchangeOff"},
		{SigningFails, SeverityDegraded, "answers could not be signed lately: they are SERVFAIL", "GslbSigningFails"},
		{SignaturesEnd, SeverityDegraded, "signatures of a zone could not be made again in time and will end",
			"GslbSignaturesEnd"},
		{SigningMismatch, SeverityDegraded,
			"answers of a zone do not validate with key or DS records that resolvers may have cached", "GslbSigningMismatch"},
		{StoreFails, SeverityDegraded, "nothing can be stored: the disk of this node is full, failing or hangs",
			"GslbStoreFailing"},
		{NoNameAnswered, SeverityUnhealthy, "no domain has a backend that may serve", "GslbDomainDown"},
		{NameUnanswered, SeverityDegraded, "a domain has fewer backends that may serve than it needs", "GslbDomainDown"},
		{NameOnLastResort, SeverityDegraded, "a domain is answered by its last resort", "GslbDomainDown"},
		{RegionLost, SeverityDegraded, "no backend of a region may serve", "GslbRegionLost"},
		{AgentLost, SeverityDegraded, "an agent is silent: its backends depend on this node's own checks", "GslbAgentsLost"},
		{BackendUnwell, SeverityDegraded, "a backend of a domain is unhealthy or stale", ""},
		{Flapping, SeverityDegraded, "a backend of a domain stops and starts serving repeatedly", "GslbBackendFlaps"},
		{DegradedShare, SeverityDegraded, "a backend of a domain serves with a reduced share, since its agent warns",
			"GslbShareReduced"},
		{AgentsHeld, SeverityDegraded,
			"agents call too many backends unhealthy at once, own checks succeed: the backends are served",
			"GslbAgentsHeld"},
		{AgentDuplicate, SeverityDegraded, "two agents use the same identity, so some of their backends are not served",
			"GslbAgentDuplicate"},
		{VerdictsSetAside, SeverityDegraded,
			"this node seems to be cut off from most backends and has set its own verdicts aside", "GslbValidationSuspended"},
		{ChecksIncomplete, SeverityDegraded, "no cycle of health checks has completed yet", "GslbOverwatchNotReady"},
		{OverrideInForce, SeverityAttention, "", ""},
		{WeightInForce, SeverityAttention, "", ""},
		{DrainInForce, SeverityAttention, "", ""},
		{FailbackPending, SeverityAttention, "", ""},
		{RegionEmpty, SeverityAttention, "", ""},
		{RegionUnknown, SeverityAttention, "", ""},
		{NodeRejected, SeverityAttention, "", "GslbNodeRejected"},
		{AgentRefused, SeverityAttention, "", "GslbAgentsRefused"},
		{BackendRefused, SeverityAttention, "", "GslbClaimsRefused"},
		{AgentSilent, SeverityAttention, "", "GslbAgentsLost"},
		{NodeUnheard, SeverityAttention, "", "GslbNodeUnheard"},
		{NodeIDShared, SeverityAttention, "", "GslbNodeIDShared"},
		{NoAgreement, SeverityAttention, "", "GslbNoAgreement"},
		{KeysNotExchanged, SeverityAttention, "", "GslbKeysNotExchanged"},
		{NotReplicated, SeverityAttention, "", "GslbNotReplicated"},
		{ConfigInvalid, SeverityAttention, "", "GslbConfigInvalid"},
		{DatabaseUnusable, SeverityAttention, "", "GslbGeoDatabaseUnusable"},
		{QueryLogFails, SeverityAttention, "", ""},
		{NotificationsFail, SeverityAttention, "", "GslbNotificationsFail"},
		{KeyRollWaits, SeverityAttention, "", "GslbKeyRollWaits"},
		{TLSEnds, SeverityAttention, "", "GslbTLSEnds"},
		{CertificateEnds, SeverityAttention, "", "GslbAgentCertificatesExpire"},
		{TokenLocked, SeverityAttention, "", ""},
	}
}

// TypeOf returns the table entry of a kind, or the zero value for an unknown kind.
func (k ConditionKind) TypeOf() ConditionType {
	for _, t := range ConditionTypes() {
		if t.Kind == k {
			return t
		}
	}
	return ConditionType{}
}

// Condition is a current problem of a node that may require an operator.
type Condition struct {
	Kind     ConditionKind `json:"kind"`
	Severity Severity      `json:"severity"`
	Subject  string        `json:"subject"` // the affected object, such as a backend; empty: the node
	Sentence string        `json:"sentence"`
	Command  string        `json:"command"` // gslbctl command that shows or resolves the condition
	// State is the state of its event if the kind has several. Folded reports that another condition includes this
	// condition. Both fields are for events only.
	State  string `json:"-"`
	Folded bool   `json:"-"`
}

// ConditionList is the answer of GET /api/v1/overwatch/conditions.
type ConditionList struct {
	Status      ServiceStatus `json:"status"` // as in /api/health
	Conditions  []Condition   `json:"conditions"`
	Total       int           `json:"total"`
	GeneratedAt time.Time     `json:"generated_at"`
}

// Conditions lists the conditions of a node, the worst first.
func (c *Client) Conditions(ctx context.Context) (ConditionList, error) {
	return get[ConditionList](ctx, c, "/api/v1/overwatch/conditions", nil)
}
