package api

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"gslb.internal/shared/model"
)

const pathRecords = "/api/v1/records"

// RecordSet contains the records of the API with the same name and type. Its TTL is the lowest TTL of the records.
// Owner and ExpiresAt are omitted if the records differ.
type RecordSet struct {
	model.RecordSet
	CreatedAt time.Time `json:"created_at"` // of the first record
	UpdatedAt time.Time `json:"updated_at"` // of the last change
	// Records are the records in the order of their data. Nodes replicate each record separately.
	Records []RecordValue `json:"records"`
}

// RecordValue is a record of a RecordSet.
type RecordValue struct {
	Data      string    `json:"data"`
	TTL       int       `json:"ttl"`
	Owner     string    `json:"owner,omitempty"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// Omitted is the reason why the node does not serve the record, such as a load-balanced name; empty: the node serves
	// the record.
	Omitted string `json:"omitted,omitempty"`
}

// RecordSetChange is the body of POST /api/v1/records, which requires name, type and data, and of PUT
// /api/v1/records/{name}/{type}, which requires data.
type RecordSetChange = model.Patch[model.RecordSet]

// RecordSetList is the answer of GET /api/v1/records.
type RecordSetList struct {
	Records     []RecordSet `json:"records"`
	Total       int         `json:"total"`
	GeneratedAt time.Time   `json:"generated_at"`
}

// Records lists the records of the API, of all names if name is "".
func (c *Client) Records(ctx context.Context, name string) (RecordSetList, error) {
	query := url.Values{}
	if name != "" {
		query.Set("name", name)
	}
	return everyPage(ctx, c, pathRecords, query,
		func(l *RecordSetList) (*[]RecordSet, int) { return &l.Records, l.Total })
}

// AddRecords adds records to a name and type.
func (c *Client) AddRecords(ctx context.Context, req RecordSetChange) (RecordSet, error) {
	return send[RecordSet](ctx, c, http.MethodPost, pathRecords, req)
}

// PutRecords replaces the records of a name and type.
func (c *Client) PutRecords(ctx context.Context, name, rtype string, req RecordSetChange) (RecordSet, error) {
	return send[RecordSet](ctx, c, http.MethodPut, pathRecords, req, name, rtype)
}

// DeleteRecords deletes the record of a name and type with the data, or all records if data is "".
func (c *Client) DeleteRecords(ctx context.Context, name, rtype, data string) error {
	query := url.Values{}
	if data != "" {
		query.Set("data", data)
	}
	return c.do(ctx, call{method: http.MethodDelete, path: pathRecords, names: []string{name, rtype}, query: query}, nil)
}
