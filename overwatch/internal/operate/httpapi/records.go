package httpapi

import (
	"maps"
	"net/http"
	"slices"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

func recordOperations() []Operation {
	path := v1 + "/records/{name}/{type}"
	data := []string{`"gfj9Xq...Rg85nM"`}
	set := model.RecordSet{Name: "_acme-challenge.app.example.com", Type: "TXT", TTL: 60, Data: data,
		ExpiresAt: exampleTime().AddDate(0, 0, 1)}
	example := api.RecordSet{RecordSet: set, CreatedAt: exampleTime(), UpdatedAt: exampleTime(),
		Records: []api.RecordValue{{Data: data[0], TTL: set.TTL, ExpiresAt: set.ExpiresAt}}}
	change := api.RecordSetChange{"ttl": set.TTL, "data": data, "expires_at": set.ExpiresAt}
	added := maps.Clone(change)
	added["name"], added["type"] = set.Name, set.Type
	return []Operation{
		{Method: get, Path: v1 + "/records", handle: (*Server).listRecords, Summary: "List DNS records of the API",
			Query: paged(text("name", "list only records of this name", set.Name)), Status: 200,
			Answer: api.RecordSetList{Records: []api.RecordSet{example}, Total: 1, GeneratedAt: exampleTime()}},
		{Method: post, Path: v1 + "/records", Changes: KindRecord, handle: decoded((*Server).postRecords),
			Summary: "Add DNS records",
			Description: "Adds records to a name and type, also beside records that exist. The status is 409 if a record " +
				"exists with the same data. Load-balanced names and records of the configuration take precedence: the " +
				"status is 400, and the error names the object.",
			Body: added, Required: []string{"name", "type", "data"}, Status: 201, Answer: example,
			Errors: []int{conflict, noStore}},
		{Method: get, Path: path, handle: (*Server).getRecords, Summary: "Get the DNS records of a name and type",
			Status: 200, Answer: example},
		{Method: put, Path: path, Changes: KindRecord, handle: decoded((*Server).putRecords),
			Summary: "Replace the DNS records of a name and type",
			Description: "The status is 201 if there were no records. Records with the same data, TTL and end do not " +
				"change.",
			Header: conditionsOf(true), Body: change, Required: []string{"data"}, Status: 200, Answer: example,
			Also: map[int]any{201: example}, Errors: changeErrors},
		{Method: patch, Path: path, Changes: KindRecord, handle: decoded((*Server).putRecords),
			Summary:     "Change the DNS records of a name and type",
			Description: "An omitted field does not change. `data` replaces all data.",
			Header:      conditionsOf(false), Body: api.RecordSetChange{"ttl": set.TTL}, Status: 200, Answer: example,
			Errors: changeErrors},
		{Method: del, Path: path, Changes: KindRecord, handle: (*Server).deleteRecords,
			Summary: "Delete DNS records of a name and type", Header: conditionsOf(false),
			Query:  []Parameter{text("data", "delete only the record with this data", data[0])},
			Status: 204, Errors: changeErrors},
	}
}

// listRecords answers GET /records with the records in the order of names and types.
func (s *Server) listRecords(c *call) (answer, error) {
	set, _ := s.o.Definitions.Defined()
	sets := map[string][]*model.Record{}
	if name := c.query["name"]; name != "" {
		canonical, _, err := definitions.ParseRecordSet(name, "TXT")
		if err != nil {
			return answer{}, fault.FromCheck(err)
		}
		for _, r := range set.RecordsAt(canonical) {
			sets[r.Set()] = append(sets[r.Set()], r)
		}
	} else {
		sets = definitions.RecordSets(set.Records)
	}
	maps.DeleteFunc(sets, func(_ string, records []*model.Record) bool {
		return slices.ContainsFunc(records, func(r *model.Record) bool { return !c.sees(r.Scoped()) })
	})
	list := api.RecordSetList{GeneratedAt: stamp(s.o.Now())}
	list.Records, list.Total = pageOf(slices.Values(slices.Sorted(maps.Keys(sets))), c.page,
		func(key string) api.RecordSet { return s.recordView(sets[key]) })
	return ok(list), nil
}

// recordView returns the API view of the records of a name and type.
func (s *Server) recordView(records []*model.Record) api.RecordSet {
	slices.SortFunc(records, definitions.CompareRecords)
	set := objects.RecordSetOf(records)
	view := api.RecordSet{RecordSet: *set, CreatedAt: set.CreatedAt, UpdatedAt: set.UpdatedAt}
	omitted := s.o.OmittedRecords()
	for _, r := range records {
		view.Records = append(view.Records, api.RecordValue{Data: r.Data, TTL: r.TTL, Owner: r.Owner,
			ExpiresAt: r.ExpiresAt, Omitted: omitted.Get(r.Key())})
	}
	return view
}

// getRecords answers GET /records/{name}/{type}.
func (s *Server) getRecords(c *call) (answer, error) {
	name, rtype, err := definitions.ParseRecordSet(c.Param("name"), c.Param("type"))
	if err != nil {
		return answer{}, fault.FromCheck(err)
	}
	set, _ := s.o.Definitions.Defined()
	records := set.RecordsOf(name, rtype)
	if len(records) == 0 {
		return answer{}, fault.NotFoundf("the API has no records of %s with the type %s", name, rtype)
	}
	return tagged(c, http.StatusOK, s.recordView(records), records), nil
}

// postRecords answers POST /records.
func (s *Server) postRecords(c *call, req api.RecordSetChange) (answer, error) {
	after, err := s.op.AddRecords(c.request(), req)
	if err != nil {
		return answer{}, err
	}
	return tagged(c, http.StatusCreated, s.recordView(after), after), nil
}

// putRecords answers PUT and PATCH /records/{name}/{type}.
func (s *Server) putRecords(c *call, req api.RecordSetChange) (answer, error) {
	after, created, err := s.op.PutRecords(c.request(), c.Param("name"), c.Param("type"), req)
	if err != nil {
		return answer{}, err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return tagged(c, status, s.recordView(after), after), nil
}

// deleteRecords answers DELETE /records/{name}/{type}.
func (s *Server) deleteRecords(c *call) (answer, error) {
	if c.Request.URL.Query().Has("data") && c.query["data"] == "" {
		return answer{}, badRequest("data is empty: give the data of a record, or omit the parameter to delete all records " +
			"of the name and type")
	}
	return noContent(), s.op.DeleteRecords(c.request(), c.Param("name"), c.Param("type"), c.query["data"])
}
