package api_test

// Common shapes of answers of several rows; see row.
const (
	shapeProblem = "error:s"
	shapeNamed   = "message:s id:s"
	shapeListed  = " total:i generated_at:t"
	shapeServer  = "id:s service:s address:s target:s- port:i weight:i region:s source:s{static|agent|api} " +
		"effective_status:s{healthy|unhealthy|stale} agent_healthy:b? agent:s- draining:b created_at:t updated_at:t" +
		shapeLaid
	shapeTarget = "id:s service:s address:s- target:s port:i weight:i region:s agent:s- host:s allowed_cidrs:a- " +
		"owner:s- addresses:a problem:s- created_at:t updated_at:t health_check.enabled:b- health_check.type:s " +
		"health_check.path:s " +
		"health_check.interval:s health_check.timeout:s health_check.healthy_threshold:i " +
		"health_check.unhealthy_threshold:i health_check.expected_status:s " + shapeHealthCheck
	shapeRoll = "zone:s way:s{key|unsigned|signed} stage:s{signing|published|offered|alone|unsigned|done} since:t " +
		"started_at:t started_by:s emergency:b key_tag:i old_keys:a ds_record:s waits_for:s? waits_until:t? " +
		"parent_since:t? confirmed_at:t? schedule:a schedule[].stage:s{signing|published|offered|alone|unsigned|done}- " +
		"schedule[].not_before:t- schedule[].waits_for:s?- advice:a " +
		"advice[].act:s{replace_ds|remove_ds|remove_key|cancel}- advice[].safe:b- " +
		"advice[].until:t?- advice[].reason:s?-"
	shapeKeyStage = "stage:s{incoming|active|retiring|published|retired}"
	shapeDomain   = "id:s name:s ttl:i routing_policy:s dnssec_enabled:b enabled:b description:s"
	shapeLaid     = " overlay.fields:o- overlay.configured:o- overlay.by:s- overlay.updated_at:t- overlay.in_force:b-"
	shapeMore     = " health_check_id:s tags:a backend_count:i healthy_backends:i created_at:t updated_at:t " +
		"serving_backends:i required_backends:i answer_status:s{normal|fallback|none|disabled} source:s{config|api} " +
		"fallback_algorithm:s- min_healthy:s- proximity_tolerance_km:n- client_hash_ipv4_prefix:i- " +
		"client_hash_ipv6_prefix:i- answer:s{address|cname} https.alpn:a- https.port:i- https.ech:s- srv:a- " +
		"owner:s-" + shapeRouting + shapeLaid
	// shapeRouting contains the settings of a domain that routing_policy left to the configuration file in version 0.9.0.
	shapeRouting = " routing_algorithm:s regions:a max_answers:i on_all_down:s- geofence:s- failover_threshold:i " +
		"latency_config.smoothing_factor:n latency_config.max_latency_ms:i latency_config.min_samples:i " +
		"latency_config.tolerance_ms:i brake.enabled:b- brake.share:s- brake.window:s- brake.hold:s- " +
		"recovery.ramp:s- flap.delay:s- flap.max_delay:s- failback:x- active_regions:a- " +
		"pending_failbacks[].domain:s- pending_failbacks[].region:s- pending_failbacks[].failback:x- " +
		"pending_failbacks[].since:t- pending_failbacks[].serving:i- pending_failbacks[].required:i- " +
		"pending_failbacks[].can_serve_since:t?- pending_failbacks[].returns_at:t?-"
	shapeFailback = "domain:s region:s failback:x since:t serving:i required:i can_serve_since:t? returns_at:t?"
	shapeSettings = "settings.geo_routing_enabled:b settings.failover_enabled:b settings.failover_threshold:i " +
		"settings.load_balancing_method:s"
	shapeMapping = "cidr:s region:s comment:s source:s{config|api} owner:s- created_at:t- updated_at:t-"
	shapeRegion  = "id:s name:s code:s description:s latitude:n? longitude:n? continent:s countries:a enabled:b " +
		"priority:i server_count:i healthy_servers:i serving_servers:i source:s{config|api} routing_algorithm:s- " +
		"proximity_bias:i- continents:a tags:a- owner:s- created_at:t- updated_at:t- health_check.enabled:b- " +
		"health_check.type:s- health_check.path:s- health_check.interval:s- health_check.timeout:s- " +
		"health_check.healthy_threshold:i- health_check.unhealthy_threshold:i- health_check.expected_status:s- " +
		shapeHealthCheck + shapeLaid
	shapeAgentNode = "id:s name:s address:s- port:i- region:s status:s{online|offline|pending} version:s " +
		"uptime_seconds:i last_seen:t? left_at:t? checks_total:i checks_per_sec:n active_checks:i target_count:i " +
		"certificate_expiry:t? registered_at:t?"
	shapeOwNode = "id:s name:s address:s- port:i- api_port:i- region:s- status:s{online|offline|degraded} version:s- " +
		"uptime_seconds:i- last_seen:t- queries_total:i- queries_per_sec:n dnssec_enabled:b self:b"
	shapeGossiper = "id:s name:s address:s- port:i- status:s{alive|suspect|dead} state:s{self|member} region:s- " +
		"version:s- rtt_ms:i last_seen:t- joined_at:t-"
	// shapeHealthCheck contains the settings of a health check that an answer may omit.
	shapeHealthCheck = "health_check.host:s- health_check.address:s- health_check.fast_interval:s- " +
		"health_check.server_name:s- health_check.insecure_skip_verify:b- health_check.method:s- " +
		"health_check.headers:o- " +
		"health_check.body_contains:s- health_check.body_matches:s- health_check.ca_certificates:s- " +
		"health_check.counting:s- health_check.send:s- health_check.expect:s- health_check.grpc_service:s-"
	shapeCheck = "server_id:s health_check.note:s- health_check.enabled:b health_check.type:s health_check.path:s " +
		"health_check.interval:s health_check.timeout:s health_check.healthy_threshold:i " +
		"health_check.unhealthy_threshold:i health_check.expected_status:s " + shapeHealthCheck
	shapeWeightOverride = "weight_override.weight:i- weight_override.reason:s- weight_override.by:s- " +
		"weight_override.at:t- weight_override.expires_at:t?- "
	shapeBackend = "service:s address:s target:s- port:i agent_id:s region:s " +
		"effective_status:s{healthy|unhealthy|stale} agent_healthy:b? validation_healthy:b? " +
		"validation_last_check:t? id:s weight:i share:n draining:b may_serve:b " +
		"held:b reason:s agent_last_seen:t? validation_error:s? validation_latency_ms:n? validation_note:s? " +
		"validation_votes:s? " +
		"override.healthy:b- override.reason:s- override.by:s- override.at:t- override.expires_at:t?- " +
		shapeWeightOverride +
		"drain.share:n- drain.ends_at:t- drain.reason:s- drain.by:s- drain.at:t- drain.expires_at:t?- " +
		"drain.safe_at:t?- drain.stage:s{planned|draining|reduced|answered|cached|safe}-"
	shapeOverride = "service:s address:s healthy:b reason:s source:s created_at:t created_by:s starts_at:t? " +
		"expires_at:t? in_force:b"
	shapeOrder = "kind:s{override|weight|drain} service:s address:s healthy:b- weight:i- share:n- " +
		"duration:s- reason:s " +
		"source:s created_at:t created_by:s starts_at:t? expires_at:t? in_force:b"
	shapeDrain = "draining:b drain_ends_at:t? share:n starts_at:t? expires_at:t? safe_at:t? " +
		"stage:s{planned|draining|reduced|answered|cached|safe}-"
	shapeAgent = "agent_id:s fingerprint:s region:s services:a version:s first_seen:t last_seen:t? left_at:t? " +
		"not_after:t expires_in_hours:n revoked:b revoked_at:t? revoked_reason:s backends:i problems:a"
	shapeEntry = "id:i timestamp:t action:s{create|update|delete|revoke|drain|undrain|weight|clear_weight|" +
		"override|clear_override|begin|expire|hold|release|reload|roll|cancel|confirm|unsign|sign|force|sync|apply|" +
		"validate|refused} resource:s resource_id:s actor:s actor_type:s{user|system} " +
		"actor_ip:s status:s{success|failure} details:o duration_ms:n request_id:s previous_hash:s hash:s " +
		"before:x after:x"
	shapeState     = " overlay:a restart_required:a"
	shapeDnsConfig = "config.listen_address:a config.enable_tcp:b config.enable_udp:b config.max_udp_size:i " +
		"config.default_ttl:i config.min_ttl:i config.max_ttl:i config.negative_ttl:i config.rate_limit_enabled:b " +
		"config.rate_limit_qps:i config.return_last_healthy:b config.zones:a" + shapeState
	shapeChecks = "config.validation_enabled:b config.default_interval_seconds:n config.default_timeout_seconds:n " +
		"config.healthy_threshold:i config.unhealthy_threshold:i config.max_concurrent_checks:i " +
		"config.default_protocol:s " +
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
	shapeTimes     = "response_times.avg_ms:n response_times.p50_ms:n response_times.p95_ms:n " +
		"response_times.p99_ms:n " +
		"response_times.max_ms:n"
	shapeSuccess = "success:b message:s"
	shapeUse     = " memory.used_bytes:i? memory.available_bytes:i? memory.total_bytes:i? memory.percent:n " +
		"cpu.used_percent:n cpu.cores:i "
	shapeRouted   = "address:s port:i region:s weight:i priority:i healthy:b share:n"
	shapeDecision = "domain:s query_type:s{A|AAAA|HTTPS|SRV} client_ip:s client_subnet:s client_country:s " +
		"client_region:s nearby:o? nearby.network:s- nearby.kilometres:n- nearby.latitude:n- nearby.longitude:n- " +
		"located_by:s{ecs|resolver|custom_mapping|database|default} algorithm:s " +
		"decision:s{success|failover|fallback|no_data|no_healthy_backend|domain_not_found|not_steered} answer:a " +
		"ecs_scope:i ttl:i decision_time_us:n snapshot_generation:i timestamp:t"
	shapeFactors = "factors[].name:s factors[].type:s{geo|health|weight|latency|priority|override|drain} " +
		"factors[].value:s factors[].impact:s excluded[].address:s- excluded[].port:i- excluded[].region:s- " +
		"excluded[].reason:s- would_be[].if_up:s- would_be[].region:s- would_be[].decision:s- " +
		"would_be[].answers[].address:s- would_be[].answers[].share:n-"
)
