package cli // inside: it shares fake_test.go

import (
	"strings"
	"testing"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/shared/api"
)

// dnssec ds, keys and check end with exit code 1 and the name of the node while nodes have different keys, and with 0
// once they agree. They name the same keys.
func TestDNSSEC_NodesWithDifferentKeys(t *testing.T) {
	server := unsigned(t)
	first, second := startNode(t), startNode(t)
	key := func(tag int) api.DNSSECKey {
		return api.DNSSECKey{Zone: "example.com.", KeyTag: tag, PublicKey: "AA==", State: api.KeyActive,
			Stage: api.StageActive}
	}
	ds := func(tag int) api.DSRecord {
		return api.DSRecord{Zone: "example.com.", KeyTag: tag, DSRecord: "example.com. IN DS " + strings.Repeat("1",
			tag)}
	}
	set := func(n *node, keys []api.DNSSECKey, records ...api.DSRecord) {
		n.set("GET /api/v1/dnssec/keys", api.DNSSECKeys{Enabled: true, Keys: keys})
		n.set("GET /api/v1/dnssec/ds", api.DSRecords{Enabled: true, DSRecords: records, NoDS: []string{}})
		n.set("GET /api/v1/dnssec/rollover", api.Rolls{Enabled: true, Rolls: []api.Roll{}})
	}
	run := func(command string) result {
		words := append(strings.Fields(command), "--api", documented(0), "--api", documented(1))
		return call(t, cmdline.System{}, []*node{first, second}, words...)
	}
	both := []api.DNSSECKey{key(1), key(2)}
	check := "dnssec check --dns " + server + " --dns " + server + " --resolver " + server
	for name, c := range map[string]struct {
		keys    []api.DNSSECKey // of the second node
		records []api.DSRecord
		lacks   string // by dnssec ds
		code    int
	}{
		"another key":       {both[:1], []api.DSRecord{ds(1)}, documented(1) + " lacks key 2 of example.com.", 1},
		"another DS record": {both, []api.DSRecord{ds(1)}, documented(1) + " does not offer the DS record of key 2", 1},
		"the same":          {both, []api.DSRecord{ds(2), ds(1)}, "", 0},
	} {
		set(first, both, ds(1), ds(2))
		set(second, c.keys, c.records...)
		r := run("dnssec ds")
		if r.code != c.code || !strings.Contains(r.errors, c.lacks) || strings.Count(r.out, "IN DS") != 2 {
			t.Errorf("%s: dnssec ds: %+v", name, r)
		}
		missing := len(c.keys) < 2
		for _, command := range []string{"dnssec keys", check} {
			r := run(command)
			if said := strings.Contains(r.errors, documented(1)+" lacks key 2 of example.com."); said != missing {
				t.Errorf("%s: %s: %+v", name, command, r)
			}
			if command == "dnssec keys" && (r.code == 1) != missing {
				t.Errorf("%s: %s: %+v", name, command, r)
			}
		}
	}
	r := run(check)
	if strings.Contains(r.out, "no other key is published") || !strings.Contains(r.out, "has the keys 1, 2") {
		t.Errorf("check of two keys: %+v", r)
	}
}
