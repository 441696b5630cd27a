package restore_test

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/restore"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/check"
	"gslb.internal/shared/model"
)

// hostileStatus is a stored status of an older version, of an agent that requested the most expensive possible check.
var hostileStatus = `{"healthy":true,"at":"2026-01-02T03:04:05Z","agent_id":"one","agent_sourced":true,"weight":100,` +
	`"region":"eu",` +
	`"check":{"Type":"http","Path":"/latest/meta-data","Host":"metadata","Address":"169.254.169.254",` +
	`"Interval":5000000000,` +
	`"Timeout":2000000000,"FailureThreshold":3,"SuccessThreshold":2,"ServerName":"","InsecureSkipVerify":true,` +
	`"Detail":{"Method":"GET","Headers":"Metadata-Flavor: Google","BodyMatches":"(?:` + strings.Repeat("a", 225) +
	`){1000}b"}}}`

// checkOld starts a registry with the possible stored state of an older version, and checks the result.
func checkOld(t *testing.T, status, server []byte) {
	t.Helper()
	var old store.Status
	if json.Unmarshal(status, &old) != nil {
		old = store.Status{}
	}
	old.Service, old.Address, old.Port = "app.gslb.test", netip.MustParseAddr("192.0.2.1"), 80
	r, err := registry.New(registry.Options{
		Timing: registry.Timing{
			StaleThreshold: time.Minute, RemoveAfter: time.Hour, ValidationEnabled: true,
			ValidationInterval: time.Minute,
		},
		Restored: []store.Status{old}, Changed: func(string) {}, Logger: zerolog.Nop(),
		Allowed: func(string, registry.ID) bool { return true },
	})
	if err != nil {
		t.Fatalf("%s stops the start: %v", status, err)
	}
	specs := []check.Spec{}
	for _, target := range r.View().CheckTargets() {
		if d := target.Spec.Detail.Detail(); d.Headers+d.Send+d.BodyMatches+d.BodyContains+d.Expect != "" ||
			target.Spec.Address.IsValid() {
			t.Errorf("%+v is made for an agent", target.Spec)
		}
		specs = append(specs, target.Spec)
	}
	if created, err := model.Decode[model.Server](server); err == nil {
		for _, s := range restore.Servers([]model.Server{*created}, zerolog.Nop()) {
			specs = append(specs, s.OwnCheck())
		}
	}
	for _, spec := range specs {
		if spec.Interval == 0 {
			spec.Interval, spec.Timeout = time.Minute, time.Second
		}
		if problems := spec.Validate(); len(problems) > 0 {
			t.Errorf("%+v: %v", spec, problems)
		}
	}
}

func FuzzRestore(f *testing.F) {
	f.Add([]byte(hostileStatus),
		[]byte(`{"service":"app.gslb.test","address":"192.0.2.2","port":80,"weight":1,"region":"eu","check":`+
			`{"Type":"http","Path":"/","FailureThreshold":3,"SuccessThreshold":2,"Detail":{"BodyMatches":"(?:.*x){1000}"}}}`))
	f.Add([]byte(
		`{"agent_id":"one","agent_sourced":true,"check":{"Type":"quic","Interval":-1,"FailureThreshold":1000000}}`),
		[]byte(`{}`))
	f.Add([]byte(
		`{"agent_id":"one","agent_sourced":true,"weight":-7,"heard_at":"192.0.2.1","check":{"Type":"grpcs","Interval":1,`+
			`"Timeout":1,"FailureThreshold":1,"SuccessThreshold":1,"Detail":{"Authorities":"x"}}}`), []byte(`[]`))
	f.Fuzz(func(t *testing.T, status, server []byte) { checkOld(t, status, server) })
}

// A node starts in about one second with a store that is full of different hostile checks.
func TestRestore_AStoreFullOfHostileChecksCostsNothing(t *testing.T) {
	stored := make([]store.Status, 4096)
	for i := range stored {
		var st store.Status
		if err := json.Unmarshal([]byte(hostileStatus), &st); err != nil {
			t.Fatal(err)
		}
		d := st.Check.Detail.Detail()
		d.BodyMatches = strings.Repeat("b", i%200) + d.BodyMatches[i%200:]
		st.Check.Detail = d.Details()
		st.Service, st.Address, st.Port = "app.gslb.test", netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), uint16(1+i>>8)
		stored[i] = st
	}
	made := testing.AllocsPerRun(1, func() {
		_, err := registry.New(registry.Options{
			Timing:   registry.Timing{StaleThreshold: time.Minute, RemoveAfter: time.Hour},
			Restored: stored, Changed: func(string) {}, Logger: zerolog.Nop(),
			Allowed: func(string, registry.ID) bool { return true },
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	if each := made / float64(len(stored)); each > 100 { // compiling such a pattern needs thousands of allocations
		t.Errorf("%.0f allocations for each backend", each)
	}
}

func TestSoundServers_OneThatCannotBeIsLeftOut(t *testing.T) {
	good := model.Server{Service: "app.gslb.test", Address: netip.MustParseAddr("192.0.2.1"), Port: 80, Weight: 1,
		HealthCheck: &model.HealthCheck{
			Type: "http", Path: "/", FailureThreshold: 3, SuccessThreshold: 2, BodyMatches: "ok",
		}}
	dear, nameless, heavy := good, good, good
	tooComplex := *good.HealthCheck
	tooComplex.BodyMatches, tooComplex.BodyContains = "(?:.*x){1000}", "x"
	dear.HealthCheck = &tooComplex
	nameless.Service, heavy.Weight = "", 1<<20
	got := restore.Servers([]model.Server{nameless, good, heavy, dear}, zerolog.Nop())
	if len(got) != 2 || got[0].OwnCheck() != good.OwnCheck() ||
		got[1].OwnCheck().Detail.Detail() != (check.Detail{BodyContains: "x"}) {
		t.Errorf("%+v", got)
	}
}
