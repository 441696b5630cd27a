package httpapi

import (
	"net/http"

	"gslb.internal/overwatch/internal/state/definitions"
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
		node     = v1 + "/nodes/agent/:id"
		region   = v1 + "/regions/:id"
		mappings = v1 + "/geo/mappings"
	)
	return append(s.sectionRoutes(), []route{
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
		{get, v1 + "/regions", s.listRegions},
		{post, v1 + "/regions", s.postRegion},
		{get, region, s.getRegion},
		{put, region, s.putRegion},
		{patch, region, s.putRegion},
		{del, region, s.deleteRegion},
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
		{patch, override, s.putOverride},
		{del, override, s.deleteOverride},
		{get, v1 + "/nodes/agent", s.listAgentNodes},
		{get, node, s.getAgentNode},
		{post, v1 + "/nodes/agent", s.postAgentNode},
		{del, node, s.deleteAgentNode},
		{get, node + "/certificate", s.getCertificate},
		{post, node + "/certificate", s.postCertificate},
		{del, node + "/certificate", s.deleteCertificate},
		{get, v1 + "/nodes/overwatch", s.listOverwatchNodes},
		{get, v1 + "/nodes/overwatch/:id", s.getOverwatchNode},
		{get, mappings, s.listGeoMappings},
		{put, mappings, s.putGeoMapping},
		{patch, mappings, s.putGeoMapping},
		{del, mappings + "/*cidr", s.deleteGeoMapping},
		{get, v1 + "/geo/test", s.getGeoTest},
		{get, v1 + "/routing/algorithms", s.listRoutingAlgorithms},
		{get, v1 + "/routing/algorithms/:id", s.getRoutingAlgorithm},
		{post, v1 + "/routing/test", s.postRoutingTest},
		{get, v1 + "/routing/answers", s.getRoutingAnswers},
		{get, v1 + "/routing/decisions", s.listRoutingDecisions},
		{get, v1 + "/routing/decisions/:id", s.getRoutingDecision},
		{get, v1 + "/routing/flows", s.listRoutingFlows},
		{get, v1 + "/dnssec/status", s.getDNSSECStatus},
		{get, v1 + "/dnssec/ds", s.listDSRecords},
		{get, v1 + "/dnssec/keys", s.listDNSSECKeys},
		{post, v1 + "/dnssec/sync", s.postDNSSECSync},
		{get, v1 + "/audit-logs", s.listAudit},
		{get, v1 + "/audit-logs/:id", s.getAudit},
		{get, v1 + "/audit-logs/stats", s.getAuditStats},
		{get, v1 + "/audit-logs/export", s.exportAudit},
		{get, v1 + "/metrics/overview", s.getOverview},
		{get, v1 + "/metrics/history", s.getHistory},
		{get, v1 + "/metrics/nodes/:id", s.getNodeMetrics},
		{get, v1 + "/metrics/regions/:id", s.getRegionMetrics},
		{get, v1 + "/metrics/routing", s.getRoutingMetrics},
		{post, v1 + "/config/reload", s.postReload},
		{post, pathValidate, s.postConfigValidate},
		{get, v1 + "/config/system", s.getSystemConfig},
		{get, v1 + "/preferences", s.getPreferences},
		{put, v1 + "/preferences", s.putPreferences},
		{patch, v1 + "/preferences", s.putPreferences},
		{post, v1 + "/gossip/generate-key", s.postGossipKey},
		{get, v1 + "/gossip/nodes", s.listGossipNodes},
		{get, v1 + "/gossip/nodes/:id", s.getGossipNode},
	}...)
}

// sectionRoutes are those of the configuration's sections.
func (s *Server) sectionRoutes() (list []route) {
	for path, section := range map[string]string{
		"/config/dns": definitions.DNS, "/config/health-check": definitions.HealthCheck, "/config/logging": definitions.Logging, "/gossip/config": definitions.Gossip,
	} {
		path = "/api/v1" + path
		list = append(list,
			route{http.MethodGet, path, s.getSection(section)}, route{http.MethodPut, path, s.putSection(section)},
			route{http.MethodPatch, path, s.putSection(section)}, route{http.MethodDelete, path, s.deleteSection(section)})
	}
	return list
}
