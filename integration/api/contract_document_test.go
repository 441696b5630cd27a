package api_test

// wholeDocument is a body of a plan and an apply with every field.
const wholeDocument = `{"owner":"test","prune":true,"force":true,"document":{
	"regions":[{"id":"plan","name":"The plan","code":"pl","description":"for a test","latitude":1,"longitude":2,
		"continent":"AS","countries":["JP"],"enabled":true,"priority":3,"routing_algorithm":"weighted","proximity_bias":5,"tags":["x"],
		"owner":"test","health_check":` + checkRegion + `},{"name":"plan2","continents":["SA","OC"]}],
	"domains":[{"name":"plan.test.gslb.test","ttl":30,"routing_policy":"geolocation",
		"max_answers":3,"on_all_down":"all","geofence":"strict","failover_threshold":2,
		"latency_config":{"smoothing_factor":0.5,"max_latency_ms":90,"min_samples":9,"tolerance_ms":7},
		"recovery":{"ramp":"30s"},"flap":{"delay":"1m","max_delay":"2h"},"failback":"manual",
		"brake":{"enabled":false,"share":"40%","window":"30s","hold":"5m"},"fallback_algorithm":"client-hash",
		"min_healthy":"1","proximity_tolerance_km":10,"client_hash_ipv4_prefix":24,"client_hash_ipv6_prefix":56,
		"https":{"alpn":["h2"],"port":8443,"ech":"AAMBAgM="},"srv":["_sip._tcp"],"dnssec_enabled":true,
		"enabled":true,"description":"for a test","regions":["plan"],"tags":["x"],"owner":"test"},
		{"name":"name.test.gslb.test","routing_algorithm":"weighted","answer":"cname"}],
	"servers":[{"service":"plan.test.gslb.test","address":"192.0.2.77","port":80,"weight":9,"region":"plan",
		"agent":"nobody","owner":"test","host":"h.example","health_check":` + checkHTTPS + `},
		{"service":"name.test.gslb.test","target":"lb.invalid","port":80,"region":"plan","allowed_cidrs":["10.0.0.0/8"]}],
	"mappings":[{"cidr":"203.0.113.64/26","region":"plan","comment":"for a test","owner":"test"}],
	"records":[{"name":"plan-record.test.gslb.test","type":"TXT","ttl":9,"data":["x"],"expires_at":null,"owner":"test"}],
	"agents":[{"name":"plan-agent","address":"192.0.2.78","port":7946,"region":"plan","version":"1","owner":"test"}],
	"settings":[{"section":"dns","values":{"max_udp_size":1400}}]}}`

// wholeConfig is a configuration that is complete in itself.
const wholeConfig = `mode: overwatch
data_dir: /var/lib/gslb
overwatch:
  identity: {node_id: ow-1, region: eu}
  gossip: {encryption_key: "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s="}
dns: {zones: [test.gslb.test]}
regions: [{name: eu, servers: [{address: 192.0.2.1, port: 80}]}]
domains: [{name: app.test.gslb.test, regions: [eu]}]
`

var (
	shapePlan = "applied:b changes:a unchanged:i force:a generated_at:t answers.counted:i answers.total:i " +
		"answers.elsewhere_percent:n answers.unused:a" + optional("changes[].action:s{create|update|delete} "+
		"changes[].kind:s{region|domain|server|mapping|record|agent|settings|key} changes[].id:s changes[].owner:s "+
		"changes[].fields[].name:s changes[].fields[].before:s changes[].fields[].after:s answers.skipped:i "+
		"answers.hidden_losses:i "+
		"restart_required:a "+
		each("answers.losses[].", "name:s answer:s{none|last_resort} query_types:a serving:i minimum:i")+" "+
		each("answers.moves[].", "from:s to:s percent:n")+" "+
		each("answers.names[].", "name:s query_type:s{A|AAAA} client_region:s counted:i elsewhere_percent:n "+
			"before[].address:s before[].share:n after[].address:s after[].share:n"))
	shapeDocument = optional(each("domains[].", "name:s ttl:i routing_policy:s fallback_algorithm:s min_healthy:s "+
		"proximity_tolerance_km:n client_hash_ipv4_prefix:i client_hash_ipv6_prefix:i dnssec_enabled:b enabled:b "+
		"answer:s{address|cname} routing_algorithm:s max_answers:i on_all_down:s geofence:s failover_threshold:i "+
		"latency_config.smoothing_factor:n latency_config.max_latency_ms:i latency_config.min_samples:i "+
		"latency_config.tolerance_ms:i brake.enabled:b brake.share:s brake.window:s brake.hold:s "+
		"recovery.ramp:s flap.delay:s flap.max_delay:s failback:x "+
		"https.alpn:a https.port:i https.ech:s srv:a "+
		"description:s regions:a tags:a owner:s") + " " +
		each("servers[].", "service:s address:s target:s allowed_cidrs:a port:i weight:i region:s agent:s owner:s "+
			"health_check.enabled:b health_check.type:s health_check.path:s health_check.interval:s health_check.timeout:s "+
			"health_check.healthy_threshold:i health_check.unhealthy_threshold:i health_check.expected_status:s host:s "+
			shapeHealthCheck) + " " +
		each("regions[].", "id:s name:s code:s description:s latitude:n longitude:n continent:s continents:a countries:a "+
			"enabled:b tags:a- "+
			"priority:i routing_algorithm:s proximity_bias:i owner:s health_check.enabled:b health_check.type:s "+
			"health_check.path:s health_check.interval:s health_check.timeout:s health_check.healthy_threshold:i "+
			"health_check.unhealthy_threshold:i health_check.expected_status:s "+shapeHealthCheck) + " " +
		each("mappings[].", "cidr:s region:s comment:s owner:s") + " " +
		each("records[].", "name:s type:s ttl:i data:a expires_at:t owner:s") + " " +
		each("agents[].", "name:s address:s port:i region:s version:s owner:s") + " " +
		each("settings[].", "section:s values:o"))
)
