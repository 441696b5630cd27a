package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"gslb.internal/shared/api"
)

// The public paths.
const (
	pathHealth  = "/api/health"
	pathReady   = "/api/v1/ready"
	pathLive    = "/api/v1/live"
	pathVersion = "/api/v1/version"
)

// route is one method of one path. A GET answers HEAD as well.
type route struct {
	method  string
	path    string
	handler handler
}

// routes lists everything that the API answers.
func (s *Server) routes() []route {
	const (
		get, post, put, patch, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete

		v1       = "/api/v1"
		server   = v1 + "/servers/:id"
		domain   = v1 + "/domains/:name"
		override = v1 + "/overrides/:service/:address"
		backend  = v1 + "/overwatch/backends/:service/:address/:port"
		agent    = v1 + "/overwatch/agents/:agent_id"
	)
	return []route{
		{get, pathHealth, s.getHealth},
		{get, pathReady, s.getReady},
		{get, pathLive, s.getLive},
		{get, pathVersion, s.getVersion},
		{get, pathOpenAPI, file("application/json", openAPI)},
		{get, pathDocs, file("text/html; charset=utf-8", docsPage)},
		{get, pathDocsProgram, file("text/javascript; charset=utf-8", docsProgram)},
		{get, pathDocsStyle, file("text/css; charset=utf-8", docsStyle)},
		{get, v1 + "/health/servers", s.listServerHealth},
		{get, v1 + "/health/regions", s.listRegionHealth},
		{get, v1 + "/servers", s.listServers},
		{post, v1 + "/servers", s.postServer},
		{get, server, s.getServer},
		{patch, server, s.patchServer},
		{del, server, s.deleteServer},
		{get, server + "/health-check", s.getHealthCheck},
		{put, server + "/health-check", s.putHealthCheck},
		{patch, server + "/health-check", s.putHealthCheck},
		{post, server + "/drain", s.postDrain},
		{del, server + "/drain", s.deleteDrain},
		{get, v1 + "/domains", s.listDomains},
		{post, v1 + "/domains", s.postDomain},
		{get, domain, s.getDomain},
		{put, domain, s.putDomain},
		{patch, domain, s.putDomain},
		{del, domain, s.deleteDomain},
		{get, domain + "/backends", s.listDomainBackends},
		{post, domain + "/backends", s.postDomainBackend},
		{del, domain + "/backends/:id", s.deleteDomainBackend},
		{get, v1 + "/overwatch/backends", s.listBackends},
		{get, backend, s.getBackend},
		{post, backend + "/override", s.postBackendOverride},
		{del, backend + "/override", s.deleteBackendOverride},
		{get, v1 + "/overwatch/stats", s.getStats},
		{post, v1 + "/overwatch/validate", s.postValidate},
		{get, v1 + "/overwatch/agents", s.listAgents},
		{get, v1 + "/overwatch/agents/expiring", s.listExpiringAgents},
		{get, agent, s.getAgent},
		{del, agent, s.deleteAgent},
		{post, agent + "/revoke", s.postRevokeAgent},
		{get, v1 + "/overrides", s.listOverrides},
		{get, override, s.getOverride},
		{put, override, s.putOverride},
		{del, override, s.deleteOverride},
		{get, v1 + "/nodes/agent", s.listAgentNodes},
		{get, v1 + "/nodes/agent/:id", s.getAgentNode},
		{get, v1 + "/geo/mappings", s.listGeoMappings},
		{get, v1 + "/geo/test", s.getGeoTest},
		{get, v1 + "/routing/algorithms", s.listRoutingAlgorithms},
		{get, v1 + "/routing/algorithms/:id", s.getRoutingAlgorithm},
		{post, v1 + "/routing/test", s.postRoutingTest},
		{get, v1 + "/dnssec/status", s.getDNSSECStatus},
		{get, v1 + "/dnssec/ds", s.listDSRecords},
		{get, v1 + "/dnssec/keys", s.listDNSSECKeys},
		{get, v1 + "/audit-logs", s.listAudit},
		{get, v1 + "/audit-logs/:id", s.getAudit},
		{get, v1 + "/audit-logs/stats", s.getAuditStats},
		{get, v1 + "/audit-logs/export", s.exportAudit},
		{post, v1 + "/config/reload", s.postReload},
		{get, v1 + "/gossip/config", s.getGossipConfig},
		{post, v1 + "/gossip/generate-key", s.postGossipKey},
		{get, v1 + "/gossip/nodes", s.listGossipNodes},
		{get, v1 + "/gossip/nodes/:id", s.getGossipNode},
	}
}

// pending is one method of one path that the API promises and that has no
// truth behind it yet.
type pending struct{ method, path string }

// unbuilt lists what answers 501. A line leaves this table with the commit
// that builds its endpoint.
func unbuilt() []pending {
	methods := map[string][]string{
		"/regions":                     {"GET", "POST"},
		"/regions/:id":                 {"GET", "PUT", "PATCH", "DELETE"},
		"/nodes/overwatch":             {"GET"},
		"/nodes/overwatch/:id":         {"GET"},
		"/nodes/agent":                 {"POST"},
		"/nodes/agent/:id":             {"DELETE"},
		"/nodes/agent/:id/certificate": {"GET", "POST", "DELETE"},
		"/gossip/config":               {"PUT", "PATCH"},
		"/dnssec/sync":                 {"POST"},
		"/metrics/overview":            {"GET"},
		"/metrics/history":             {"GET"},
		"/metrics/nodes/:id":           {"GET"},
		"/metrics/regions/:id":         {"GET"},
		"/metrics/routing":             {"GET"},
		"/preferences":                 {"GET", "PUT", "PATCH"},
		"/config/system":               {"GET"},
		"/config/dns":                  {"GET", "PUT", "PATCH", "DELETE"},
		"/config/health-check":         {"GET", "PUT", "PATCH", "DELETE"},
		"/config/logging":              {"GET", "PUT", "PATCH", "DELETE"},
		"/config/validate":             {"POST"},
		"/routing/decisions":           {"GET"},
		"/routing/decisions/:id":       {"GET"},
		"/routing/flows":               {"GET"},
		"/geo/mappings":                {"PUT"},
		"/geo/mappings/*cidr":          {"DELETE"},
		"/overrides/:service/:address": {"PATCH"},
	}
	var list []pending
	for path, of := range methods {
		for _, method := range of {
			list = append(list, pending{method, "/api/v1" + path})
			if method == http.MethodGet {
				list = append(list, pending{http.MethodHead, "/api/v1" + path})
			}
		}
	}
	return list
}

func notBuilt(c *gin.Context) {
	reply(c, http.StatusNotImplemented, api.ErrorBody{Error: "this build does not answer " + c.Request.Method + " " + c.FullPath() + " yet"})
}
