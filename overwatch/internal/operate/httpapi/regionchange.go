package httpapi

import (
	"net/http"

	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// postRegion answers POST /regions.
func (s *Server) postRegion(c *call, req api.RegionChange) (answer, error) {
	made, err := s.op.CreateRegion(c.request(), req)
	return s.changedRegion(c, http.StatusCreated, made, err)
}

// putRegion answers PUT and PATCH /regions/{id}. For an omitted field, PUT sets the default and PATCH keeps the value.
func (s *Server) putRegion(c *call, req api.RegionChange) (answer, error) {
	after, err := s.op.ChangeRegion(c.request(), c.Param("id"), req)
	return s.changedRegion(c, http.StatusOK, after, err)
}

// changedRegion answers with a region after its change. nil means the region of the path, which the configuration
// declares.
func (s *Server) changedRegion(c *call, status int, after *model.Region, err error) (answer, error) {
	switch {
	case err != nil:
		return answer{}, err
	case after == nil:
		return s.getRegion(c)
	}
	set, file := s.o.Definitions.Defined()
	return tagged(c, status, regionView(*after, set, file, s.edit.CountServers()), *after), nil
}

// deleteRegion answers DELETE /regions/{id}. It rejects the deletion of a region in use.
func (s *Server) deleteRegion(c *call) (answer, error) {
	return noContent(), s.op.DeleteRegion(c.request(), c.Param("id"))
}
