package api_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/api"
)

// TestTypes_FieldsAreThoseOfTheSpecification compares the names that each type
// encodes with the names that the API promises.
func TestTypes_FieldsAreThoseOfTheSpecification(t *testing.T) {
	text := "x"
	for _, tc := range []struct {
		value any
		want  string
	}{
		{api.Health{}, "status version uptime_seconds timestamp"},
		{api.Readiness{}, "ready dns_ready health_ready"},
		{api.Readiness{Message: text}, "ready dns_ready health_ready message"},
		{api.Liveness{}, "alive"},
		{api.Version{}, "version go_version git_commit build_date"},
		{api.ErrorBody{}, "error"},
		{api.ServerHealth{},
			"id service address port region healthy status last_check last_healthy consecutive_failures " +
				"consecutive_successes last_error"},
		{api.RegionHealth{}, "name total_servers healthy_count unhealthy_count health_percent"},
		{api.Server{},
			"id service address port weight region source effective_status agent_healthy draining created_at updated_at"},
		{api.DomainChange{Name: text, TTL: new(int), RoutingPolicy: &text, FallbackAlgorithm: &text, MinHealthy: &text,
			ProximityToleranceKm: new(float64), ClientHashIPv4Prefix: new(int), ClientHashIPv6Prefix: new(int),
			Answer: &text, HTTPS: &api.DomainHTTPS{Port: 1, ECH: text}, SRV: &[]string{},
			DNSSECEnabled: new(bool), Enabled: new(bool), Description: &text, Regions: &[]string{},
			Tags: &[]string{}},
			"name ttl routing_policy fallback_algorithm min_healthy proximity_tolerance_km client_hash_ipv4_prefix " +
				"client_hash_ipv6_prefix answer https srv dnssec_enabled enabled description regions tags"},
		{api.Reload{}, "reloaded changes restart_required"},
		{api.GossipSettings{}, "config overlay restart_required"},
		{api.DNSConfig{},
			"listen_address enable_tcp enable_udp max_udp_size default_ttl min_ttl max_ttl negative_ttl rate_limit_enabled " +
				"rate_limit_qps return_last_healthy zones"},
		{api.HealthCheckConfig{},
			"validation_enabled default_interval_seconds default_timeout_seconds healthy_threshold unhealthy_threshold " +
				"max_concurrent_checks default_protocol http_follow_redirects"},
		{api.LoggingConfig{}, "level format"},
		{api.OverwatchNode{Address: text, Port: 1, APIPort: 1, Region: text, Version: text, UptimeSeconds: new(int64),
			LastSeen: new(time.Time), QueriesTotal: new(uint64)},
			"id name address port api_port region status version uptime_seconds last_seen queries_total queries_per_sec " +
				"dnssec_enabled self"},
		{api.OverwatchNodeList{}, "nodes total generated_at"},
		{api.AgentCertificate{}, "agent_id serial not_before not_after fingerprint status issued_at"},
		{api.AgentCertificateAnswer{}, "certificate"},
		{api.CertificateReissue{}, "message status"},
		{api.AgentRegistration{Address: text, Port: 1, Region: text, Version: text}, "name address port region version"},
		{api.SystemConfig{}, "version build_info mode node_id node_name region features start_time config_path data_dir"},
		{api.SystemConfigAnswer{}, "config"},
		{api.ConfigValidation{}, "valid errors"},
		{api.Region{},
			"id name code description latitude longitude continent countries enabled priority server_count healthy_servers " +
				"source"},
		{api.RegionList{}, "regions total generated_at"},
		{api.GeoMapping{}, "cidr region comment source"},
		{api.Preferences{},
			"theme language timezone date_format time_format refresh_interval_seconds notifications_enabled default_view " +
				"custom_settings updated_at"},
		{api.PreferencesAnswer{}, "preferences"},
		{api.GossipConfig{},
			"enabled bind_address bind_port cluster_name encryption_enabled gossip_interval_ms probe_interval_ms " +
				"probe_timeout_ms seeds"},
		{api.GossipKey{}, "key algorithm bits"},
		{api.ServerHealthCheck{}, "server_id health_check"},
		{api.HealthCheck{}, "enabled type path interval timeout healthy_threshold unhealthy_threshold expected_status"},
		{api.ServerCreate{Weight: new(int), Address: text, Agent: text}, "service address port weight region agent"},
		{api.ServerCreate{Target: text, AllowedCIDRs: []string{text}}, "service target port region allowed_cidrs"},
		{api.ServerTarget{}, "id service target port weight region addresses created_at updated_at"},
		{api.ServerPatch{Weight: new(int), Region: &text, Agent: &text, AllowedCIDRs: &[]string{}},
			"weight region agent allowed_cidrs"},
		{api.DomainBackendCreate{Weight: new(int), Region: text}, "address port weight region"},
		{api.Named{}, "message id"},
		{api.DrainRequest{Duration: text}, "duration"},
		{api.Drain{}, "draining drain_ends_at share starts_at expires_at"},
		{api.ServerList{}, "servers total generated_at"},
		{api.Domain{},
			"id name ttl routing_policy health_check_id dnssec_enabled enabled description tags backend_count " +
				"healthy_backends created_at updated_at source"},
		{api.DomainSettings{}, "geo_routing_enabled failover_enabled failover_threshold load_balancing_method"},
		{api.DomainDetail{}, "domain"},
		{api.DomainBackend{}, "id address port weight priority region healthy enabled last_check"},
		{api.Backend{},
			"id service address port agent_id region weight share draining effective_status may_serve held reason agent_healthy " +
				"agent_last_seen " +
				"validation_healthy validation_last_check validation_error validation_latency_ms validation_note override " +
				"weight_override drain"},
		{api.ActiveOverride{}, "healthy reason by at expires_at"},
		{api.Stats{}, "cluster_name total_backends healthy_backends unhealthy_backends stale_backends draining_backends " +
			"active_overrides validation_enabled validation_suspended held_backends " +
			"validated_backends disagreement_count active_agents unique_services backends_by_service backends_by_region " +
			"generated_at"},
		{api.ValidationRun{}, "results checked"},
		{api.ValidationResult{}, "service address port healthy latency_ms error"},
		{api.Agent{}, "agent_id fingerprint region services version first_seen last_seen left_at not_after " +
			"expires_in_hours revoked revoked_at revoked_reason backends"},
		{api.AgentList{}, "agents total revoked expiring generated_at"},
		{api.ExpiringAgents{}, "expiring count threshold_days"},
		{api.Outcome{}, "success message"},
		{api.Revocation{}, "success message services locked next"},
		{api.TokenLock{}, "service agent_id reason locked_at admits_new"},
		{api.TokenLockList{}, "locks total generated_at"},
		{api.Unpinned{}, "unpinned remaining dry_run"},
		{api.Override{}, "service address healthy reason source created_at created_by expires_at starts_at in_force"},
		{api.OverrideList{}, "overrides total generated_at"},
		{api.AgentNode{Address: text, Port: 1},
			"id name address port region status version uptime_seconds last_seen left_at checks_total checks_per_sec active_checks " +
				"target_count certificate_expiry registered_at"},
		{api.AgentNodeList{}, "nodes total generated_at"},
		{api.GossipNode{Address: text, Port: 1, Region: text, Version: text, LastSeen: new(time.Time),
			JoinedAt: new(time.Time)},
			"id name address port status state region version rtt_ms last_seen joined_at"},
		{api.DNSSECStatus{}, "enabled keys sync"},
		{api.DNSSECKeyUse{}, "key_tag zone flags algorithm created_at age_seconds active stage"},
		{api.DNSSECSyncState{}, "enabled last_sync last_sync_error next_sync off_reason peer_count peers"},
		{api.DSRecords{}, "enabled ds_records no_ds warning"},
		{api.DSRecord{}, "zone key_tag algorithm digest_type digest ds_record"},
		{api.DNSSECKeys{}, "enabled keys"},
		{api.DNSSECKey{}, "zone key_tag algorithm algorithm_name flags public_key created_at state stage origin_node"},
		{api.GossipNodeList{}, "nodes total healthy generated_at"},
		{api.RoutingTestRequest{ClientIP: text, Place: &api.Place{}, EDNS: &api.RoutingEDNS{}},
			"domain client_ip place query_type edns"},
		{api.RoutingNearby{}, "latitude longitude network kilometres"},
		{api.RoutingEDNS{}, "client_subnet"},
		{api.RoutingTest{}, "result"},
		{api.RoutingResult{},
			"domain query_type client_ip nearby client_subnet client_country client_region located_by algorithm " +
				"selected_backend alternatives excluded " +
				"factors would_be decision answer ecs_scope ttl decision_time_us snapshot_generation timestamp"},
		{api.RoutingBackend{}, "address port region weight priority healthy share"},
		{api.RoutingExcluded{}, "address port region reason"},
		{api.RoutingFactor{}, "name type value impact"},
		{api.RoutingWouldBe{}, "if_up decision region answers"},
		{api.RoutingShare{}, "address share"},
		{api.RoutingAlgorithmList{}, "algorithms total generated_at"},
		{api.RoutingAlgorithmDetail{}, "algorithm"},
		{api.RoutingAlgorithm{}, "id name description type parameters enabled default"},
		{api.RoutingDecisionList{}, "decisions total limit offset generated_at"},
		{api.RoutingDecision{},
			"id timestamp domain query_type client_subnet client_region algorithm selected_server selected_region outcome " +
				"snapshot_generation"},
		{api.RoutingFlowList{}, "flows total uncounted generated_at"},
		{api.RoutingFlow{}, "source_region destination_region domain request_count share timestamp"},
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
