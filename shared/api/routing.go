package api

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// RoutingTestRequest is the body of POST /api/v1/routing/test.
type RoutingTestRequest struct {
	Domain   string `json:"domain"`
	ClientIP string `json:"client_ip,omitempty"` // of the querying resolver
	// Place is the position of the client, instead of ClientIP: the answer is for a nearby network of the database.
	Place     *Place       `json:"place,omitempty"`
	QueryType string       `json:"query_type"` // A, AAAA, HTTPS or SRV; "" is A
	EDNS      *RoutingEDNS `json:"edns,omitempty"`
}

// Place is a point on the earth.
type Place struct {
	Latitude  float64 `json:"latitude"`  // degrees, north is positive
	Longitude float64 `json:"longitude"` // degrees, east is positive
}

// RoutingNearby is the network near a requested place.
type RoutingNearby struct {
	Place
	Network    string  `json:"network"`
	Kilometres float64 `json:"kilometres"` // from the requested place
}

// RoutingEDNS are the EDNS options of the tested query.
type RoutingEDNS struct {
	ClientSubnet string `json:"client_subnet"` // a network such as 203.0.113.0/24, or ""
}

// RoutingTest is the answer of POST /api/v1/routing/test.
type RoutingTest struct {
	Result RoutingResult `json:"result"`
}

// RoutingResult is an answer and its explanation.
type RoutingResult struct {
	Domain    string `json:"domain"`
	QueryType string `json:"query_type"`
	ClientIP  string `json:"client_ip"`
	// Nearby is the network of ClientIP for a request with a place; else null.
	Nearby        *RoutingNearby `json:"nearby"`
	ClientSubnet  string         `json:"client_subnet"` // network of the used location, if not client_ip; or ""
	ClientCountry string         `json:"client_country"`
	ClientRegion  string         `json:"client_region"`
	// LocatedBy is custom_mapping, database or default. If the client location is unknown, it is ecs or resolver, the
	// source of the client address.
	LocatedBy string `json:"located_by"`
	Algorithm string `json:"algorithm"` // "" for a name that is not load-balanced

	SelectedBackend *RoutingBackend   `json:"selected_backend"` // null where no backend answers
	Alternatives    []RoutingBackend  `json:"alternatives"`     // backends of later or earlier answers in the rotation
	Excluded        []RoutingExcluded `json:"excluded"`
	Factors         []RoutingFactor   `json:"factors"`
	WouldBe         []RoutingWouldBe  `json:"would_be"` // other answers if a backend that is down were up

	Decision RoutingDecisionKind `json:"decision"`
	Answer   []string            `json:"answer"` // the records, in zone-file form
	// leading bits of the client's address that the answer depends on
	ECSScope   int       `json:"ecs_scope"`
	TTL        int       `json:"ttl"`              // seconds
	TimeMicros float64   `json:"decision_time_us"` // finding the answer
	Generation uint64    `json:"snapshot_generation"`
	Timestamp  time.Time `json:"timestamp"`
}

// RoutingDecisionKind is the reason of a decision in one word.
type RoutingDecisionKind string

// The decisions.
const (
	RoutingSuccess   RoutingDecisionKind = "success"
	RoutingFailover  RoutingDecisionKind = "failover"           // a region other than the first, or than the client's
	RoutingFallback  RoutingDecisionKind = "fallback"           // on_all_down, with fewer backends than min_healthy
	RoutingNoData    RoutingDecisionKind = "no_data"            // no address of that family
	RoutingNoBackend RoutingDecisionKind = "no_healthy_backend" // SERVFAIL
	RoutingNotFound  RoutingDecisionKind = "domain_not_found"
	RoutingOwnAnswer RoutingDecisionKind = "not_steered" // the name has static records
)

// RoutingDecisionKinds lists the vocabulary in the order it is documented.
func RoutingDecisionKinds() []RoutingDecisionKind {
	return []RoutingDecisionKind{RoutingSuccess, RoutingFailover, RoutingFallback, RoutingNoData, RoutingNoBackend,
		RoutingNotFound, RoutingOwnAnswer}
}

// RoutingBackend is a backend in the answer.
type RoutingBackend struct {
	Address  string  `json:"address"`
	Port     int     `json:"port"`
	Region   string  `json:"region"`
	Weight   int     `json:"weight"`
	Priority int     `json:"priority"` // position of its region in the order of the domain, from 1
	Healthy  bool    `json:"healthy"`
	Share    float64 `json:"share"` // share of the answers to this client with its address first
}

// RoutingExcluded is a backend outside the answer, with the reason.
type RoutingExcluded struct {
	Address string `json:"address"`
	Port    int    `json:"port"`
	Region  string `json:"region"`
	Reason  string `json:"reason"`
}

// RoutingFactor is an influence on a decision.
type RoutingFactor struct {
	Name   string `json:"name"`
	Type   string `json:"type"` // geo, health, weight, latency, priority, override or drain
	Value  string `json:"value"`
	Impact string `json:"impact"`
}

// RoutingWouldBe is the answer if an excluded backend could serve.
type RoutingWouldBe struct {
	IfUp     string              `json:"if_up"` // address and port; "all" for all that may not serve
	Decision RoutingDecisionKind `json:"decision"`
	Region   string              `json:"region"` // the region of the answer, if the algorithm chooses a region
	Answers  []RoutingShare      `json:"answers"`
}

// RoutingShare is the share of answers with an address or a target name.
type RoutingShare struct {
	Address string  `json:"address"`
	Share   float64 `json:"share"`
}

// RoutingAnswerList is the answer of GET /api/v1/routing/answers: the answers of a domain for all
// clients.
type RoutingAnswerList struct {
	Domain      string          `json:"domain"`
	QueryType   string          `json:"query_type"`
	Answers     []RoutingAnswer `json:"answers"` // each client gets one of these answers
	Total       int             `json:"total"`
	Generation  uint64          `json:"snapshot_generation"`
	GeneratedAt time.Time       `json:"generated_at"`
}

// RoutingAnswer is the answer for clients in one region. With proximity, clients in one region can
// get different answers.
type RoutingAnswer struct {
	ClientRegion string              `json:"client_region"` // "" for clients without a region
	Everybody    bool                `json:"everybody"`     // clients in all regions
	Decision     RoutingDecisionKind `json:"decision"`
	Algorithm    string              `json:"algorithm"`
	TTL          int                 `json:"ttl"` // seconds
	Addresses    []RoutingShare      `json:"addresses"`
}

// RoutingAlgorithm is an algorithm that chooses among backends.
type RoutingAlgorithm struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	// static: by configuration and health; geo: by client location; measured: by latency
	Type       string            `json:"type"`
	Parameters map[string]string `json:"parameters"` // keys of a domain and their meaning
	Enabled    bool              `json:"enabled"`
	Default    bool              `json:"default"`
}

// RoutingAlgorithmList is the answer of GET /api/v1/routing/algorithms.
type RoutingAlgorithmList struct {
	Algorithms  []RoutingAlgorithm `json:"algorithms"`
	Total       int                `json:"total"`
	GeneratedAt time.Time          `json:"generated_at"`
}

// RoutingAlgorithmDetail is the answer of GET /api/v1/routing/algorithms/{id}.
type RoutingAlgorithmDetail struct {
	Algorithm RoutingAlgorithm `json:"algorithm"`
}

// RoutingDecision is a decision for an answer that the node sent.
type RoutingDecision struct {
	ID             string              `json:"id"`
	Timestamp      time.Time           `json:"timestamp"`
	Domain         string              `json:"domain"`
	QueryType      string              `json:"query_type"`
	ClientSubnet   string              `json:"client_subnet"` // /24 or /48
	ClientRegion   string              `json:"client_region"`
	Algorithm      string              `json:"algorithm"`
	SelectedServer string              `json:"selected_server"` // address and port, or ""
	SelectedRegion string              `json:"selected_region"`
	Outcome        RoutingDecisionKind `json:"outcome"`
	Generation     uint64              `json:"snapshot_generation"`
}

// RoutingDecisionList is the answer of GET /api/v1/routing/decisions, the latest first.
type RoutingDecisionList struct {
	Decisions   []RoutingDecision `json:"decisions"`
	Total       int               `json:"total"`
	Limit       int               `json:"limit"`
	Offset      int               `json:"offset"`
	GeneratedAt time.Time         `json:"generated_at"`
}

// RoutingFlow is the number of answers for one domain that sent clients of one region to another region.
type RoutingFlow struct {
	SourceRegion      string    `json:"source_region"`      // of the clients, or ""
	DestinationRegion string    `json:"destination_region"` // of the backends, or ""
	Domain            string    `json:"domain"`             // "" for all domains beyond the node's limit
	RequestCount      uint64    `json:"request_count"`
	Share             float64   `json:"share"`     // of all counted answers
	Timestamp         time.Time `json:"timestamp"` // of the latest answer, to about five seconds
}

// RoutingFlowList is the answer of GET /api/v1/routing/flows, the largest first.
type RoutingFlowList struct {
	Flows       []RoutingFlow `json:"flows"`
	Total       int           `json:"total"`
	Uncounted   uint64        `json:"uncounted"` // answers above the sampling rate of the node
	GeneratedAt time.Time     `json:"generated_at"`
}

// TestRouting returns the answer for a client, and its explanation.
func (c *Client) TestRouting(ctx context.Context, r RoutingTestRequest) (RoutingTest, error) {
	return send[RoutingTest](ctx, c, http.MethodPost, "/api/v1/routing/test", r)
}

// RoutingAnswers returns the answers of a domain for the clients of all regions. queryType is A or
// AAAA.
func (c *Client) RoutingAnswers(ctx context.Context, domain, queryType string) (RoutingAnswerList, error) {
	return get[RoutingAnswerList](ctx, c, "/api/v1/routing/answers",
		url.Values{"domain": {domain}, "query_type": {queryType}})
}

// RoutingAlgorithms lists the algorithms.
func (c *Client) RoutingAlgorithms(ctx context.Context) (RoutingAlgorithmList, error) {
	return get[RoutingAlgorithmList](ctx, c, "/api/v1/routing/algorithms", nil)
}

// RoutingDecisions lists sampled answers, as the query narrows them.
func (c *Client) RoutingDecisions(ctx context.Context, query url.Values) (RoutingDecisionList, error) {
	return get[RoutingDecisionList](ctx, c, "/api/v1/routing/decisions", query)
}

// ExplainDecision explains a sampled answer.
func (c *Client) ExplainDecision(ctx context.Context, id string) (RoutingTest, error) {
	return get[RoutingTest](ctx, c, "/api/v1/routing/decisions", nil, id)
}

// RoutingFlows lists the numbers of answers by client region and backend region.
func (c *Client) RoutingFlows(ctx context.Context, query url.Values) (RoutingFlowList, error) {
	return get[RoutingFlowList](ctx, c, "/api/v1/routing/flows", query)
}
