package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// row is one request and what the specification and the API's own page promise of its answer.
type row struct {
	operation string // method and path as the node's OpenAPI document writes it
	path      string // below /api, in the words of the fixture; empty: that of the operation
	body      string // JSON, but for config/validate
	status    int
	// shape is the fields that the body must have, each with its type: s(tring), i(nteger), n(umber), b(ool), t(ime),
	// o(bject), a(rray), x for any JSON; a ? behind it: or null; a - behind it: or not there; {x|y}: one of these words;
	// ~x: with x in it. "list[].field" is a field of every element, of which there must be one at least but for -. Without
	// a shape there must be no body.
	shape string
}

const (
	shapeProblem = "error:s"
	shapeNamed   = "message:s id:s"
	shapeListed  = " total:i generated_at:t"
	shapeServer  = "id:s service:s address:s target:s- port:i weight:i region:s source:s{static|agent|api} " +
		"effective_status:s{healthy|unhealthy|stale} agent_healthy:b? agent:s- draining:b created_at:t updated_at:t" +
		shapeLaid
	shapeTarget = "id:s service:s target:s port:i weight:i region:s agent:s- allowed_cidrs:a- owner:s- addresses:a " +
		"problem:s- created_at:t updated_at:t"
	shapeRoll = "zone:s way:s{key|unsigned|signed} stage:s{signing|published|offered|alone|unsigned|done} since:t " +
		"started_at:t started_by:s emergency:b key_tag:i old_keys:a ds_record:s waits_for:s? waits_until:t? " +
		"parent_since:t? confirmed_at:t? schedule:a schedule[].stage:s{signing|published|offered|alone|unsigned|done}- " +
		"schedule[].not_before:t- schedule[].waits_for:s?- advice:a advice[].act:s{replace_ds|remove_ds|remove_key|cancel}- advice[].safe:b- " +
		"advice[].until:t?- advice[].reason:s?-"
	shapeKeyStage = "stage:s{incoming|active|retiring|published|retired}"
	shapeDomain   = "id:s name:s ttl:i routing_policy:s dnssec_enabled:b enabled:b description:s"
	shapeLaid     = " overlay.fields:o- overlay.configured:o- overlay.by:s- overlay.updated_at:t- overlay.in_force:b-"
	shapeMore     = " health_check_id:s tags:a backend_count:i healthy_backends:i created_at:t updated_at:t " +
		"source:s{config|api} " +
		"fallback_algorithm:s- min_healthy:s- proximity_tolerance_km:n- client_hash_ipv4_prefix:i- client_hash_ipv6_prefix:i-" +
		" answer:s{address|cname} https.alpn:a- https.port:i- https.ech:s- srv:a- owner:s-" + shapeRouting + shapeLaid
	// shapeRouting has the settings of a domain that routing_policy left to the configuration file in version 0.9.0.
	shapeRouting = " routing_algorithm:s regions:a max_answers:i on_all_down:s- failover_threshold:i " +
		"latency_config.smoothing_factor:n latency_config.max_latency_ms:i latency_config.min_samples:i " +
		"latency_config.tolerance_ms:i brake.enabled:b- brake.share:s- brake.window:s- brake.hold:s-"
	shapeSettings = "settings.geo_routing_enabled:b settings.failover_enabled:b settings.failover_threshold:i " +
		"settings.load_balancing_method:s"
	shapeRegion = "id:s name:s code:s description:s latitude:n? longitude:n? continent:s countries:a enabled:b " +
		"priority:i server_count:i healthy_servers:i source:s{config|api} routing_algorithm:s- proximity_bias:i-" + shapeLaid
	shapeAgentNode = "id:s name:s address:s- port:i- region:s status:s{online|offline|pending} version:s " +
		"uptime_seconds:i last_seen:t? left_at:t? checks_total:i checks_per_sec:n active_checks:i target_count:i " +
		"certificate_expiry:t? registered_at:t?"
	shapeOwNode = "id:s name:s address:s- port:i- api_port:i- region:s- status:s{online|offline|degraded} version:s- " +
		"uptime_seconds:i- last_seen:t- queries_total:i- queries_per_sec:n dnssec_enabled:b self:b"
	shapeGossiper = "id:s name:s address:s- port:i- status:s{alive|suspect|dead} state:s{self|member} region:s- " +
		"version:s- rtt_ms:i last_seen:t- joined_at:t-"
	shapeCheck = "server_id:s health_check.enabled:b health_check.type:s health_check.path:s " +
		"health_check.interval:s health_check.timeout:s health_check.healthy_threshold:i " +
		"health_check.unhealthy_threshold:i health_check.expected_status:s health_check.note:s-"
	shapeBackend = "service:s address:s target:s- port:i agent_id:s region:s effective_status:s{healthy|unhealthy|stale} " +
		"agent_healthy:b? validation_healthy:b? validation_last_check:t? id:s weight:i share:n draining:b may_serve:b " +
		"held:b reason:s agent_last_seen:t? validation_error:s? validation_latency_ms:n? validation_note:s? " +
		"override.healthy:b- override.reason:s- override.by:s- override.at:t- override.expires_at:t?- weight_override.weight:i- " +
		"weight_override.reason:s- weight_override.by:s- weight_override.at:t- weight_override.expires_at:t?- " +
		"drain.share:n- drain.ends_at:t- drain.reason:s- drain.by:s- drain.at:t- drain.expires_at:t?-"
	shapeOverride = "service:s address:s healthy:b reason:s source:s created_at:t created_by:s starts_at:t? " +
		"expires_at:t? in_force:b"
	shapeOrder = "kind:s{override|weight|drain} service:s address:s healthy:b- weight:i- share:n- duration:s- reason:s " +
		"source:s created_at:t created_by:s starts_at:t? expires_at:t? in_force:b"
	shapeDrain = "draining:b drain_ends_at:t? share:n starts_at:t? expires_at:t?"
	shapeAgent = "agent_id:s fingerprint:s region:s services:a version:s first_seen:t last_seen:t? left_at:t? not_after:t " +
		"expires_in_hours:n revoked:b revoked_at:t? revoked_reason:s backends:i problems:a"
	shapeEntry = "id:i timestamp:t action:s{create|update|delete|revoke|drain|undrain|weight|clear_weight|" +
		"override|clear_override|begin|expire|hold|release|reload|roll|cancel|confirm|unsign|sign|force|sync|apply|" +
		"validate|refused} resource:s resource_id:s actor:s actor_type:s{user|system} " +
		"actor_ip:s status:s{success|failure} details:o duration_ms:n request_id:s previous_hash:s hash:s before:x after:x"
	shapeState     = " overlay:a restart_required:a"
	shapeDnsConfig = "config.listen_address:a config.enable_tcp:b config.enable_udp:b config.max_udp_size:i " +
		"config.default_ttl:i config.min_ttl:i config.max_ttl:i config.negative_ttl:i config.rate_limit_enabled:b " +
		"config.rate_limit_qps:i config.return_last_healthy:b config.zones:a" + shapeState
	shapeChecks = "config.validation_enabled:b config.default_interval_seconds:n config.default_timeout_seconds:n " +
		"config.healthy_threshold:i config.unhealthy_threshold:i config.max_concurrent_checks:i config.default_protocol:s " +
		"config.http_follow_redirects:b" + shapeState
	shapeLogged = "config.level:s{debug|info|warn|error} config.format:s{json|console}" + shapeState
	shapeGossip = "config.enabled:b config.bind_address:s config.bind_port:i config.cluster_name:s " +
		"config.encryption_enabled:b config.gossip_interval_ms:i config.probe_interval_ms:i config.probe_timeout_ms:i " +
		"config.seeds:a" + shapeState
	shapeLiked = "preferences.theme:s{light|dark|auto} preferences.language:s preferences.timezone:s " +
		"preferences.date_format:s preferences.time_format:s preferences.refresh_interval_seconds:i " +
		"preferences.notifications_enabled:b preferences.default_view:s preferences.custom_settings:o " +
		"preferences.updated_at:t?"
	shapeAlgorithm = "id:s name:s description:s type:s parameters:o enabled:b default:b"
	shapeTimes     = "response_times.avg_ms:n response_times.p50_ms:n response_times.p95_ms:n response_times.p99_ms:n " +
		"response_times.max_ms:n"
	shapeSuccess = "success:b message:s"
	shapeUse     = " memory.used_bytes:i? memory.available_bytes:i? memory.total_bytes:i? memory.percent:n " +
		"cpu.used_percent:n cpu.cores:i "
	shapeRouted   = "address:s port:i region:s weight:i priority:i healthy:b share:n"
	shapeDecision = "domain:s query_type:s{A|AAAA|HTTPS|SRV} client_ip:s client_subnet:s client_country:s client_region:s " +
		"nearby:o? nearby.network:s- nearby.kilometres:n- nearby.latitude:n- nearby.longitude:n- " +
		"located_by:s{ecs|resolver|custom_mapping|database|default} algorithm:s " +
		"decision:s{success|failover|fallback|no_data|no_healthy_backend|domain_not_found|not_steered} answer:a " +
		"ecs_scope:i ttl:i decision_time_us:n snapshot_generation:i timestamp:t"
	shapeFactors = "factors[].name:s factors[].type:s{geo|health|weight|latency|priority|override|drain} " +
		"factors[].value:s factors[].impact:s excluded[].address:s- excluded[].port:i- excluded[].region:s- " +
		"excluded[].reason:s- would_be[].if_up:s- would_be[].region:s- would_be[].decision:s- " +
		"would_be[].answers[].address:s- would_be[].answers[].share:n-"
)

// each puts a prefix before the fields of a shape.
func each(prefix, shape string) string {
	words := strings.Fields(shape)
	for i := range words {
		words[i] = prefix + words[i]
	}
	return strings.Join(words, " ")
}

// optional returns a shape whose fields need not be there.
func optional(shape string) string {
	return " " + strings.ReplaceAll(strings.Join(strings.Fields(shape), "- ")+"-", "--", "-")
}

// contract returns one row at least for each method of each path, in an order in which every row finds what it needs.
func contract(app, backendAt, agentID, otherID, decision string) []row {
	address, port, _ := strings.Cut(backendAt, ":")
	known := "/v1/servers/" + app + ":" + backendAt
	const mine, made = "/v1/servers/new.test.gslb.test:192.0.2.9:80", "/v1/domains/new.test.gslb.test"
	const named = "/v1/servers/new.test.gslb.test:lb.invalid:80"
	const checked = "/v1/servers/new.test.gslb.test:192.0.2.10:80"
	where := "/v1/overwatch/backends/" + app + "/" + address + "/" + port
	order := "/v1/overrides/" + app + "/" + backendAt
	planned := `"starts_at":"` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + `"`
	const tuned = " fallback_algorithm:s{client-hash} min_healthy:s{1} proximity_tolerance_km:n " +
		"client_hash_ipv4_prefix:i client_hash_ipv6_prefix:i https.alpn:a https.port:i https.ech:s srv:a max_answers:i " +
		"on_all_down:s{all} brake.enabled:b brake.share:s{40%} brake.window:s{30s} brake.hold:s{5m0s}"
	explained := shapeDecision + " " + shapeFactors + " " + each("selected_backend.", shapeRouted) + " " +
		optional(each("alternatives[].", shapeRouted))
	return []row{
		{"GET /api/health", "", "", 200,
			"status:s{healthy|degraded|unhealthy} version:s uptime_seconds:i timestamp:t message:s-"},
		{"GET /api/v1/ready", "", "", 200, "ready:b dns_ready:b health_ready:b message:s-"},
		{"GET /api/v1/live", "", "", 200, "alive:b"},
		{"GET /api/v1/version", "", "", 200, "version:s go_version:s git_commit:s build_date:s"},
		{"GET /api/v1/health/servers", "", "", 200,
			each("servers[].",
				"address:s port:i region:s healthy:b status:s{healthy|unhealthy|unknown} last_check:t? last_healthy:t? "+
					"consecutive_failures:i consecutive_successes:i last_error:s? id:s service:s") + shapeListed},
		{"GET /api/v1/health/regions", "", "", 200,
			each("regions[].", "name:s total_servers:i healthy_count:i unhealthy_count:i health_percent:n") + shapeListed},

		{"POST /api/v1/domains", "",
			`{"name":"new.test.gslb.test","ttl":20,"routing_policy":"proximity","fallback_algorithm":"client-hash",` +
				`"min_healthy":"1","proximity_tolerance_km":50.5,"client_hash_ipv4_prefix":20,"client_hash_ipv6_prefix":48,` +
				`"max_answers":3,"on_all_down":"all","failover_threshold":2,"latency_config":{"smoothing_factor":0.5,` +
				`"max_latency_ms":90,"min_samples":9,"tolerance_ms":7},"brake":{"enabled":false,"share":"40%",` +
				`"window":"30s","hold":"5m"},"https":{"alpn":["h2"],"port":8443,"ech":"AAMBAgM="},"srv":["_sip._tcp"],` +
				`"dnssec_enabled":true,"enabled":true,"description":"x","answer":"address","regions":["eu"],"tags":["shop"]}`, 201,
			each("domain.", shapeDomain+shapeMore+" "+shapeSettings+tuned)},
		{"POST /api/v1/domains", "", `{"name":"new.test.gslb.test"}`, 409, shapeProblem},
		{"POST /api/v1/domains", "", `{"name":"x.test.gslb.test","routing_algorithm":"nearest"}`, 400, "error:s~proximity"},
		{"POST /api/v1/domains", "", `{"name":"` + app + `"}`, 409, shapeProblem},
		{"GET /api/v1/domains", "", "", 200, each("domains[].", shapeDomain+shapeMore+optional(shapeSettings)) + shapeListed},
		{"GET /api/v1/domains", "/v1/domains?tag=shop", "", 200,
			each("domains[].", shapeDomain+shapeMore+optional(shapeSettings)) + shapeListed},
		{"GET /api/v1/domains/{name}", made, "", 200, each("domain.", shapeDomain+shapeMore+" "+shapeSettings+tuned)},
		{"GET /api/v1/domains/{name}", "/v1/domains/none.example", "", 404, shapeProblem},
		{"PUT /api/v1/domains/{name}", made,
			`{"name":"new.test.gslb.test","ttl":30,"proximity_tolerance_km":0,"client_hash_ipv4_prefix":32,` +
				`"client_hash_ipv6_prefix":64,"https":{"alpn":[],"port":0,"ech":""},"srv":[],"min_healthy":"50%","dnssec_enabled":true,"enabled":true,"description":"",` +
				`"answer":"address","regions":["eu"],"tags":[],"routing_policy":"proximity","fallback_algorithm":"weighted"}`, 200,
			each("domain.", shapeDomain+shapeMore+" "+shapeSettings)},
		{"PUT /api/v1/domains/{name}", made, `{"routing_algorithm":"latency","max_answers":4,"on_all_down":"last_healthy",` +
			`"failover_threshold":1,"latency_config":{"smoothing_factor":1,"max_latency_ms":80,"min_samples":1,` +
			`"tolerance_ms":0},"brake":{"enabled":true,"share":"50%","window":"1m","hold":"1h"}}`, 200,
			each("domain.", shapeDomain+shapeMore+" routing_policy:s{latency} routing_algorithm:s{latency} "+
				"on_all_down:s{last_healthy} brake.hold:s{1h0m0s}")},
		{"PUT /api/v1/domains/{name}", "/v1/domains/" + app, `{"ttl":31}`, 200,
			each("domain.", shapeDomain+shapeMore+" "+shapeSettings+" overlay.fields:o overlay.configured:o overlay.by:s")},
		{"PATCH /api/v1/domains/{name}", "/v1/domains/" + app, `{"ttl":0}`, 400, "error:s~ttl"},
		{"GET /api/v1/config/overlays", "", "", 200, each("overlays[].", "kind:s{domain} id:s fields:o configured:o by:s "+
			"updated_at:t in_force:b reason:s-") + shapeListed},
		{"DELETE /api/v1/domains/{name}/overlay", "/v1/domains/" + app + "/overlay", "", 204, ""},
		{"DELETE /api/v1/domains/{name}/overlay", "/v1/domains/" + app + "/overlay", "", 404, "error:s~laid"},
		{"DELETE /api/v1/domains/{name}", "/v1/domains/" + app, "", 400, shapeProblem},
		{"PATCH /api/v1/domains/{name}", made,
			`{"ttl":25,"answer":"address","fallback_algorithm":"","routing_policy":"round-robin","min_healthy":""}`, 200,
			each("domain.", shapeDomain)},
		{"PATCH /api/v1/domains/{name}", made, `{"ttl":null,"on_all_down":null,"latency_config":null,"brake":null}`, 200,
			each("domain.", shapeDomain+shapeMore)},
		{"PATCH /api/v1/domains/{name}", made, `{"ttl":0}`, 400, "error:s~ttl"},
		{"PATCH /api/v1/domains/{name}", made, `{"routing_policy":"nearest"}`, 400, "error:s~proximity"},
		{"PATCH /api/v1/domains/{name}", made, `{"routing_policy":"latency","fallback_algorithm":"none"}`, 400,
			"error:s~fallback_algorithm"},
		{"PATCH /api/v1/domains/{name}", made, `{"max_answers":0}`, 400, "error:s~max_answers"},
		{"PATCH /api/v1/domains/{name}", made, `{"on_all_down":"some"}`, 400, "error:s~on_all_down"},
		{"PATCH /api/v1/domains/{name}", made, `{"failover_threshold":0}`, 400, "error:s~failover_threshold"},
		{"PATCH /api/v1/domains/{name}", made, `{"latency_config":{"smoothing_factor":2}}`, 400, "error:s~smoothing_factor"},
		{"PATCH /api/v1/domains/{name}", made, `{"brake":{"share":"101%"}}`, 400, "error:s~brake.share"},
		{"PATCH /api/v1/domains/{name}", made, `{"min_healthy":"101%"}`, 400, "error:s~min_healthy"},
		{"PATCH /api/v1/domains/{name}", made, `{"proximity_tolerance_km":-1}`, 400, "error:s~proximity_tolerance_km"},
		{"PATCH /api/v1/domains/{name}", made, `{"client_hash_ipv4_prefix":33}`, 400, "error:s~client_hash_ipv4_prefix"},
		{"PATCH /api/v1/domains/{name}", made, `{"client_hash_ipv6_prefix":65}`, 400, "error:s~client_hash_ipv6_prefix"},
		{"PATCH /api/v1/domains/{name}", made, `{"dnssec_enabled":false}`, 400, "error:s~zone:"},
		{"PATCH /api/v1/domains/{name}", made, `{"regions":["mars"]}`, 400, "error:s~mars"},
		{"POST /api/v1/domains/{name}/backends", made + "/backends",
			`{"address":"192.0.2.8","port":80,"weight":5,"region":"eu"}`, 201, shapeNamed},
		{"POST /api/v1/domains/{name}/backends", made + "/backends", `{"address":"192.0.2.8","port":80,"region":"eu"}`, 400,
			shapeProblem},
		{"POST /api/v1/domains/{name}/backends", "/v1/domains/none.example/backends",
			`{"address":"192.0.2.8","port":80,"region":"eu"}`, 400, shapeProblem},
		{"GET /api/v1/domains/{name}/backends", made + "/backends", "", 200,
			each("backends[].", "id:s address:s port:i weight:i priority:i region:s healthy:b enabled:b last_check:t?") +
				shapeListed},
		{"DELETE /api/v1/domains/{name}/backends/{id}", made + "/backends/new.test.gslb.test:192.0.2.8:80", "", 204, ""},
		{"DELETE /api/v1/domains/{name}/backends/{id}", made + "/backends/new.test.gslb.test:192.0.2.8:80", "", 404,
			shapeProblem},

		{"POST /api/v1/servers", "",
			`{"service":"new.test.gslb.test","address":"192.0.2.9","port":80,"region":"eu","agent":"eu-web-2"}`, 201,
			shapeNamed},
		{"POST /api/v1/servers", "", `{"service":"new.test.gslb.test","address":"192.0.2.9","port":80,"region":"eu"}`, 400,
			shapeProblem},
		{"POST /api/v1/servers", "", `{"service":"none.example","address":"192.0.2.9","port":80,"region":"eu"}`, 400,
			shapeProblem},
		{"POST /api/v1/servers", "",
			`{"service":"new.test.gslb.test","address":"192.0.2.9","port":80,"weight":1001,"region":"eu"}`, 400, shapeProblem},
		{"POST /api/v1/servers", "", `{"service":"new.test.gslb.test","target":"lb.invalid","port":80,"region":"eu",` +
			`"allowed_cidrs":["10.0.0.0/8"]}`, 201, shapeNamed},
		{"POST /api/v1/servers", "", `{"service":"new.test.gslb.test","target":"192.0.2.300","port":80,"region":"eu"}`, 400,
			shapeProblem},
		{"POST /api/v1/servers", "", `{"service":"new.test.gslb.test","address":"192.0.2.10","port":80,"region":"eu",` +
			`"health_check":{"enabled":true,"type":"http","path":"/x","interval":"8s","timeout":"2s","healthy_threshold":1,` +
			`"unhealthy_threshold":4,"expected_status":"200"}}`, 201, shapeNamed},
		{"GET /api/v1/servers/{id}/health-check", checked + "/health-check", "", 200,
			shapeCheck + " health_check.type:s{http} health_check.path:s{/x}"},
		{"DELETE /api/v1/servers/{id}", checked, "", 204, ""},
		{"POST /api/v1/servers", "", `{"service":"new.test.gslb.test","address":"192.0.2.10","port":80,"region":"eu",` +
			`"health_check":{"enabled":true,"type":"icmp"}}`, 400, "error:s~type"},
		{"GET /api/v1/servers/{id}", checked, "", 404, shapeProblem},
		{"PATCH /api/v1/servers/{id}", named, `{"weight":7,"allowed_cidrs":[]}`, 200, shapeNamed},
		{"GET /api/v1/servers/{id}", named, "", 200, shapeTarget},
		{"GET /api/v1/servers", "", "", 200, each("servers[].", shapeServer) + each(" targets[].", shapeTarget) + shapeListed},
		{"DELETE /api/v1/servers/{id}", named, "", 204, ""},
		{"GET /api/v1/servers/{id}", mine, "", 200, shapeServer},
		{"GET /api/v1/servers/{id}", known, "", 200, shapeServer},
		{"GET /api/v1/servers/{id}", "/v1/servers/none.example:192.0.2.1:1", "", 404, shapeProblem},
		{"PATCH /api/v1/servers/{id}", mine, `{"weight":7,"region":"eu"}`, 200, shapeNamed},
		{"PATCH /api/v1/servers/{id}", mine, `{"agent":"eu-web-1"}`, 200, shapeNamed},
		{"PATCH /api/v1/servers/{id}", mine, `{"agent":"no id"}`, 400, shapeProblem},
		{"PATCH /api/v1/servers/{id}", mine, `{"agent":""}`, 200, shapeNamed},
		{"GET /api/v1/servers/{id}/health-check", mine + "/health-check", "", 200, shapeCheck},
		{"PUT /api/v1/servers/{id}/health-check", mine + "/health-check",
			`{"enabled":true,"type":"http","path":"/x","interval":"8s","timeout":"2s","healthy_threshold":1,` +
				`"unhealthy_threshold":4,"expected_status":"200,301-308"}`, 200, shapeCheck},
		{"PATCH /api/v1/servers/{id}/health-check", mine + "/health-check", `{"interval":"9s"}`, 200, shapeCheck},
		{"PATCH /api/v1/servers/{id}/health-check", mine + "/health-check", `{"enabled":false}`, 200, shapeCheck},
		{"POST /api/v1/servers/{id}/drain", mine + "/drain", `{"share":0.5,"reason":"x","source":"y","expires_in":"1h",` +
			planned + `}`, 202, shapeDrain},
		{"POST /api/v1/servers/{id}/drain", mine + "/drain?replace_planned=true", `{"duration":"1h"}`, 202,
			shapeDrain},
		{"DELETE /api/v1/servers/{id}/drain", mine + "/drain", "", 200, shapeDrain},
		{"DELETE /api/v1/servers/{id}", known, "", 400, shapeProblem},
		{"PATCH /api/v1/servers/{id}", known, `{"weight":7}`, 400, shapeProblem}, // only an agent declares it
		{"DELETE /api/v1/servers/{id}/overlay", known + "/overlay", "", 404, shapeProblem},
		{"DELETE /api/v1/servers/{id}", mine, "", 204, ""},
		{"DELETE /api/v1/domains/{name}", made, "", 204, ""},

		{"POST /api/v1/regions", "",
			`{"name":"ap","code":"AP","description":"x","latitude":1.5,"longitude":103,"continent":"AS","countries":["SG",` +
				`"JP"],"enabled":true,"priority":2,"routing_algorithm":"client-hash","proximity_bias":-10}`, 201,
			shapeRegion + " source:s{api} routing_algorithm:s{client-hash} proximity_bias:i"},
		{"POST /api/v1/regions", "", `{"name":"ap"}`, 400, shapeProblem},
		{"POST /api/v1/regions", "", `{"name":"US East","code":"us-east"}`, 201, shapeRegion + " id:s{us-east}"},
		{"PATCH /api/v1/regions/{id}", "/v1/regions/us-east", `{"name":"Ohio, US"}`, 200, shapeRegion + " name:s~Ohio,"},
		{"DELETE /api/v1/regions/{id}", "/v1/regions/us-east", "", 204, ""},
		{"GET /api/v1/regions", "/v1/regions?enabled=true&continent=AS", "", 200,
			each("regions[].", shapeRegion) + shapeListed},
		{"GET /api/v1/regions/{id}", "/v1/regions/ap", "", 200, shapeRegion},
		{"PUT /api/v1/regions/{id}", "/v1/regions/ap", `{"code":"B"}`, 200, shapeRegion},
		{"PATCH /api/v1/regions/{id}", "/v1/regions/ap",
			`{"name":"ap","description":"y","latitude":-90,"longitude":180,"continent":"AS","countries":["SG"],` +
				`"enabled":true,"priority":3,"routing_algorithm":"latency","proximity_bias":99}`, 200,
			shapeRegion + " routing_algorithm:s{latency} proximity_bias:i"},
		{"PATCH /api/v1/regions/{id}", "/v1/regions/ap", `{"routing_algorithm":"geolocation"}`, 400,
			"error:s~routing_algorithm"},
		{"PATCH /api/v1/regions/{id}", "/v1/regions/ap", `{"proximity_bias":100}`, 400, "error:s~proximity_bias"},
		{"PATCH /api/v1/regions/{id}", "/v1/regions/ap", `{"latitude":91}`, 400, "error:s~latitude"},
		{"PATCH /api/v1/regions/{id}", "/v1/regions/ap", `{"countries":["sg"]}`, 400, "error:s~countries"},
		{"PUT /api/v1/regions/{id}", "/v1/regions/eu", `{"code":"B"}`, 200, shapeRegion + " overlay.fields:o"},
		{"PATCH /api/v1/regions/{id}", "/v1/regions/eu", `{"enabled":false}`, 200, shapeRegion + " overlay.fields:o"},
		{"DELETE /api/v1/regions/{id}/overlay", "/v1/regions/eu/overlay", "", 204, ""},
		{"DELETE /api/v1/regions/{id}", "/v1/regions/eu", "", 400, shapeProblem},

		{"PUT /api/v1/geo/mappings", "", `{"cidr":"198.51.100.0/24","region":"ap","comment":"x"}`, 201,
			"cidr:s region:s comment:s source:s{config|api}"},
		{"PATCH /api/v1/geo/mappings", "", `{"cidr":"198.51.100.0/24","comment":"y"}`, 200,
			"cidr:s region:s comment:s source:s{config|api}"},
		{"PUT /api/v1/geo/mappings", "", `{"cidr":"198.51.100.0/24","region":"mars"}`, 400, shapeProblem},
		{"GET /api/v1/geo/mappings", "", "", 200, each("mappings[].", "cidr:s region:s comment:s source:s{config|api}") +
			shapeListed},
		{"GET /api/v1/geo/test", "/v1/geo/test?ip=198.51.100.7", "", 200,
			"ip:s region:s match_type:s{custom_mapping|country|continent|default} matched_cidr:s comment:s country:s " +
				"continent:s scope_prefix:i"},
		{"DELETE /api/v1/regions/{id}", "/v1/regions/ap", "", 409, shapeProblem},
		{"DELETE /api/v1/geo/mappings/{cidr}", "/v1/geo/mappings/198.51.100.0%2F24", "", 204, ""},
		{"DELETE /api/v1/geo/mappings/{cidr}", "/v1/geo/mappings/198.51.100.0/24", "", 404, shapeProblem},
		{"DELETE /api/v1/regions/{id}", "/v1/regions/ap", "", 204, ""},

		{"GET /api/v1/nodes/overwatch", "/v1/nodes/overwatch?status=online&region=eu", "", 200,
			each("nodes[].", shapeOwNode) + shapeListed},
		{"GET /api/v1/nodes/overwatch/{id}", "/v1/nodes/overwatch/ow-1", "", 200, shapeOwNode},
		{"POST /api/v1/nodes/agent", "", `{"name":"soon","address":"192.0.2.1","port":9100,"region":"eu","version":"1"}`, 201,
			shapeAgentNode},
		{"GET /api/v1/nodes/agent", "/v1/nodes/agent?status=pending&region=eu", "", 200,
			each("nodes[].", shapeAgentNode) + shapeListed},
		{"GET /api/v1/nodes/agent/{id}", "/v1/nodes/agent/" + agentID, "", 200, shapeAgentNode},
		{"GET /api/v1/nodes/agent/{id}", "/v1/nodes/agent/nobody", "", 404, shapeProblem},
		{"DELETE /api/v1/nodes/agent/{id}", "/v1/nodes/agent/soon", "", 204, ""},
		{"GET /api/v1/nodes/agent/{id}/certificate", "/v1/nodes/agent/" + agentID + "/certificate", "", 200,
			each("certificate.",
				"agent_id:s serial:s not_before:t not_after:t fingerprint:s status:s{valid|not_yet_valid|expired|revoked} "+
					"issued_at:t")},

		{"GET /api/v1/gossip/nodes", "/v1/gossip/nodes?status=alive", "", 200,
			each("nodes[].", shapeGossiper) + shapeListed + " healthy:i"},
		{"GET /api/v1/gossip/nodes/{id}", "/v1/gossip/nodes/ow-1", "", 200, shapeGossiper},
		{"GET /api/v1/gossip/config", "", "", 200, shapeGossip},
		{"PUT /api/v1/gossip/config", "",
			`{"seeds":["127.0.0.1:1"],"cluster_name":"emea","gossip_interval_ms":200,` +
				`"probe_interval_ms":1000,"probe_timeout_ms":400}`, 200,
			shapeGossip},
		{"PATCH /api/v1/gossip/config", "", `{"gossip_interval_ms":300}`, 200, shapeGossip},
		{"DELETE /api/v1/gossip/config", "", "", 204, ""},
		{"POST /api/v1/gossip/generate-key", "", "", 200, "key:s algorithm:s{AES-256-GCM} bits:i"},

		{"GET /api/v1/dnssec/status", "", "", 200, "enabled:b keys[].key_tag:i " + each("keys[].",
			"zone:s flags:i algorithm:i created_at:t age_seconds:i active:b "+
				shapeKeyStage) + " " + each("sync.peers[].",
			"peer:s- node_id:s- ok:b- last_attempt:t?- last_success:t?- imported:i- ignored:i- error:s?-") +
			" sync.enabled:b sync.last_sync:t? sync.last_sync_error:s? sync.next_sync:t? sync.peer_count:i sync.off_reason:s?"},
		{"GET /api/v1/dnssec/ds", "", "", 200, "enabled:b no_ds:a warning:s? " + each("ds_records[].",
			"zone:s key_tag:i algorithm:i digest_type:i digest:s ds_record:s")},
		{"GET /api/v1/dnssec/keys", "", "", 200, "enabled:b sealed:s- " + each("keys[].",
			"zone:s key_tag:i algorithm:i algorithm_name:s flags:i public_key:s created_at:t "+
				"state:s{published|active|retired} origin_node:s "+shapeKeyStage)},
		{"GET /api/v1/dnssec/parent/{zone}", "/v1/dnssec/parent/test.gslb.test", "", 200, "zone:s{test.gslb.test.} " +
			each("ds_records[].", "zone:s- key_tag:i- algorithm:i- digest_type:i- digest:s- ds_record:s-") +
			" configured:b problem:s?"},
		{"GET /api/v1/dnssec/parent/{zone}", "/v1/dnssec/parent/none.example", "", 404, shapeProblem},
		{"POST /api/v1/dnssec/sync", "", "", 400, shapeProblem},
		{"POST /api/v1/dnssec/rollover/{zone}/sign", "/v1/dnssec/rollover/test.gslb.test/sign", "", 409, shapeProblem},
		{"POST /api/v1/dnssec/rollover/{zone}/unsign", "/v1/dnssec/rollover/none.example/unsign", "", 404, shapeProblem},
		{"POST /api/v1/dnssec/rollover/{zone}/unsign", "/v1/dnssec/rollover/test.gslb.test/unsign?dry_run=true", "", 200,
			shapeRoll},
		{"POST /api/v1/dnssec/rollover/{zone}/unsign", "/v1/dnssec/rollover/TEST.gslb.test./unsign", "", 200, shapeRoll},
		{"POST /api/v1/dnssec/rollover/{zone}/unsign", "/v1/dnssec/rollover/test.gslb.test/unsign", "", 409, shapeProblem},
		{"POST /api/v1/dnssec/rollover/{zone}/sign", "/v1/dnssec/rollover/test.gslb.test/sign", "", 200, shapeRoll},
		{"POST /api/v1/dnssec/rollover", "/v1/dnssec/rollover?dry_run=true", `{"zone":"test.gslb.test"}`, 200, shapeRoll},
		{"POST /api/v1/dnssec/rollover", "", `{"zone":"test.gslb.test","emergency":false,"algorithm":"ED25519"}`, 200, shapeRoll},
		{"POST /api/v1/dnssec/rollover", "", `{"zone":"test.gslb.test"}`, 409, shapeProblem},
		{"POST /api/v1/dnssec/rollover", "/v1/dnssec/rollover?dry_run=true",
			`{"zone":"test.gslb.test","emergency":true,"take_over":true}`, 200, shapeRoll},
		{"POST /api/v1/dnssec/rollover", "", `{"zone":"none.example"}`, 404, shapeProblem},
		{"POST /api/v1/dnssec/rollover", "", `{}`, 400, "error:s~zone"},
		{"POST /api/v1/dnssec/rollover", "", `{"zone":"none.example","algorithm":"RSA"}`, 400, "error:s~ED25519"},
		{"GET /api/v1/dnssec/rollover", "", "", 200, "enabled:b " + each("rolls[].", shapeRoll)},
		{"POST /api/v1/dnssec/rollover/{zone}/confirm", "/v1/dnssec/rollover/test.gslb.test/confirm", "", 409, shapeProblem},
		{"POST /api/v1/dnssec/rollover/{zone}/force", "/v1/dnssec/rollover/none.example/force", "", 404, shapeProblem},
		{"DELETE /api/v1/dnssec/rollover/{zone}", "/v1/dnssec/rollover/TEST.gslb.test.", "", 200, shapeRoll},
		{"DELETE /api/v1/dnssec/rollover/{zone}", "/v1/dnssec/rollover/none.example", "", 404, shapeProblem},
		{"GET /api/v1/replication", "", "", 200, "enabled:b off_reason:s? node_id:s objects:i tombstones:i joining:b " +
			"digest:s " + each("peers[].", "peer:s- node_id:s- connected:b- since:t- behind:i- clock_difference_ms:i- "+
			"rejected:i- error:s?-") + " " + each("refused[].", "kind:s- name:s- reason:s- node:s- peer:s-") + " " +
			each("unused[].", "kind:s- name:s- reason:s- node:s- peer:s-") + " unused_total:i"},
		{"GET /api/v1/replication/objects", "", "", 200, "sealed:s-"},

		{"GET /api/v1/overwatch/backends", "/v1/overwatch/backends?service=" + app, "", 200,
			each("backends[].", shapeBackend) + shapeListed},
		{"POST /api/v1/overwatch/backends/{service}/{address}/{port}/override", where + "/override",
			`{"healthy":true,"reason":"x",` + planned + `}`, 200, shapeSuccess},
		{"POST /api/v1/overwatch/backends/{service}/{address}/{port}/override", where + "/override?replace_planned=true",
			`{"healthy":true,"reason":"x","source":"y","expires_in":"30m"}`, 200, shapeSuccess},
		{"GET /api/v1/overwatch/backends/{service}/{address}/{port}", where, "", 200,
			shapeBackend + " override.healthy:b override.reason:s override.by:s override.at:t override.expires_at:t"},
		{"DELETE /api/v1/overwatch/backends/{service}/{address}/{port}/override", where + "/override", "", 200, shapeSuccess},
		{"PUT /api/v1/overwatch/backends/{service}/{address}/{port}/weight", where + "/weight",
			`{"weight":7,"reason":"x",` + planned + `}`, 200, shapeOrder + " weight:i starts_at:t"},
		{"PATCH /api/v1/overwatch/backends/{service}/{address}/{port}/weight", where + "/weight", `{"reason":"y"}`, 200,
			shapeOrder + " weight:i starts_at:t"},
		{"PUT /api/v1/overwatch/backends/{service}/{address}/{port}/weight", where + "/weight?replace_planned=true",
			`{"weight":7,"reason":"x","source":"y","expires_in":"30m"}`, 200, shapeOrder + " weight:i"},
		{"POST /api/v1/audit-logs/{id}/undo", "/v1/audit-logs/last/undo", "", 200,
			"success:b message:s entry:i entries:a- change:s- version:s- at:t action:s resource:s resource_id:s"},
		{"POST /api/v1/audit-logs/{id}/undo", "/v1/audit-logs/999999/undo", "", 404, shapeProblem},
		{"GET /api/v1/overwatch/orders", "", "", 200, each("orders[].", shapeOrder) + shapeListed},
		{"DELETE /api/v1/overwatch/backends/{service}/{address}/{port}/weight", where + "/weight", "", 204, ""},
		{"GET /api/v1/overwatch/stats", "", "", 200,
			"active_agents:i stale_backends:i total_backends:i healthy_backends:i unhealthy_backends:i draining_backends:i " +
				"cluster_name:s active_overrides:i held_backends:i " +
				"validation_enabled:b validation_suspended:b validated_backends:i " +
				"disagreement_count:i unique_services:i backends_by_service:o backends_by_region:o generated_at:t"},
		{"GET /api/v1/overwatch/brakes", "", "", 200, optional(each("brakes[].",
			"service:s agent:s region:s concern:s{unhealthy|warning} since:t until:t backends:a")) + shapeListed},
		{"DELETE /api/v1/overwatch/brakes/{service}", "/v1/overwatch/brakes/" + app, "", 200, shapeSuccess},
		{"DELETE /api/v1/overwatch/brakes/{service}", "/v1/overwatch/brakes/none.example", "", 404, shapeProblem},
		{"POST /api/v1/overwatch/validate", "/v1/overwatch/validate?service=" + app, "", 200,
			each("results[].", "service:s address:s port:i healthy:b latency_ms:n error:s?") + " checked:i"},
		{"GET /api/v1/overwatch/conditions", "", "", 200, "status:s{healthy|degraded|unhealthy} " +
			each("conditions[].", "kind:s severity:s{attention|degraded|unhealthy} subject:s sentence:s command:s") + shapeListed},
		{"GET /api/v1/overwatch/agents", "", "", 200, each("agents[].", shapeAgent) + " revoked:i expiring:i" + shapeListed},
		{"GET /api/v1/overwatch/agents/{agent_id}", "/v1/overwatch/agents/" + agentID, "", 200, shapeAgent},
		{"GET /api/v1/overwatch/agents/expiring", "/v1/overwatch/agents/expiring?threshold_days=3650", "", 200,
			each("expiring[].", shapeAgent) + " count:i threshold_days:i"},
		{"PUT /api/v1/overrides/{service}/{address}", order, `{"healthy":true,"reason":"x",` + planned + `}`, 200,
			shapeOverride},
		{"PATCH /api/v1/overrides/{service}/{address}", order, `{` + planned + `}`, 200, shapeOverride},
		{"PUT /api/v1/overrides/{service}/{address}", order + "?replace_planned=true",
			`{"healthy":true,"reason":"x","source":"y","expires_in":"30m"}`, 200, shapeOverride},
		{"PATCH /api/v1/overrides/{service}/{address}", order, `{"reason":"y"}`, 200, shapeOverride},
		{"GET /api/v1/overrides", "", "", 200, each("overrides[].", shapeOverride) + shapeListed},
		{"GET /api/v1/overrides/{service}/{address}", order, "", 200, shapeOverride},
		{"DELETE /api/v1/overrides/{service}/{address}", order, "", 204, ""},
		{"GET /api/v1/overrides/{service}/{address}", order, "", 404, shapeProblem},
		{"PUT /api/v1/overrides/{service}/{address}", "/v1/overrides/none.example/192.0.2.1", `{"healthy":true,"reason":"x"}`,
			404, shapeProblem},

		{"GET /api/v1/preferences", "", "", 200, shapeLiked},
		{"PUT /api/v1/preferences", "",
			`{"theme":"dark","language":"de-AT","timezone":"Europe/Vienna","date_format":"DD.MM.YYYY","time_format":"HH:mm",` +
				`"refresh_interval_seconds":0,"notifications_enabled":false,"default_view":"servers","custom_settings":{"a":[1,` +
				`null]}}`, 200, shapeLiked},
		{"PATCH /api/v1/preferences", "", `{"theme":"pink"}`, 400, shapeProblem},
		{"GET /api/v1/config/system", "", "", 200, each("config.",
			"version:s build_info.go_version:s build_info.git_commit:s build_info.build_date:s build_info.platform:s "+
				"mode:s{overwatch} node_id:s node_name:s region:s features:a start_time:t config_path:s data_dir:s")},
		{"GET /api/v1/config/dns", "", "", 200, shapeDnsConfig},
		{"PUT /api/v1/config/dns", "",
			`{"max_udp_size":1400,"default_ttl":45,"min_ttl":5,"max_ttl":600,"negative_ttl":20,"rate_limit_enabled":true,"rate_limit_qps":500,"return_last_healthy":true,` +
				`"zones":["test.gslb.test"]}`, 200, shapeDnsConfig},
		{"PATCH /api/v1/config/dns", "", `{"default_ttl":46}`, 200, shapeDnsConfig},
		{"DELETE /api/v1/config/dns", "", "", 204, ""},
		{"GET /api/v1/config/health-check", "", "", 200, shapeChecks},
		{"PUT /api/v1/config/health-check", "",
			`{"default_interval_seconds":9,"default_timeout_seconds":2.5,"validation_enabled":true,"healthy_threshold":3,` +
				`"unhealthy_threshold":4,"max_concurrent_checks":500}`, 200, shapeChecks},
		{"PATCH /api/v1/config/health-check", "", `{"max_concurrent_checks":0}`, 400, shapeProblem},
		{"DELETE /api/v1/config/health-check", "", "", 204, ""},
		{"GET /api/v1/config/logging", "", "", 200, shapeLogged},
		{"PUT /api/v1/config/logging", "", `{"level":"debug","format":"json"}`, 200, shapeLogged},
		{"PATCH /api/v1/config/logging", "", `{"level":"loud"}`, 400, shapeProblem},
		{"DELETE /api/v1/config/logging", "", "", 204, ""},
		{"POST /api/v1/config/validate", "", "mode: agent", 200,
			"valid:b " + each("errors[].", "line:i key:s value:s message:s")},
		{"POST /api/v1/config/reload", "", "", 200, "reloaded:b changes:a restart_required:a"},

		{"GET /api/v1/events", "", "", 200, each("events[].", "sequence:i time:t kind:s state:s "+
			"severity:s{info|warning|error|critical} phase:s{begins|ends|once} subject:s name:s region:s- "+
			"agent_id:s- cause:s sentence:s agent:s check:s changes:i "+
			"audit:i") + " oldest:i newest:i missed:b" + shapeListed},
		{"GET /api/v1/events", "/v1/events?kinds=backends", "", 400, shapeProblem},
		{"GET /api/v1/notifications", "", "", 200, "targets:a total:i " + each("targets[].", "name:s type:s queued:i sent:i "+
			"failed:i dropped:i last_sent:t? last_error:s? failing_since:t?")},
		{"POST /api/v1/notifications/test", "", "", 200, "tests:a total:i " + each("tests[].", "target:s sent:b error:s? "+
			"duration_ms:i")},
		{"POST /api/v1/notifications/test", "/v1/notifications/test?target=nobody", "", 404, shapeProblem},
		{"GET /api/v1/notifications/told", "", "", 200, "sealed:s-"},
		{"GET /api/v1/audit-logs", "", "", 200, each("entries[].", shapeEntry) + " limit:i offset:i" + shapeListed},
		{"GET /api/v1/audit-logs", "/v1/audit-logs?actions=refused&limit=5", "", 200,
			each("entries[].", shapeEntry) + " limit:i offset:i" + shapeListed},
		{"GET /api/v1/audit-logs", "/v1/audit-logs?actions=refuse", "", 400, shapeProblem},
		{"GET /api/v1/audit-logs/{id}", "/v1/audit-logs/1", "", 200, each("entry.", shapeEntry)},
		{"GET /api/v1/audit-logs/{id}", "/v1/audit-logs/999999", "", 404, shapeProblem},
		{"GET /api/v1/audit-logs/stats", "", "", 200,
			each("stats.",
				"total_entries:i entries_last_24h:i entries_last_7d:i by_action:o by_resource:o by_status:o by_actor_type:o "+
					"top_actors[].actor:s top_actors[].count:i retention_days:n oldest_entry:t? newest_entry:t?") + " generated_at:t"},
		{"GET /api/v1/audit-logs/export", "/v1/audit-logs/export?format=json", "", 200, each("entries[].", shapeEntry)},
		{"GET /api/v1/audit-logs/export", "/v1/audit-logs/export?format=json&limit=1", "", 400, shapeProblem},

		{"GET /api/v1/metrics/overview", "", "", 200,
			each("overview.",
				"timestamp:t uptime_seconds:i queries_total:i queries_per_sec:n health_checks_total:i health_checks_per_sec:n "+
					"active_domains:i active_servers:i healthy_servers:i unhealthy_servers:i stale_servers:i active_regions:i "+
					"overwatch_nodes:i agent_nodes:i dnssec_enabled:b gossip_enabled:b error_rate:n"+shapeUse+shapeTimes)},
		{"GET /api/v1/metrics/history", "", "", 200,
			"data_points:a data_points[].timestamp:t- data_points[].values:o- total:i generated_at:t"},
		{"GET /api/v1/metrics/nodes/{id}", "/v1/metrics/nodes/ow-1", "", 200,
			each("metrics.",
				"node_id:s node_type:s timestamp:t status:s uptime_seconds:i queries_total:i queries_per_sec:n checks_total:i "+
					"checks_per_sec:n error_rate:n"+shapeUse+shapeTimes)},
		{"GET /api/v1/metrics/regions/{id}", "/v1/metrics/regions/eu", "", 200,
			each("metrics.",
				"region_id:s timestamp:t total_servers:i healthy_servers:i queries_total:i queries_per_sec:n error_rate:n "+
					"traffic_percent:n "+shapeTimes)},
		{"GET /api/v1/metrics/routing", "", "", 200,
			each("stats.",
				"timestamp:t total_decisions:i by_algorithm:o by_region:o by_outcome:o geo_routing_hits:i failover_events:i "+
					"avg_decision_time_us:n")},

		{"GET /api/v1/routing/algorithms", "", "", 200, each("algorithms[].", shapeAlgorithm) + shapeListed},
		{"GET /api/v1/routing/algorithms/{id}", "/v1/routing/algorithms/weighted", "", 200,
			each("algorithm.", shapeAlgorithm)},
		{"GET /api/v1/routing/algorithms/{id}", "/v1/routing/algorithms/best", "", 404, shapeProblem},
		{"POST /api/v1/routing/test", "", `{"domain":"` + app +
			`","client_ip":"198.51.100.7","query_type":"A","edns":{"client_subnet":"203.0.113.0/24"}}`, 200,
			each("result.", explained)},
		{"POST /api/v1/routing/test", "", `{"domain":"` + app +
			`","client_ip":"198.51.100.7","edns":{"client_subnet":"203.0.113.7/24"}}`, 400, "error:s~client_subnet"},
		{"POST /api/v1/routing/test", "", `{"domain":"` + app + `","client_ip":"here"}`, 400, "error:s~client_ip"},
		{"POST /api/v1/routing/test", "", `{"domain":"` + app + `","client_ip":"198.51.100.7","query_type":"MX"}`, 400,
			"error:s~HTTPS"},
		{"POST /api/v1/routing/test", "", `{"domain":"` + app + `","place":{"latitude":50.1,"longitude":8.7}}`, 400,
			"error:s~database_path"},
		{"POST /api/v1/routing/consequences", "", `{"backends":["` + app + `:192.0.2.99:80"],"regions":["nowhere"],"agents":["` +
			agentID + `","` + otherID + `"],"removed":true}`, 200,
			optional(each("names[].", "name:s answer:s{none|last_resort|zero_weight} query_types:a serving:i minimum:i")) + shapeListed},
		{"POST /api/v1/routing/consequences", "", `{"backends":["` + app + `:192.0.2.99:80"],"zero_weight":true}`, 200,
			"names:a" + shapeListed},
		{"POST /api/v1/routing/consequences", "", `{}`, 400, "error:s~backends"},
		{"POST /api/v1/config/plan", "", wholeConfig, 200, shapePlan},
		{"POST /api/v1/config/plan", "", "mode: overwatch\nnonsense: 1\n", 400, "error:s~nonsense"},
		{"POST /api/v1/document/plan", "", wholeDocument, 200, shapePlan},
		{"POST /api/v1/document/plan", "", `{"document":{"domains":[{"name":"plan.test.gslb.test","ttl":0}]}}`, 400,
			"error:s~ttl problems[].object:s problems[].problem:s"},
		{"POST /api/v1/document/apply", "", wholeDocument, 200, shapePlan},
		{"GET /api/v1/document", "", "", 200, shapeDocument},
		{"POST /api/v1/document/apply", "", `{"document":{},"owner":"test","prune":true}`, 200, shapePlan},
		{"GET /api/v1/routing/decisions", "", "", 200,
			each("decisions[].",
				"id:s timestamp:t domain:s query_type:s{A|AAAA} client_subnet:s client_region:s algorithm:s selected_server:s "+
					"selected_region:s outcome:s snapshot_generation:i") + " limit:i offset:i" + shapeListed},
		{"GET /api/v1/routing/decisions/{id}", "/v1/routing/decisions/" + decision, "", 200, each("result.", explained)},
		{"GET /api/v1/routing/decisions/{id}", "/v1/routing/decisions/999999", "", 404, shapeProblem},
		{"GET /api/v1/routing/flows", "", "", 200, "flows:a " + each("flows[].",
			"source_region:s- destination_region:s- domain:s- request_count:i- share:n- timestamp:t-") + " uncounted:i" +
			shapeListed},
		{"GET /api/v1/routing/answers", "/v1/routing/answers?domain=" + testbed.AppName, "", 200,
			"domain:s query_type:s{A|AAAA} snapshot_generation:i answers[].client_region:s answers[].everybody:b " +
				"answers[].decision:s answers[].algorithm:s answers[].ttl:i answers[].addresses[].address:s " +
				"answers[].addresses[].share:n" + shapeListed},
		{"GET /api/v1/routing/answers", "/v1/routing/answers?domain=nx.invalid", "", 404, shapeProblem},

		{"GET /api/v1/openapi.json", "", "", 200, "openapi:s paths:o"},
		{"GET /api/docs", "", "", 200, "page"},
		{"GET /api/docs/docs.js", "", "", 200, "page"},
		{"GET /api/docs/docs.css", "", "", 200, "page"},

		{"POST /api/v1/nodes/agent/{id}/certificate", "/v1/nodes/agent/" + otherID + "/certificate", "", 201,
			"message:s status:s{pending}"},
		{"DELETE /api/v1/nodes/agent/{id}/certificate", "/v1/nodes/agent/" + agentID + "/certificate", "", 204, ""},
		{"POST /api/v1/overwatch/agents/{agent_id}/revoke", "/v1/overwatch/agents/" + agentID + "/revoke",
			`{"reason":"x","lock_service":true}`, 200, shapeSuccess + " services:a locked:a next:a"},
		{"DELETE /api/v1/overwatch/agents", "/v1/overwatch/agents?service=" + testbed.AppName + "&never_reported=true", "",
			200, "unpinned:a remaining:i dry_run:b"},
		{"DELETE /api/v1/overwatch/agents", "", "", 400, shapeProblem},
		{"GET /api/v1/overwatch/locks", "", "", 200,
			each("locks[].", "service:s agent_id:s reason:s locked_at:t admits_new:b") + shapeListed},
		{"DELETE /api/v1/overwatch/locks/{service}", "/v1/overwatch/locks/" + testbed.AppName, "", 200, shapeSuccess},
		{"DELETE /api/v1/overwatch/locks/{service}", "/v1/overwatch/locks/" + testbed.AppName, "", 404, shapeProblem},
		{"DELETE /api/v1/overwatch/agents/{agent_id}", "/v1/overwatch/agents/" + agentID, "", 200, shapeSuccess},
		{"GET /api/v1/overwatch/agents/{agent_id}", "/v1/overwatch/agents/" + agentID, "", 404, shapeProblem},
		{"POST /api/v1/nodes/agent/{id}/certificate", "/v1/nodes/agent/" + agentID + "/certificate", "", 404, shapeProblem},
		{"DELETE /api/v1/nodes/agent/{id}", "/v1/nodes/agent/" + agentID, "", 404, shapeProblem},
	}
}

// Every method of every path that the running program answers, against what is promised of it.
func TestContract_EveryOperationAnswersAsPromised(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 1, 2)
	n, b := s.Nodes[0], s.Backends[0]
	n.File.Routing = &harness.Routing{DecisionSample: 1}
	testbed.Notify("webhook", "http://"+testbed.UnusedAddress(t), n)
	s.StartPrograms(t) // without a watch, whose questions would in the end take the place of the sampled one
	testbed.Exchange(t, "udp", n, testbed.AppName, dns.TypeA)
	var sampled api.RoutingDecisionList
	testbed.Until(t, testbed.StartBound, "a sampled decision", func(ctx context.Context) (err error) {
		if sampled, err = n.Client.RoutingDecisions(ctx, nil); err == nil && len(sampled.Decisions) == 0 {
			err = errors.New("there is none")
		}
		return err
	})
	d := documentOf(t, n)
	missing := map[string]bool{} // operations of the document; a test of the API holds it against the routes both ways
	for path, methods := range d.paths {
		for method := range methods {
			missing[strings.ToUpper(method)+" "+path] = false
		}
	}
	rows := contract(testbed.AppName, b.At.String(), s.Agents[0].Name, s.Agents[1].Name, sampled.Decisions[0].ID)
	checkFields(t, d.raw, rows)
	for _, r := range rows {
		if _, known := missing[r.operation]; !known {
			t.Errorf("%s is promised, and the node does not describe it", r.operation)
		}
		missing[r.operation] = true
		if agent := s.Agents[0]; strings.HasPrefix(r.operation, "DELETE /api/v1/nodes/agent/") && agent.Running() {
			testbed.Kill(t, agent) // which would enrol again by itself
		}
		r.try(t, n, d)
	}
	for operation, tried := range missing {
		if !tried {
			t.Errorf("%s has no row here: add what is promised of it", operation)
		}
	}
}

func request(t *testing.T, n *harness.Node, method, path, body string) (int, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, n.Client.Node()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json") // which YAML may be called, too
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if kind := answer.Header.Get("Content-Type"); len(content) > 0 && strings.HasPrefix(path, "/api/v1") &&
		kind != "application/json" {
		t.Errorf("%s %s: Content-Type %q", method, path, kind)
	}
	if answer.Header.Get("X-Request-Id") == "" {
		t.Errorf("%s %s: no X-Request-Id", method, path)
	}
	return answer.StatusCode, content
}

// try makes the request and checks the answer, against the shape of the row and against the document.
func (r row) try(t *testing.T, n *harness.Node, d *apiDocument) {
	t.Helper()
	method, described, _ := strings.Cut(r.operation, " ")
	path := described
	if r.path != "" {
		path = "/api" + r.path
	}
	status, body := request(t, n, method, path, r.body)
	what := fmt.Sprintf("%s %s %s: %d %.300s", method, path, r.body, status, body)
	if status != r.status {
		t.Errorf("%s\nwant status %d", what, r.status)
		return
	}
	// The document describes a server by its address, and not one that is a host name.
	if err := d.check(method, described, status, body); err != nil && r.shape != shapeTarget {
		t.Error(err)
	}
	if r.shape == "" || r.shape == "page" {
		if (len(body) > 0) != (r.shape == "page") {
			t.Errorf("%s\nhas %d bytes of body", what, len(body))
		}
		return
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Errorf("%s\n%v", what, err)
		return
	}
	for _, field := range strings.Fields(r.shape) {
		name, kind, _ := strings.Cut(field, ":")
		if wrong := fits(value, strings.Split(name, "."), kind); wrong != "" {
			t.Errorf("%s\n%s %s", what, field, wrong)
		}
	}
}

// fits describes the mismatch of the field at a path with its kind, "" for none.
func fits(value any, path []string, kind string) string {
	if len(path) == 0 {
		return fitsKind(value, kind)
	}
	name, list := strings.CutSuffix(path[0], "[]")
	object, _ := value.(map[string]any)
	inner, there := object[name]
	if !there {
		if strings.HasSuffix(kind, "-") {
			return ""
		}
		return "is missing"
	}
	if !list {
		return fits(inner, path[1:], kind)
	}
	elements, _ := inner.([]any)
	if len(elements) == 0 && !strings.HasSuffix(kind, "-") {
		return "is in an empty list"
	}
	for _, element := range elements {
		if wrong := fits(element, path[1:], kind); wrong != "" {
			return wrong
		}
	}
	return ""
}

func fitsKind(value any, kind string) string {
	kind, nullable := strings.CutSuffix(strings.TrimSuffix(kind, "-"), "?")
	if value == nil && nullable {
		return ""
	}
	kind, part, _ := strings.Cut(kind, "~")
	kind, words, closed := strings.Cut(strings.TrimSuffix(kind, "}"), "{")
	text, isText := value.(string)
	number, isNumber := value.(float64)
	ok := false
	switch kind {
	case "s":
		ok = isText && (!closed || slices.Contains(strings.Split(words, "|"), text)) && strings.Contains(text, part)
	case "x":
		ok = true
	case "i":
		ok = isNumber && number == math.Trunc(number)
	case "n":
		ok = isNumber
	case "b":
		_, ok = value.(bool)
	case "t":
		at, err := time.Parse(time.RFC3339, text)
		ok = err == nil && strings.HasSuffix(text, "Z") && !at.IsZero()
	case "o":
		_, ok = value.(map[string]any)
	case "a":
		_, ok = value.([]any)
	}
	if !ok {
		return fmt.Sprintf("is %v", value)
	}
	return ""
}
