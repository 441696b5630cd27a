package api_test

import "time"

// recordRows returns the rows about DNS records.
func (f fixture) recordRows() []row {
	const (
		shape = "name:s type:s ttl:i data:a expires_at:t- owner:s- created_at:t updated_at:t records[].data:s " +
			"records[].ttl:i records[].owner:s- records[].expires_at:t- records[].omitted:s-"
		one  = "/v1/records/_acme-challenge.test.gslb.test/TXT"
		path = " /api/v1/records/{name}/{type}"
	)
	end := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	return []row{
		{"POST /api/v1/records", "", `{"name":"_acme-challenge.test.gslb.test","type":"txt","ttl":5,"data":["one"],` +
			`"expires_at":"` + end + `"}`, 201, shape},
		{"POST /api/v1/records", "", `{"name":"_acme-challenge.test.gslb.test","type":"TXT","data":["two"]}`, 201, shape},
		{"POST /api/v1/records", "", `{"name":"_acme-challenge.test.gslb.test.","type":"TXT","data":["two"]}`, 409,
			"error:s~two"},
		{"POST /api/v1/records", "", `{"name":"` + f.app + `","type":"A","data":["192.0.2.1"]}`, 400, "error:s~" + f.app},
		{"POST /api/v1/records", "", `{"name":"x.elsewhere.example","type":"A","data":["192.0.2.1"]}`, 400,
			"error:s~dns.zones"},
		{"POST /api/v1/records", "", `{"name":"x.test.gslb.test","type":"A","data":["x"]}`, 400, "error:s~data[0]"},
		{"POST /api/v1/records", "", `{"name":"x.test.gslb.test","type":"A","data":["192.0.2.1"],"owner":"o"}`, 400,
			"error:s~owner"},
		{"POST /api/v1/records", "", `{"name":"x.test.gslb.test","type":"A","data":["192.0.2.1"],` +
			`"expires_at":"2020-01-01T00:00:00Z"}`, 400, "error:s~expires_at"},
		{"GET /api/v1/records", "/v1/records?name=_ACME-challenge.test.gslb.test", "", 200,
			each("records[].", shape) + shapeListed},
		{"GET" + path, one, "", 200, shape},
		{"GET" + path, "/v1/records/x.test.gslb.test/A", "", 404, shapeProblem},
		{"PUT" + path, "/v1/records/x.test.gslb.test/AAAA", `{"data":["2001:db8::1"],"ttl":5,"expires_at":"` + end +
			`"}`, 201, shape},
		{"PUT" + path, one, `{"data":["three"],"name":"_acme-challenge.test.gslb.test.","type":"txt"}`, 200,
			"records:a " + shape},
		{"PUT" + path, one, `{"data":["three"],"name":"x.test.gslb.test"}`, 400, "error:s~name"},
		{"PATCH" + path, one, `{"ttl":7}`, 200, shape},
		{"PATCH" + path, "/v1/records/y.test.gslb.test/A", `{"ttl":7}`, 404, shapeProblem},
		{"DELETE" + path, one + "?data=nothing", "", 404, shapeProblem},
		{"DELETE" + path, one + "?data=three", "", 204, ""},
		{"DELETE" + path, "/v1/records/x.test.gslb.test/AAAA", "", 204, ""},
		{"DELETE" + path, one, "", 404, shapeProblem},
	}
}
