package httpapi

import (
	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/shared/api"
)

// undoAdminState undoes a change of an override, a weight or a drain.
func (s *Server) undoAdminState(c *call, e *api.AuditEntry, _ *change) error {
	return s.applyUndo(c, changes.UndoAdminState{Of: e}, e.ID)
}
