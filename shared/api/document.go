package api

import (
	"context"
	"net/http"
	"time"

	"gslb.internal/shared/model"
)

const (
	// MaxDocument is the largest body of a plan or an apply, in bytes.
	MaxDocument = 16 << 20
	// MaxOwner is the longest name of an owner, in characters.
	MaxOwner = 64
	// OwnedChange is the largest part of what an owner has that one apply changes or deletes without Force, in
	// percent. It holds from OwnedFloor objects on.
	OwnedChange = 30
	OwnedFloor  = 10
)

// Document holds the definitions that operators made through the API, in the form that people keep in files. A field
// that is omitted has its default.
type Document struct {
	Regions  []DocumentRegion  `json:"regions,omitempty"`
	Domains  []DocumentDomain  `json:"domains,omitempty"`
	Servers  []DocumentServer  `json:"servers,omitempty"`
	Mappings []DocumentMapping `json:"mappings,omitempty"`
	Agents   []DocumentAgent   `json:"agents,omitempty"`
	// Settings belong to the cluster: they have no owner, and nothing prunes them.
	Settings []DocumentSettings `json:"settings,omitempty"`
}

// DocumentRegion is a region of a Document: the fields that differ from their defaults. Its id is optional if it
// follows from name and code.
type DocumentRegion = model.Patch[model.Region]

// DocumentDomain is a domain of a Document: its name and the fields that differ from their defaults.
type DocumentDomain = model.Patch[model.Domain]

// DocumentServer is a server of a Document. Without a health check it has that of its region.
type DocumentServer = model.Patch[model.Server]

// DocumentMapping is a mapping of a Document.
type DocumentMapping = model.Patch[model.Mapping]

// DocumentAgent is an agent that is announced. Its pin, if it has one, is not in a Document.
type DocumentAgent struct {
	AgentRegistration
	Owner string `json:"owner,omitempty"`
}

// DocumentSettings are the settings of a section that differ from those of the configuration file. Without values the
// file's count.
type DocumentSettings struct {
	Section string         `json:"section"` // dns or health-check
	Values  map[string]any `json:"values"`  // as in the body of PUT /api/v1/config/<section>
}

// ApplyRequest is the body of POST /api/v1/document/plan and /api/v1/document/apply.
type ApplyRequest struct {
	Document Document `json:"document"`
	// Owner names the applier of the document: its objects belong to that owner from then on. Empty: the objects keep
	// the owner that they or the document have, and those of others may not change.
	Owner string `json:"owner,omitempty"`
	// Prune deletes the objects of the owner that the document does not have. It needs an Owner.
	Prune bool `json:"prune,omitempty"`
	// Force continues where a name would be left with too few backends, or more than OwnedChange percent of what the
	// owner has would change or go.
	Force bool `json:"force,omitempty"`
}

// PlanAction is the change of an object by a document.
type PlanAction string

// The actions of a plan.
const (
	PlanCreate PlanAction = "create"
	PlanUpdate PlanAction = "update"
	PlanDelete PlanAction = "delete"
)

// Plan lists the changes that a document makes: the answer of a plan, and of an apply.
type Plan struct {
	Applied   bool         `json:"applied"`
	Changes   []PlanChange `json:"changes"`   // in the order of kind and name
	Unchanged int          `json:"unchanged"` // objects of the document that are as it says
	Answers   PlanAnswers  `json:"answers"`
	// Force lists why an apply needs Force; empty: it does not.
	Force []string `json:"force"`
	// RestartRequired are the keys of a configuration file that wait for a restart. It is omitted for a document.
	RestartRequired []string  `json:"restart_required,omitempty"`
	GeneratedAt     time.Time `json:"generated_at"`
}

// PlanChange is a change of an object.
type PlanChange struct {
	Action PlanAction  `json:"action"`
	Kind   string      `json:"kind"` // region, domain, server, mapping, agent or settings; key of a configuration file
	ID     string      `json:"id"`
	Owner  string      `json:"owner,omitempty"` // before a deletion, else after the change
	Fields []PlanField `json:"fields,omitempty"`
}

// PlanField is a field that an update changes; values are as JSON shows them.
type PlanField struct {
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// PlanAnswers lists the effects of a plan on answers. New servers count as healthy.
type PlanAnswers struct {
	// Counted is the number of answers of the last hour, of the names that change, by which the parts are weighted.
	// With 0 the parts are unknown, and only Names say what changes.
	Counted          uint64     `json:"counted"`
	Total            uint64     `json:"total"`             // answers of the last hour for all names
	ElsewherePercent float64    `json:"elsewhere_percent"` // of Total, that would have had another address
	Moves            []PlanMove `json:"moves"`             // the largest first
	Names            []PlanName `json:"names"`
	// Losses are names that would have fewer backends than min_healthy, or none.
	Losses []Consequence `json:"losses"`
	// Unused are the servers that no client would be sent to because of the plan: "<service>:<address>:<port>".
	// Servers that no client is sent to now are not among them.
	Unused []string `json:"unused"`
	// Skipped is the number of names that were not looked at, since the plan touches too many.
	Skipped int `json:"skipped,omitempty"`
}

// PlanMove is a part of the answers of the last hour that would go to another region.
type PlanMove struct {
	From    string  `json:"from"` // empty: none
	To      string  `json:"to"`
	Percent float64 `json:"percent"` // of PlanAnswers.Total
}

// PlanName describes the change of the answers of a name to the clients of a region.
type PlanName struct {
	Name         string         `json:"name"`
	QueryType    string         `json:"query_type"`    // A or AAAA
	ClientRegion string         `json:"client_region"` // empty: clients in no region, or all clients
	Counted      uint64         `json:"counted"`       // answers of the last hour
	Percent      float64        `json:"elsewhere_percent"`
	Before       []RoutingShare `json:"before"`
	After        []RoutingShare `json:"after"`
}

// Document returns all objects that were defined through the API.
func (c *Client) Document(ctx context.Context) (Document, error) {
	return get[Document](ctx, c, "/api/v1/document", nil)
}

// Plan returns what a document changes. Nothing changes.
func (c *Client) Plan(ctx context.Context, req ApplyRequest) (Plan, error) {
	return send[Plan](ctx, c, http.MethodPost, "/api/v1/document/plan", req)
}

// Apply creates, changes and, with Prune, deletes objects as a document has them: all of them, or with an error none.
func (c *Client) Apply(ctx context.Context, req ApplyRequest) (Plan, error) {
	return send[Plan](ctx, c, http.MethodPost, "/api/v1/document/apply", req)
}

// PlanConfig returns what another configuration file would change on a node. Nothing changes.
func (c *Client) PlanConfig(ctx context.Context, text []byte) (Plan, error) {
	return ask[Plan](ctx, c, call{method: http.MethodPost, path: "/api/v1/config/plan", raw: text,
		contentType: "application/yaml"})
}
