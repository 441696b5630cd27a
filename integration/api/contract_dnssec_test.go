package api_test

// dnssecRows returns the rows about DNSSEC and replication.
func (fixture) dnssecRows() []row {
	return []row{
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
		{"POST /api/v1/dnssec/rollover", "", `{"zone":"test.gslb.test","emergency":false,"algorithm":"ED25519"}`, 200,
			shapeRoll},
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
		{"GET /api/v1/replication/hints", "", "", 200, "sealed:s-"},
	}
}
