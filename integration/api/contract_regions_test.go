package api_test

// regionRows returns the rows about regions and mappings.
func (fixture) regionRows() []row {
	return []row{
		{"POST /api/v1/regions", "",
			`{"name":"ap","code":"AP","description":"x","latitude":1.5,"longitude":103,"continent":"AS","countries":["SG",` +
				`"JP"],"enabled":true,"priority":2,"routing_algorithm":"client-hash","proximity_bias":-10,` +
				`"tags":["edge"],"health_check":` + checkRegion + `}`, 201,
			shapeRegion + " source:s{api} routing_algorithm:s{client-hash} proximity_bias:i health_check.type:s{https}"},
		{"POST /api/v1/regions", "", `{"name":"af","health_check":` + checkHTTPS + `}`, 400, "error:s~address"},
		{"POST /api/v1/regions", "", `{"name":"ap"}`, 400, shapeProblem},
		{"POST /api/v1/regions", "", `{"name":"US East","code":"us-east","continents":["NA"]}`, 201,
			shapeRegion + " id:s{us-east}"},
		{"PATCH /api/v1/regions/{id}", "/v1/regions/us-east", `{"name":"Ohio, US"}`, 200, shapeRegion + " name:s~Ohio,"},
		{"DELETE /api/v1/regions/{id}", "/v1/regions/us-east", "", 204, ""},
		{"GET /api/v1/regions", "/v1/regions?enabled=true&continent=AS", "", 200,
			each("regions[].", shapeRegion) + shapeListed},
		{"GET /api/v1/regions/{id}", "/v1/regions/ap", "", 200, shapeRegion},
		{"PUT /api/v1/regions/{id}", "/v1/regions/ap",
			`{"code":"B","continent":"AS","tags":["edge"],"health_check":` + checkRegion + `}`, 200, shapeRegion},
		{"PATCH /api/v1/regions/{id}", "/v1/regions/ap",
			`{"name":"ap","description":"y","latitude":-90,"longitude":180,"continents":["AS"],"countries":["SG"],` +
				`"enabled":true,"priority":3,"routing_algorithm":"latency","proximity_bias":99,"tags":["edge","x"],` +
				`"health_check":` + checkRegion + `}`, 200,
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
			shapeMapping},
		{"PATCH /api/v1/geo/mappings", "", `{"cidr":"198.51.100.0/24","comment":"y"}`, 200,
			shapeMapping},
		{"PUT /api/v1/geo/mappings", "", `{"cidr":"198.51.100.0/24","region":"mars"}`, 400, shapeProblem},
		{"GET /api/v1/geo/mappings", "", "", 200, each("mappings[].", shapeMapping) +
			shapeListed},
		{"GET /api/v1/geo/test", "/v1/geo/test?ip=198.51.100.7", "", 200,
			"ip:s region:s match_type:s{custom_mapping|country|continent|default} matched_cidr:s comment:s country:s " +
				"continent:s scope_prefix:i"},
		{"DELETE /api/v1/regions/{id}", "/v1/regions/ap", "", 409, shapeProblem},
		{"DELETE /api/v1/geo/mappings/{cidr}", "/v1/geo/mappings/198.51.100.0%2F24", "", 204, ""},
		{"DELETE /api/v1/geo/mappings/{cidr}", "/v1/geo/mappings/198.51.100.0/24", "", 404, shapeProblem},
		{"DELETE /api/v1/regions/{id}", "/v1/regions/ap", "", 204, ""},
	}
}
