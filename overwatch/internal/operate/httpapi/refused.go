package httpapi

import (
	"cmp"
	"net/http"
	"strings"

	"gslb.internal/overwatch/internal/operate/refusals"
)

// Maximum sizes, in bytes, of the texts of a request in its audit entry.
const (
	maxRefusedMethod = 16
	maxRefusedPath   = 256
)

// noteRefusal adds an audit entry for a rejected request: a request of an unauthorized client, or a rejected change. It
// ignores unknown objects and methods, and changes that the audit log contains.
func (s *Server) noteRefusal(c *call, p *problem) {
	stranger := p.status == http.StatusUnauthorized || p.status == http.StatusForbidden ||
		p.status == http.StatusMisdirectedRequest
	refused := changesState(c.Request.Method) && p.status/100 == 4 && p.status != http.StatusNotFound &&
		p.status != http.StatusMethodNotAllowed
	if c.isAudited() || !stranger && !refused {
		return
	}
	s.o.Refused(refusals.Request{
		Actor: cmp.Or(c.actor, "unknown"), Client: c.client, Known: !stranger, Method: shortened(c.Request.Method,
			maxRefusedMethod), Path: shortened(c.Request.URL.Path, maxRefusedPath), Status: p.status,
		Sentence: p.sentence,
	}, c.id)
}

// shortened returns at most n bytes of a text, as valid UTF-8.
func shortened(text string, n int) string { return strings.ToValidUTF8(text[:min(len(text), n)], "") }
