package api

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTypes_FieldsAreThoseOfTheSpecification compares the names that each type
// encodes with the names that the API promises.
func TestTypes_FieldsAreThoseOfTheSpecification(t *testing.T) {
	text := "x"
	for _, tc := range []struct {
		value any
		want  string
	}{
		{Health{}, "status version uptime_seconds timestamp"},
		{Readiness{}, "ready dns_ready health_ready"},
		{Readiness{Message: text}, "ready dns_ready health_ready message"},
		{Liveness{}, "alive"},
		{Version{}, "version go_version git_commit build_date"},
		{ErrorBody{}, "error"},
		{ServerHealth{},
			"id service address port region healthy status last_check last_healthy consecutive_failures " +
				"consecutive_successes last_error"},
		{RegionHealth{}, "name total_servers healthy_count unhealthy_count health_percent"},
		{Server{},
			"id service address port weight region source effective_status agent_healthy draining created_at updated_at"},
		{DomainChange{Name: text, TTL: new(int), RoutingPolicy: &text, FallbackAlgorithm: &text, MinHealthy: &text,
			ProximityToleranceKm: new(float64), ClientHashIPv4Prefix: new(int), ClientHashIPv6Prefix: new(int),
			DNSSECEnabled: new(bool), Enabled: new(bool), Description: &text, Regions: &[]string{},
			Tags: &[]string{}},
			"name ttl routing_policy fallback_algorithm min_healthy proximity_tolerance_km client_hash_ipv4_prefix " +
				"client_hash_ipv6_prefix dnssec_enabled enabled description regions tags"},
		{Reload{}, "reloaded changes restart_required"},
		{GossipSettings{}, "config overlay restart_required"},
		{DNSConfig{},
			"listen_address enable_tcp enable_udp max_udp_size default_ttl min_ttl max_ttl negative_ttl rate_limit_enabled " +
				"rate_limit_qps return_last_healthy zones"},
		{HealthCheckConfig{},
			"validation_enabled default_interval_seconds default_timeout_seconds healthy_threshold unhealthy_threshold " +
				"max_concurrent_checks default_protocol http_follow_redirects"},
		{LoggingConfig{}, "level format"},
		{OverwatchNode{Address: text, Port: 1, APIPort: 1, Region: text, Version: text, UptimeSeconds: new(int64),
			LastSeen: new(time.Time), QueriesTotal: new(uint64)},
			"id name address port api_port region status version uptime_seconds last_seen queries_total queries_per_sec " +
				"dnssec_enabled self"},
		{OverwatchNodeList{}, "nodes total generated_at"},
		{AgentCertificate{}, "agent_id serial not_before not_after fingerprint status issued_at"},
		{AgentCertificateAnswer{}, "certificate"},
		{CertificateReissue{}, "message status"},
		{AgentRegistration{Address: text, Port: 1, Region: text, Version: text}, "name address port region version"},
		{SystemConfig{}, "version build_info mode node_id node_name region features start_time config_path data_dir"},
		{SystemConfigAnswer{}, "config"},
		{ConfigValidation{}, "valid errors"},
		{Region{},
			"id name code description latitude longitude continent countries enabled priority server_count healthy_servers " +
				"source"},
		{RegionList{}, "regions total generated_at"},
		{GeoMapping{}, "cidr region comment source"},
		{Preferences{},
			"theme language timezone date_format time_format refresh_interval_seconds notifications_enabled default_view " +
				"custom_settings updated_at"},
		{PreferencesAnswer{}, "preferences"},
		{GossipConfig{},
			"enabled bind_address bind_port cluster_name encryption_enabled gossip_interval_ms probe_interval_ms " +
				"probe_timeout_ms seeds"},
		{GossipKey{}, "key algorithm bits"},
		{ServerHealthCheck{}, "server_id health_check"},
		{HealthCheck{}, "enabled type path interval timeout healthy_threshold unhealthy_threshold expected_status"},
		{ServerCreate{Weight: new(int), Agent: text}, "service address port weight region agent"},
		{ServerPatch{Weight: new(int), Region: &text, Agent: &text}, "weight region agent"},
		{DomainBackendCreate{Weight: new(int), Region: text}, "address port weight region"},
		{Named{}, "message id"},
		{DrainRequest{Duration: text}, "duration"},
		{Drain{}, "draining drain_ends_at share starts_at expires_at"},
		{ServerList{}, "servers total generated_at"},
		{Domain{},
			"id name ttl routing_policy health_check_id dnssec_enabled enabled description tags backend_count " +
				"healthy_backends created_at updated_at source"},
		{DomainSettings{}, "geo_routing_enabled failover_enabled failover_threshold load_balancing_method"},
		{DomainDetail{}, "domain"},
		{DomainBackend{}, "id address port weight priority region healthy enabled last_check"},
		{Backend{},
			"id service address port agent_id region weight share draining effective_status may_serve held reason agent_healthy " +
				"agent_last_seen " +
				"validation_healthy validation_last_check validation_error validation_latency_ms validation_note override " +
				"weight_override drain"},
		{ActiveOverride{}, "healthy reason by at expires_at"},
		{Stats{}, "cluster_name total_backends healthy_backends unhealthy_backends stale_backends draining_backends " +
			"active_overrides validation_enabled validation_suspended held_backends " +
			"validated_backends disagreement_count active_agents unique_services backends_by_service backends_by_region " +
			"generated_at"},
		{ValidationRun{}, "results checked"},
		{ValidationResult{}, "service address port healthy latency_ms error"},
		{Agent{}, "agent_id fingerprint region services version first_seen last_seen left_at not_after expires_in_hours revoked " +
			"revoked_at revoked_reason backends"},
		{AgentList{}, "agents total revoked expiring generated_at"},
		{ExpiringAgents{}, "expiring count threshold_days"},
		{Outcome{}, "success message"},
		{Revocation{}, "success message services locked next"},
		{TokenLock{}, "service agent_id reason locked_at admits_new"},
		{TokenLockList{}, "locks total generated_at"},
		{Unpinned{}, "unpinned remaining dry_run"},
		{Override{}, "service address healthy reason source created_at created_by expires_at starts_at in_force"},
		{OverrideList{}, "overrides total generated_at"},
		{AgentNode{Address: text, Port: 1},
			"id name address port region status version uptime_seconds last_seen left_at checks_total checks_per_sec active_checks " +
				"target_count certificate_expiry registered_at"},
		{AgentNodeList{}, "nodes total generated_at"},
		{GossipNode{Address: text, Port: 1, Region: text, Version: text, LastSeen: new(time.Time), JoinedAt: new(time.Time)},
			"id name address port status state region version rtt_ms last_seen joined_at"},
		{DNSSECStatus{}, "enabled keys sync"},
		{DNSSECKeyUse{}, "key_tag zone flags algorithm created_at age_seconds active"},
		{DNSSECSyncState{}, "enabled last_sync last_sync_error next_sync off_reason peer_count peers"},
		{DSRecords{}, "enabled ds_records warning"},
		{DSRecord{}, "zone key_tag algorithm digest_type digest ds_record"},
		{DNSSECKeys{}, "enabled keys"},
		{DNSSECKey{}, "zone key_tag algorithm algorithm_name flags public_key created_at state origin_node"},
		{GossipNodeList{}, "nodes total healthy generated_at"},
		{RoutingTestRequest{EDNS: &RoutingEDNS{}}, "domain client_ip query_type edns"},
		{RoutingEDNS{}, "client_subnet"},
		{RoutingTest{}, "result"},
		{RoutingResult{},
			"domain query_type client_ip client_subnet client_country client_region located_by algorithm selected_backend " +
				"alternatives excluded " +
				"factors would_be decision answer ecs_scope ttl decision_time_us snapshot_generation timestamp"},
		{RoutingBackend{}, "address port region weight priority healthy share"},
		{RoutingExcluded{}, "address port region reason"},
		{RoutingFactor{}, "name type value impact"},
		{RoutingWouldBe{}, "if_up decision region answers"},
		{RoutingShare{}, "address share"},
		{RoutingAlgorithmList{}, "algorithms total generated_at"},
		{RoutingAlgorithmDetail{}, "algorithm"},
		{RoutingAlgorithm{}, "id name description type parameters enabled default"},
		{RoutingDecisionList{}, "decisions total limit offset generated_at"},
		{RoutingDecision{},
			"id timestamp domain query_type client_subnet client_region algorithm selected_server selected_region outcome " +
				"snapshot_generation"},
		{RoutingFlowList{}, "flows total uncounted generated_at"},
		{RoutingFlow{}, "source_region destination_region domain request_count share timestamp"},
	} {
		encoded, err := json.Marshal(tc.value)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(encoded, &fields); err != nil {
			t.Fatal(err)
		}
		var got []string
		for name := range fields {
			got = append(got, name)
		}
		want := strings.Fields(tc.want)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%T encodes\n%v\nwant\n%v", tc.value, got, want)
		}
	}
}
