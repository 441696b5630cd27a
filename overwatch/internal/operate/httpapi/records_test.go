package httpapi // inside: it shares world_test.go, which makes a Server from its options

import (
	"encoding/json"
	"testing"
	"time"

	"gslb.internal/shared/api"
)

// An exported document can be applied unchanged if a set has records of several owners, and a document does not take an
// expiring record over.
func TestRecords_DocumentsOfSeveralOwners(t *testing.T) {
	w := newWorld(t)
	const apply = "/api/v1/document/apply"
	w.want("apply", w.send("POST", apply, `{"owner":"a","document":{"records":[{"name":"t.a.test","type":"TXT",
		"data":["\"one\""]}]}}`), 200)
	w.want("add", w.send("POST", "/api/v1/records", `{"name":"t.a.test","type":"TXT","data":["\"two\""]}`), 201)
	exported := w.send("GET", "/api/v1/document", "")
	w.want("apply the export", w.send("POST", apply, `{"document":`+exported.body+`}`), 200, `"changes":[]`)
	w.want("expiring", w.send("POST", "/api/v1/records", `{"name":"e.a.test","type":"TXT","data":["\"x\""],"expires_at":"`+
		time.Now().Add(time.Hour).UTC().Format(time.RFC3339)+`"}`), 201)
	w.wantError("takeover", w.send("POST", apply, `{"owner":"a","document":{"records":[{"name":"e.a.test","type":"TXT",
		"data":["\"x\""]}]}}`), 409, "another owner")
}

// A change of a set keeps the end and the owner of each record, and an empty parameter deletes no record.
func TestRecords_AChangeOfTheSetKeepsEachRecord(t *testing.T) {
	w := newWorld(t)
	const path = "/api/v1/records/_acme-challenge.a.test/TXT"
	ends := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	for data, more := range map[string]string{"one": `,"expires_at":"` + ends.Format(time.RFC3339) + `"`, "two": ""} {
		w.want("add", w.send("POST", "/api/v1/records", `{"name":"_acme-challenge.a.test","type":"TXT","data":["\"`+data+
			`\""]`+more+`}`), 201)
	}
	r := w.send("PATCH", path, `{"ttl":77}`)
	var set api.RecordSet
	w.must(json.Unmarshal([]byte(r.body), &set))
	if r.status != 200 || len(set.Records) != 2 || set.TTL != 77 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	for _, one := range set.Records {
		if expires := one.Data == `"one"`; expires != one.ExpiresAt.Equal(ends) {
			t.Errorf("%+v", one)
		}
	}
	w.wantError("empty data", w.send("DELETE", path+"?data=", ""), 400, "data is empty")
	w.want("both are there", w.send("GET", path, ""), 200, "one", "two")
}
