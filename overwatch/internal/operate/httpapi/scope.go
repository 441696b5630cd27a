package httpapi

import "net/http"

// checkScope rejects a request of a token with limits of objects, unless the operation declares its objects.
func (s *Server) checkScope(c *call) error {
	if c.scope == nil || !c.scope.IsLimited() {
		return nil
	}
	return outsideScope(c.actor)
}

// outsideScope returns the error for a request about objects outside the scope of a token.
func outsideScope(token string) error {
	return problemf(http.StatusForbidden, "the scope of the token %s does not include this: gslbctl tokens list shows "+
		"the scopes", token)
}
