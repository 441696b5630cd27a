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
	// OwnedChange is the largest percentage of the objects of an owner that an apply changes or deletes without Force. It
	// applies to owners with OwnedFloor or more objects.
	OwnedChange = 30
	OwnedFloor  = 10
)

// Document holds the objects that operators defined through the API, in the form of files. Omitted fields have their
// defaults.
type Document struct {
	Regions  []DocumentRegion  `json:"regions,omitempty"`
	Domains  []DocumentDomain  `json:"domains,omitempty"`
	Servers  []DocumentServer  `json:"servers,omitempty"`
	Mappings []DocumentMapping `json:"mappings,omitempty"`
	Records  []DocumentRecords `json:"records,omitempty"`
	Agents   []DocumentAgent   `json:"agents,omitempty"`
	// Settings belong to the cluster: they have no owner, and Prune does not apply to them.
	Settings []DocumentSettings `json:"settings,omitempty"`
}

// DocumentRegion is a region of a Document: the fields that differ from their defaults. Its id is optional if it
// follows from name and code.
type DocumentRegion = model.Patch[model.Region]

// DocumentDomain is a domain of a Document: its name and the fields that differ from their defaults.
type DocumentDomain = model.Patch[model.Domain]

// DocumentServer is a server of a Document. A server without a health check has the check of its region.
type DocumentServer = model.Patch[model.Server]

// DocumentMapping is a mapping of a Document.
type DocumentMapping = model.Patch[model.Mapping]

// DocumentRecords are the records of a name and type. They replace the records of the name and type without expires_at.
type DocumentRecords = model.Patch[model.RecordSet]

// DocumentAgent is an announced agent. A Document does not contain pins.
type DocumentAgent struct {
	AgentRegistration
	Owner string `json:"owner,omitempty"`
}

// DocumentSettings are the settings of a section that differ from the configuration file. Without values, the settings
// of the file apply.
type DocumentSettings struct {
	Section string         `json:"section"` // dns or health-check
	Values  map[string]any `json:"values"`  // as in the body of PUT /api/v1/config/<section>
}

// ApplyRequest is the body of POST /api/v1/document/plan and /api/v1/document/apply.
type ApplyRequest struct {
	Document Document `json:"document"`
	// Owner becomes the owner of the objects in the document. Empty: the objects keep their owner or have the owner in the
	// document, and the request may not change objects of other owners.
	Owner string `json:"owner,omitempty"`
	// Prune deletes the objects of the owner that the document omits. It requires an Owner.
	Prune bool `json:"prune,omitempty"`
	// Force applies a document that would leave a name with fewer backends than min_healthy, or would change or delete
	// more than OwnedChange percent of the objects of the owner.
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

// Plan lists the changes of a document. It is the answer of a plan and of an apply.
type Plan struct {
	Applied   bool         `json:"applied"`
	Changes   []PlanChange `json:"changes"`   // in the order of kind and name
	Unchanged int          `json:"unchanged"` // objects that already equal the document
	Answers   PlanAnswers  `json:"answers"`
	// Force lists the reasons why an apply requires Force; empty: it does not.
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
	Owner  string      `json:"owner,omitempty"` // of a deletion: the previous owner; else the new owner
	Fields []PlanField `json:"fields,omitempty"`
}

// PlanField is a field that an update changes. The values are JSON.
type PlanField struct {
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// PlanAnswers lists the effects of a plan on answers. New servers are treated as healthy.
type PlanAnswers struct {
	// Counted is the number of answers of the last hour for the changed names. It weights the shares. With 0 the shares
	// are unknown, and only Names has the changes.
	Counted          uint64     `json:"counted"`
	Total            uint64     `json:"total"`             // answers of the last hour for all names
	ElsewherePercent float64    `json:"elsewhere_percent"` // of Total: answers with another address under the plan
	Moves            []PlanMove `json:"moves"`             // the largest first
	Names            []PlanName `json:"names"`
	// Losses are names that would have fewer backends than min_healthy.
	Losses []Consequence `json:"losses"`
	// HiddenLosses is the number of losses that the answer omits, because the names are outside the scope of the token.
	HiddenLosses int `json:"hidden_losses,omitempty"`
	// Unused are the servers that the plan removes from all answers: "<service>:<address>:<port>". Servers that are in no
	// answer now are omitted.
	Unused []string `json:"unused"`
	// Skipped is the number of names that the plan did not evaluate, because it exceeds the limit of names.
	Skipped int `json:"skipped,omitempty"`
}

// PlanMove is the share of the answers of the last hour that would move from one region to another.
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

// Plan returns the changes of a document. It applies none of them.
func (c *Client) Plan(ctx context.Context, req ApplyRequest) (Plan, error) {
	return send[Plan](ctx, c, http.MethodPost, "/api/v1/document/plan", req)
}

// Apply creates, updates and, with Prune, deletes objects by a document. After an error no object has changed.
func (c *Client) Apply(ctx context.Context, req ApplyRequest) (Plan, error) {
	return send[Plan](ctx, c, http.MethodPost, "/api/v1/document/apply", req)
}

// PlanConfig returns the changes that another configuration file would make on a node. It changes nothing.
func (c *Client) PlanConfig(ctx context.Context, text []byte) (Plan, error) {
	return ask[Plan](ctx, c, call{method: http.MethodPost, path: "/api/v1/config/plan", raw: text,
		contentType: "application/yaml"})
}
