package api

import (
	"context"
	"net/url"
)

// AuditLog lists the audit entries that the query chooses: all of them, or
// the page that its limit and offset say.
func (c *Client) AuditLog(ctx context.Context, query url.Values) (AuditList, error) {
	const path = "/api/v1/audit-logs"
	if query.Has("limit") {
		return get[AuditList](ctx, c, path, query)
	}
	return everyPage(ctx, c, path, query, func(l *AuditList) (*[]AuditEntry, int) { return &l.Entries, l.Total })
}
