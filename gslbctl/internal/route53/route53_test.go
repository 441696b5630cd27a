package route53_test

import (
	"strings"
	"testing"

	"gslb.internal/gslbctl/internal/imports"
	"gslb.internal/gslbctl/internal/route53"
)

const (
	apex = `{"Name":"example.com.","Type":"SOA","TTL":900,"ResourceRecords":[{"Value":"ns.aws.com. a.aws.com. 1 2 3 4 60"}]},
{"Name":"example.com.","Type":"NS","TTL":7200,"ResourceRecords":[{"Value":"ns-1.awsdns-2.com"}]}`
	checks = `{"HealthChecks":[{"Id":"h1","HealthCheckConfig":{"IPAddress":"192.0.2.9","Port":8443,"Type":"HTTPS_STR_MATCH",
"ResourcePath":"up","FullyQualifiedDomainName":"w.example.com","SearchString":"fine","RequestInterval":10,
"FailureThreshold":2,"EnableSNI":true}},{"Id":"calc","HealthCheckConfig":{"Type":"CALCULATED"}},
{"Id":"tcp","HealthCheckConfig":{"Type":"TCP","Port":25}}]}`
)

func read(records, checks string) (*imports.Result, error) {
	if checks == "" {
		return route53.Read(strings.NewReader(records), nil)
	}
	return route53.Read(strings.NewReader(records), strings.NewReader(checks))
}

// sets returns the records of a zone: each line a name, a type, a value and further keys.
func sets(lines ...string) string {
	out := []string{apex}
	for i, line := range lines {
		f := strings.SplitN(line, " ", 4)
		data := `"TTL":300,"ResourceRecords":[{"Value":"` + strings.ReplaceAll(f[2], "|", `"},{"Value":"`) + `"}]`
		if alias, is := strings.CutPrefix(f[2], "@"); is {
			data = `"AliasTarget":{"HostedZoneId":"Z","DNSName":"` + alias + `","EvaluateTargetHealth":true}`
		}
		more := ""
		if len(f) == 4 {
			more = `,"SetIdentifier":"s` + string(rune('a'+i)) + `",` + f[3]
		}
		out = append(out, `{"Name":"`+f[0]+`","Type":"`+f[1]+`",`+data+more+`}`)
	}
	return `{"ResourceRecordSets":[` + strings.Join(out, ",\n") + `]}`
}

// Each kind of routing becomes a domain that is answered as before.
func TestRead_TakesEachKindOfRouting(t *testing.T) {
	r, err := read(sets(
		`\\052.example.com. A 192.0.2.1`, `x.example.com CNAME y.example.net`, `copy.example.com. A @\\052.example.com.`,
		`w.example.com. A 192.0.2.1 "Weight":10,"HealthCheckId":"h1"`, `w.example.com. A 192.0.2.2 "Weight":30,"HealthCheckId":"tcp"`,
		`w.example.com. AAAA 2001:db8::1 "Weight":5`,
		`f.example.com. A 192.0.2.4|192.0.2.5 "Failover":"SECONDARY"`, `f.example.com. A 192.0.2.3 "Failover":"PRIMARY"`,
		`m.example.com. A 192.0.2.6 "MultiValueAnswer":true`, `m.example.com. A 192.0.2.7 "MultiValueAnswer":true`,
		`g.example.com. A 192.0.2.8 "GeoLocation":{"ContinentCode":"EU"}`, `g.example.com. A 192.0.2.9 "GeoLocation":{"CountryCode":"*"}`,
		`l.example.com. A 192.0.2.10 "Region":"eu-west-1"`,
		`p.example.com. A 192.0.2.11 "GeoProximityLocation":{"Bias":-5,"Coordinates":{"Latitude":"1.5","Longitude":"-2"}}`,
		`elb.example.com. A @dualstack.lb.example.org.`, `elb.example.com. AAAA @dualstack.lb.example.org.`,
		`cdn.example.com. CNAME a.cdn.example.net "Weight":3`, `cdn.example.com. CNAME b.cdn.example.net. "Weight":1`,
	), checks)
	if err != nil || len(r.Left) > 0 {
		t.Fatalf("%v %+v", err, r)
	}
	text, err := r.Config.Text()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"apex_ttl: 7200", "negative_ttl: 60", "name: example.com\n",
		"{service: w.example.com, address: 192.0.2.1, port: 8443, weight: 10, health_check: {type: https, path: /up, " +
			"host: 'w.example.com:8443', address: 192.0.2.9, interval: 10s, timeout: 6s, failure_threshold: 2, " +
			"success_threshold: 2, body_contains: fine, server_name: w.example.com, insecure_skip_verify: true}}",
		"port: 25, weight: 30, health_check: {type: tcp, interval: 30s, timeout: 10s",
		"weight: 5, health_check: {enabled: false}", "regions: [primary, secondary]\n    ttl: 300\n    max_answers: 2",
		"regions: [default, continent-EU]", "continents: [EU]", "default_region: default", "ecs_enabled: true",
		"{service: cdn.example.com, target: a.cdn.example.net, port: 80, weight: 3, health_check: {enabled: false}}",
		"target: b.cdn.example.net, port: 81, weight: 1",
		"- name: cdn.example.com\n    answer: cname\n    routing_algorithm: weighted\n    regions: [main]\n    ttl: 300\n    on",
		"latitude: 53.3", "proximity_bias: -5", "tolerance_km: 0", "target: dualstack.lb.example.org", "ttl: 60\n",
		"- name: m.example.com\n    routing_algorithm: round-robin\n    regions: [main]\n    ttl: 300\n    max_answers: 2"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	for _, want := range []string{"*.example.com.\t300\tIN\tA\t192.0.2.1\n", "copy.example.com.\t60\tIN\tA\t192.0.2.1\n",
		"CNAME\ty.example.net.\n"} {
		if !strings.Contains(r.Zones["example.com.zone"], want) {
			t.Errorf("no %q in %s", want, r.Zones)
		}
	}
}

// What a node has no like of is left out or differs, each in a line that says why.
func TestRead_TellsWhatItCannotTake(t *testing.T) {
	r, err := read(sets(
		`t.example.com. TXT \"x\" "Weight":10`, `w.example.com. A 192.0.2.1 "Weight":0`, `v.example.com. A 192.0.2.1|192.0.2.2 "Weight":3`,
		`g.example.com. A 192.0.2.8 "GeoLocation":{"CountryCode":"US","SubdivisionCode":"CA"}`,
		`l.example.com. A 192.0.2.10 "Region":"moon-1"`, `c.example.com. A 192.0.2.10 "CidrRoutingConfig":{"LocationName":"x"}`,
		`n.example.com. A @w.example.com. "Weight":1`, `o.example.com. A @o.example.com.`, `e.example.com. A @gone.example.com.`,
		`u.example.com. A 192.0.2.1 "Weight":1,"HealthCheckId":"unknown"`, `k.example.com. A 192.0.2.1 "Weight":1,"HealthCheckId":"calc"`,
		`two.example.com. A 192.0.2.1 "Weight":1`, `two.example.com. AAAA 2001:db8::1 "MultiValueAnswer":true`,
		`x.example.com. A 192.0.2.1 "GeoLocation":{"CountryCode":"FR"}`, `y.example.com. A 192.0.2.1 "GeoLocation":{"ContinentCode":"EU"}`,
		`h.example.com. A 192.0.2.1 "TrafficPolicyInstanceId":"x"`, `d.example.com. NS ns.example.net.`,
	), checks)
	if err != nil {
		t.Fatal(err)
	}
	lines := ""
	for _, l := range append(r.Left, r.Differ...) {
		lines += l.Record + ": " + l.Why + "\n"
	}
	for _, want := range []string{"t.example.com. TXT sa: addresses", "w.example.com. A sb: its weight is 0", "several addresses",
		"tells countries apart", `moon-1 is`, "CIDR", "n.example.com. A sg: it leads to w.example.com., which is steered",
		"o.example.com. A: it leads to", "gone.example.com., which has no addresses", "unknown is not known", "calc (CALCULATED)",
		"steered by weighted", "clients of no location get FR", "clients in FR, which another name has", "traffic policy",
		"delegations are not served", "AWS' database", "still Amazon's servers"} {
		if !strings.Contains(lines, want) {
			t.Errorf("no %q in\n%s", want, lines)
		}
	}
}

func TestRead_RefusesWhatIsNoZone(t *testing.T) {
	for text, want := range map[string]string{"": "JSON", "[]": "unmarshal", "{}": "no SOA", `{"ResourceRecordSets":[null]}`: "no SOA",
		sets(`a\\9.example.com. A 192.0.2.1`): "octal", sets("a.example.com. A nonsense"): "is no A"} {
		if _, err := read(text, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v", text, err)
		}
	}
	if _, err := read(sets(), "x"); err == nil {
		t.Error("checks that are no JSON")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(sets(`w.example.com. A 192.0.2.1 "Weight":10,"HealthCheckId":"h1"`, `a.example.com. A @w.example.com.`), checks)
	f.Add(sets(`p.example.com. A 192.0.2.1 "GeoProximityLocation":{"AWSRegion":"eu-west-1","Bias":5}`), "{}")
	f.Fuzz(func(t *testing.T, records, checks string) {
		r, err := read(records, checks)
		if err != nil {
			return
		}
		if _, err := r.Config.Text(); err != nil {
			t.Fatal(err)
		}
		for _, d := range r.Config.Domains {
			if len(d.Regions) == 0 {
				t.Fatalf("%+v", d)
			}
		}
	})
}
