package model_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/check"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

// stored090 is a server in the stored form of version 0.9.0.
const stored090 = `{"service":"app.example.com","address":"192.0.2.1","port":443,"weight":7,"region":"eu","agent":"a",` +
	`"owner":"shop","check":{"Type":"https","Path":"/up","Host":"h","Address":"192.0.2.9","Interval":5000000000,` +
	`"Timeout":2000000000,"FailureThreshold":3,"SuccessThreshold":2,"ServerName":"s","InsecureSkipVerify":true,` +
	`"Off":true,"Detail":{"Method":"GET","Headers":"A: b: c\nX: d","ExpectedStatus":"200","BodyContains":"ok",` +
	`"Counting":"leaky"}},"created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:06Z"}`

func TestServer_ReadsAndWritesTheStoredFormOfVersion090(t *testing.T) {
	s, err := model.Decode[model.Server]([]byte(stored090))
	if err != nil {
		t.Fatal(err)
	}
	h := s.HealthCheck
	if s.ID() != "app.example.com:192.0.2.1:443" || s.Weight != 7 || s.Owner != "shop" || h.Headers["A"] != "b: c" ||
		h.Headers["X"] != "d" || !h.Off() || time.Duration(h.Interval) != 5*time.Second || h.Counting != "leaky" ||
		h.Address != netip.MustParseAddr("192.0.2.9") || h.ExpectedStatus != "200" || s.Extra != nil {
		t.Errorf("%+v %+v", s, h)
	}
	encoded, err := model.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	var now, old map[string]any
	if json.Unmarshal(encoded, &now) != nil || json.Unmarshal([]byte(stored090), &old) != nil {
		t.Fatal("no JSON")
	}
	for name, value := range old {
		if !reflect.DeepEqual(now[name], value) {
			t.Errorf("%s is stored as %v; version 0.9.0 stored %v", name, now[name], value)
		}
	}
	again, err := model.Decode[model.Server](encoded)
	if err != nil || !reflect.DeepEqual(again, s) {
		t.Errorf("%+v is stored as %+v: %v", s, again, err)
	}
}

// Each setting of a health check has an effect on the check.
func TestHealthCheck_EverySettingIsInTheCheck(t *testing.T) {
	fields := model.FieldsOf(reflect.TypeFor[model.HealthCheck]())
	for i := range fields.List {
		f := &fields.List[i]
		h := &model.HealthCheck{Type: "http"}
		v := f.Value(reflect.ValueOf(h).Elem())
		switch v.Interface().(type) {
		case *bool:
			v.Set(reflect.ValueOf(new(bool)))
		case bool:
			v.SetBool(true)
		case string:
			v.SetString("leaky")
		case int:
			v.SetInt(7)
		case settings.Duration:
			v.SetInt(int64(time.Minute))
		case netip.Addr:
			v.Set(reflect.ValueOf(netip.MustParseAddr("192.0.2.7")))
		case map[string]string:
			v.Set(reflect.ValueOf(map[string]string{"A": "b"}))
		default:
			t.Fatalf("%s has the type %s: add a value to this test", f.JSON, f.Type)
		}
		spec := h.Spec()
		if spec == (check.Spec{Type: check.HTTP}) {
			t.Errorf("%s has no effect on the check", f.JSON)
		}
		if back := model.HealthCheckOf(spec); !reflect.DeepEqual(back, h) {
			t.Errorf("%s: %+v comes back as %+v", f.JSON, h, back)
		}
	}
}

func TestHealthCheck_OverTheCheckOfARegion(t *testing.T) {
	region := &model.HealthCheck{Type: "https", Path: "/up", Headers: map[string]string{"A": "b"}, ServerName: "s",
		Interval: settings.Duration(time.Second), Counting: "leaky"}
	var none *model.HealthCheck
	if got := none.Over(region); !reflect.DeepEqual(got, region) {
		t.Errorf("no settings: %+v", got)
	}
	got := (&model.HealthCheck{Path: "/other", FailureThreshold: 9}).Over(region)
	if got.Path != "/other" || got.FailureThreshold != 9 || got.Headers["A"] != "b" || got.Interval != region.Interval {
		t.Errorf("a path: %+v", got)
	}
	got = (&model.HealthCheck{Type: "tcp"}).Over(region)
	want := &model.HealthCheck{Type: "tcp", Interval: region.Interval, Counting: "leaky"}
	if !reflect.DeepEqual(got, want) || region.Path != "/up" {
		t.Errorf("tcp: %+v", got)
	}
}

// In JSON, null resets a setting of a health check, and an omitted setting is unchanged.
func TestServer_PatchOfTheHealthCheck(t *testing.T) {
	before := model.New[model.Server]()
	before.HealthCheck = &model.HealthCheck{Type: "http", Path: "/up", Headers: map[string]string{"A": "b", "C": "d"},
		Interval: settings.Duration(time.Second)}
	for body, want := range map[string]*model.HealthCheck{
		`{"health_check":{"interval":null,"headers":{"A":null,"X":"y"}}}`: {Type: "http", Path: "/up",
			Headers: map[string]string{"C": "d", "X": "y"}},
		`{"health_check":{"headers":null,"path":"/"}}`: {Type: "http", Path: "/", Interval: before.HealthCheck.Interval},
		`{"health_check":null}`:                        nil,
		`{"weight":5}`:                                 before.HealthCheck,
	} {
		after := *before
		var patch model.Patch[model.Server]
		if err := json.Unmarshal([]byte(body), &patch); err != nil {
			t.Fatal(err)
		}
		if problems := patch.Apply(&after, model.FromOperator); len(problems) > 0 {
			t.Errorf("%s: %v", body, problems)
		}
		if !reflect.DeepEqual(after.HealthCheck, want) || before.HealthCheck.Headers["A"] != "b" {
			t.Errorf("%s: %+v, want %+v", body, after.HealthCheck, want)
		}
	}
	for body, want := range map[string]string{
		`{"health_check":{"interval":"0s"}}`:                "health_check.interval: give a value within the bounds, or null",
		`{"health_check":{"headers":[1]}}`:                  "health_check.headers: give an object of strings",
		`{"health_check":{"headers":{"A":"s3cret","X":3}}}`: "health_check.headers.X: use a string",
		`{"health_check":{"headers":"s3cret"}}`:             "health_check.headers: give an object of strings",
		`{"health_check":{"send":["s3cret"]}}`:              "health_check.send: ",
		`{"health_check":"s3cret"}`:                         "health_check: give an object with ",
		`{"health_check":{"x":1}}`:                          "health_check.x: unknown field: known are enabled, type",
		`{"address":"x"}`:                                   "address: give an IPv4 or IPv6 address",
		`{"weight":0}`:                                      "weight: give a number from 1 to 1000",
		`{"owner":"x"}`:                                     "owner: unknown field",
	} {
		var patch model.Patch[model.Server]
		if err := json.Unmarshal([]byte(body), &patch); err != nil {
			t.Fatal(err)
		}
		problems := patch.Problems(model.FromOperator)
		if len(problems) != 1 || !strings.HasPrefix(problems[0].Key+": "+problems[0].Message, want) {
			t.Errorf("%s: %v, want %s", body, problems, want)
		}
		if strings.Contains(fmt.Sprint(problems), "s3cret") {
			t.Errorf("%s: the problem shows the secret: %v", body, problems)
		}
	}
}

func TestHealthCheck_SecretsAreRestoredAndNeverShown(t *testing.T) {
	h := &model.HealthCheck{Type: "tcp", Send: "password", Headers: map[string]string{"A": "secret"}}
	shown := h.Shown()
	if text, _ := json.Marshal(shown); strings.Contains(string(text), "password") || strings.Contains(string(text), "secret") {
		t.Errorf("%s", text)
	}
	if whole, err := shown.Restore(nil, h); err != nil || !reflect.DeepEqual(whole, h) {
		t.Errorf("%+v, %v", whole, err)
	}
	if _, err := shown.Restore(&model.HealthCheck{Send: "x"}); err == nil {
		t.Error("an unknown secret is accepted")
	}
}

// A value out of its bounds is not in a problem if the field is a secret.
func TestBounds_OmitsTheValueOfASecret(t *testing.T) {
	found := model.Bounds(&struct {
		Pin  int `json:"pin" min:"1" max:"9999" secret:"true"`
		Port int `json:"port" min:"1" max:"9999"`
	}{123456, 70000})
	if len(found) != 2 || found[0].Value != "" || found[1].Value != "70000" {
		t.Errorf("found %+v", found)
	}
}
