package control // inside: it shares created_test.go

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// The list contains objects that refer to missing objects, and objects that are also in the file, each with its reason,
// and no other objects.
func TestUnused_NamesWhatHasNoEffect(t *testing.T) {
	kept, err := store.Open(t.TempDir(), store.Options{Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	batch := &store.Batch{}
	for name, regions := range map[string][]string{"a.example": nil, "new.example": {"us", "gone"},
		"off.example": {"gone"}, "sound.example": {"us"}} {
		d := model.New[model.Domain]()
		d.Name, d.Enabled, d.Regions, d.TTL, d.RoutingAlgorithm = name, name != "off.example", regions, 30, "weighted"
		batch.PutObject(store.KindDomain, d)
	}
	batch.PutObject(store.KindRegion, &model.Region{Name: "us", Enabled: true})
	batch.PutObject(store.KindMapping, &model.Mapping{CIDR: netip.MustParsePrefix("10.0.0.0/8"), Region: "us"})
	batch.PutObject(store.KindMapping, &model.Mapping{CIDR: netip.MustParsePrefix("192.0.2.0/24"), Region: "gone"})
	batch.Put(store.KindSetting, "domain a.example", []byte(`{"fields":{"ttl":7}}`))
	batch.Put(store.KindSetting, "domain z.example", json.RawMessage(`{"fields":{"ttl":7}}`))
	if err := kept.Write(batch); err != nil {
		t.Fatal(err)
	}
	for _, service := range []string{"a.example", "none.example"} {
		address := netip.MustParseAddr("192.0.2.1")
		if err := kept.PutServer(model.Server{Service: service, Address: address, Port: 80, Weight: 1}); err != nil {
			t.Fatal(err)
		}
		if err := kept.PutOrder(store.Order{Kind: api.OrderOverride, Service: service, Address: address.String(),
			CreatedAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	file := fileWith("a.example", "b.example")
	file.Regions = []config.Region{{Name: "eu", Enabled: true}}
	s := stateOf(t, kept, file)
	var got []string
	for _, o := range s.Unused(kept.Objects()) {
		got = append(got, fmt.Sprintf("%s %s: %s", o.Kind, o.Name, o.Reason))
	}
	want := []string{
		"domain a.example: the configuration of this node has the same object, which takes precedence",
		"domain new.example: it is served without its region gone, which is not there, or disabled",
		"mapping 192.0.2.0/24: there is no region gone, or it is disabled",
		"override none.example 192.0.2.1: no name none.example is answered",
		"server none.example 192.0.2.1:80: no name none.example is answered",
		"setting domain z.example: the configuration of this node does not have z.example, or does not go with it",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// A disabled domain of the file counts as a domain of the file.
func TestUnused_KnowsTheDisabledDomainsOfTheFile(t *testing.T) {
	kept, err := store.Open(t.TempDir(), store.Options{Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	batch, own := &store.Batch{}, model.New[model.Domain]()
	own.Name = "off.example"
	batch.PutObject(store.KindDomain, own)
	batch.Put(store.KindSetting, "domain off.example", []byte(`{"fields":{"ttl":7}}`))
	if err := kept.Write(batch); err != nil {
		t.Fatal(err)
	}
	file, err := config.LoadText("mode: overwatch\ndomains:\n  - name: off.example\n    enabled: false\n" +
		"overwatch:\n  gossip: {encryption_key: " + base64.StdEncoding.EncodeToString(make([]byte, 32)) + "}\n")
	if err != nil {
		t.Fatal(err)
	}
	unused := stateOf(t, kept, file).Unused(kept.Objects())
	if len(unused) != 1 || unused[0].Kind != store.KindDomain {
		t.Errorf("got %+v, want the domain alone, which the file has too", unused)
	}
}
