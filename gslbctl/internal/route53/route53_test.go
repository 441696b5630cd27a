package route53_test

import (
	"io"
	"slices"
	"strings"
	"testing"

	"gslb.internal/gslbctl/internal/imports"
	"gslb.internal/gslbctl/internal/route53"
)

const (
	apex = `{"Name":"example.com.","Type":"SOA","TTL":900,
"ResourceRecords":[{"Value":"ns.aws.com. a.aws.com. 1 2 3 4 60"}]},
{"Name":"example.com.","Type":"NS","TTL":7200,"ResourceRecords":[{"Value":"ns-1.awsdns-2.com"}]}`
	checks = `{"HealthChecks":[{"Id":"h1","HealthCheckConfig":{"IPAddress":"192.0.2.9","Port":8443,
"Type":"HTTPS_STR_MATCH","ResourcePath":"up","FullyQualifiedDomainName":"w.example.com","SearchString":"fine",
"RequestInterval":10,"FailureThreshold":2,"EnableSNI":true}},{"Id":"calc","HealthCheckConfig":{"Type":"CALCULATED"}},
{"Id":"tcp","HealthCheckConfig":{"Type":"TCP","Port":25}}]}`
)

func read(records, checks string) (*imports.Result, error) {
	return readZones(checks, records)
}

func readZones(checks string, zones ...string) (*imports.Result, error) {
	var known io.Reader
	if checks != "" {
		known = strings.NewReader(checks)
	}
	i, err := route53.New(known)
	if err != nil {
		return nil, err
	}
	for _, records := range zones {
		if err := i.Add(strings.NewReader(records)); err != nil {
			return nil, err
		}
	}
	return i.Result(), nil
}

// sets returns the records of a zone. Each line contains a name, a type, a value and further keys.
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

// Each routing policy becomes a domain with the same answers.
func TestRead_TakesEachKindOfRouting(t *testing.T) {
	r, err := read(sets(
		`\\052.example.com. A 192.0.2.1`, `x.example.com CNAME y.example.net`, `copy.example.com. A @\\052.example.com.`,
		`w.example.com. A 192.0.2.1 "Weight":10,"HealthCheckId":"h1"`,
		`w.example.com. A 192.0.2.2 "Weight":30,"HealthCheckId":"tcp"`,
		`w.example.com. AAAA 2001:db8::1 "Weight":5`,
		`f.example.com. A 192.0.2.4|192.0.2.5 "Failover":"SECONDARY"`, `f.example.com. A 192.0.2.3 "Failover":"PRIMARY"`,
		`m.example.com. A 192.0.2.6 "MultiValueAnswer":true`, `m.example.com. A 192.0.2.7 "MultiValueAnswer":true`,
		`g.example.com. A 192.0.2.8 "GeoLocation":{"ContinentCode":"EU"}`,
		`g.example.com. A 192.0.2.9 "GeoLocation":{"CountryCode":"*"}`,
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
		"- name: cdn.example.com\n    answer: cname\n    routing_algorithm: weighted\n    regions: [main]\n" +
			"    ttl: 300\n    on",
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

// Unsupported features are omitted or changed, with a line that contains the reason.
func TestRead_TellsWhatItCannotTake(t *testing.T) {
	r, err := read(sets(
		`t.example.com. TXT \"x\" "Weight":10`, `w.example.com. A 192.0.2.1 "Weight":9`,
		`v.example.com. A 192.0.2.1|192.0.2.2 "Weight":3`,
		`g.example.com. A 192.0.2.8 "GeoLocation":{"CountryCode":"US","SubdivisionCode":"CA"}`,
		`l.example.com. A 192.0.2.10 "Region":"moon-1"`,
		`c.example.com. A 192.0.2.10 "CidrRoutingConfig":{"LocationName":"x"}`,
		`n.example.com. A @w.example.com. "Weight":1`, `o.example.com. A @o.example.com.`,
		`e.example.com. A @gone.example.com.`,
		`u.example.com. A 192.0.2.1 "Weight":1,"HealthCheckId":"unknown"`,
		`k.example.com. A 192.0.2.1 "Weight":1,"HealthCheckId":"calc"`,
		`two.example.com. A 192.0.2.1 "Weight":1`, `two.example.com. AAAA 2001:db8::1 "MultiValueAnswer":true`,
		`x.example.com. A 192.0.2.1 "GeoLocation":{"CountryCode":"FR"}`,
		`y.example.com. A 192.0.2.1 "GeoLocation":{"ContinentCode":"EU"}`,
		`q.example.com. CNAME @r.example.com.`, `r.example.com. CNAME example.com.`, `example.com. A 192.0.2.1`,
		`h.example.com. A 192.0.2.1 "TrafficPolicyInstanceId":"x"`, `d.example.com. NS ns.example.net.`,
	), checks)
	if err != nil {
		t.Fatal(err)
	}
	lines := ""
	for _, l := range append(r.Left, r.Differ...) {
		lines += l.Record + ": " + l.Why + "\n"
	}
	for _, want := range []string{"t.example.com. TXT sa: only addresses", "several addresses",
		"distinguishes countries", `moon-1 is`, "CIDR", "n.example.com. A sg: it leads to w.example.com., which is steered",
		"o.example.com. A: it leads to", "gone.example.com., which has no addresses", "unknown is not known",
		"calc (CALCULATED)",
		"steered by weighted", "clients of no location get FR", "clients in FR, which another name has", "traffic policy",
		"q.example.com. CNAME: it is an alias of a CNAME",
		"delegations are not served", "AWS' database", "still Amazon's servers"} {
		if !strings.Contains(lines, want) {
			t.Errorf("no %q in\n%s", want, lines)
		}
	}
}

// The import keeps all sets of one address or target, or reports the difference.
func TestRead_KeepsSetsOfOneServer(t *testing.T) {
	const web = `"HealthCheckId":"h1",`
	for name, c := range map[string]struct {
		sets         []string
		kept, differ []string
	}{
		"countries": {
			[]string{`g.example.com. CNAME lb.example.net "GeoLocation":{"CountryCode":"US"}`,
				`g.example.com. CNAME lb.example.net "GeoLocation":{"CountryCode":"CA"}`},
			[]string{"name: US\n    countries: [US]\n" +
				"    servers:\n      - {service: g.example.com, target: lb.example.net, port: 80,",
				"name: CA\n    countries: [CA]\n    servers:\n      - {service: g.example.com, target: lb.example.net, port: 81,"},
			nil,
		},
		"addresses of countries": {
			[]string{`g.example.com. A 192.0.2.1 "GeoLocation":{"CountryCode":"US"}`,
				`g.example.com. A 192.0.2.1 "GeoLocation":{"CountryCode":"CA"}`},
			[]string{"address: 192.0.2.1, port: 80,", "address: 192.0.2.1, port: 81,"}, nil,
		},
		"checks of countries": {
			[]string{`g.example.com. A 192.0.2.1 ` + web + `"GeoLocation":{"CountryCode":"US"}`,
				`g.example.com. A 192.0.2.1 ` + web + `"GeoLocation":{"CountryCode":"CA"}`},
			[]string{"address: 192.0.2.1, port: 8443, health_check: {type: https",
				"address: 192.0.2.1, port: 80, health_check: {enabled: false"},
			[]string{"g.example.com. A sb: 192.0.2.1 is not checked for this set"},
		},
		"latency": {
			[]string{`l.example.com. CNAME lb.example.net "Region":"eu-west-1"`,
				`l.example.com. CNAME lb.example.net "Region":"us-west-2"`},
			[]string{"port: 80,", "port: 81,"}, nil,
		},
		"failover": {
			[]string{`f.example.com. A 192.0.2.1 ` + web + `"Failover":"PRIMARY"`,
				`f.example.com. A 192.0.2.1 "Failover":"SECONDARY"`},
			[]string{"regions: [primary, secondary]", "port: 8443,", "port: 80,"}, nil,
		},
		"weights": {
			[]string{`w.example.com. CNAME lb.example.net "Weight":10`, `w.example.com. CNAME lb.example.net "Weight":20`},
			[]string{"target: lb.example.net, port: 80, weight: 30,"}, nil,
		},
		"weights and checks": {
			[]string{`w.example.com. CNAME lb.example.net ` + web + `"Weight":10`,
				`w.example.com. CNAME lb.example.net "Weight":20`},
			[]string{"port: 8443, weight: 10,", "port: 80, weight: 20,"}, nil,
		},
		"all weights are 0": {
			[]string{`w.example.com. A 192.0.2.1 "Weight":0`, `w.example.com. A 192.0.2.2 "Weight":0`},
			[]string{"address: 192.0.2.1, port: 80, weight: 1,", "address: 192.0.2.2, port: 80, weight: 1,"}, nil,
		},
		"some weights are 0": {
			[]string{`w.example.com. A 192.0.2.1 "Weight":100`, `w.example.com. A 192.0.2.2 "Weight":0`,
				`w.example.com. A 192.0.2.3 "Weight":50`},
			[]string{"address: 192.0.2.1, port: 80, weight: 100,", "address: 192.0.2.2, port: 80, weight: 1,",
				"address: 192.0.2.3, port: 80, weight: 50,", "routing_algorithm: failover", "regions: [primary, secondary]",
				"max_answers: 1"}, nil,
		},
		"both families": {
			[]string{`w.example.com. A @lb.example.net. "Weight":10`, `w.example.com. A @lb.example.net. "Weight":20`,
				`w.example.com. AAAA @lb.example.net. "Weight":10`, `w.example.com. AAAA @lb.example.net. "Weight":20`},
			[]string{"port: 80, weight: 30,"}, nil,
		},
		"other weights": {
			[]string{`w.example.com. A @lb.example.net. "Weight":10`, `w.example.com. AAAA @lb.example.net. "Weight":20`},
			[]string{"port: 80, weight: 10,"},
			[]string{"lb.example.net has the weight 10 in both address families, not 20 in one"},
		},
		"other checks": {
			[]string{`w.example.com. A @lb.example.net. "Weight":10`,
				`w.example.com. AAAA @lb.example.net. ` + web + `"Weight":10`},
			[]string{"port: 80, weight: 10,"},
			[]string{"w.example.com. AAAA sb: it is checked as its other family is, w.example.com. A sa"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			text, lines := converted(t, c.sets...)
			for _, want := range c.kept {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			if strings.Count(text, "{service:") != max(strings.Count(strings.Join(c.kept, ""), "port:"), 1) {
				t.Errorf("other servers in\n%s", text)
			}
			for _, want := range c.differ {
				if !strings.Contains(lines, want) {
					t.Errorf("no %q in\n%s", want, lines)
				}
			}
			for _, never := range []string{"not checked for", "in one", "other family is", "another set"} {
				if len(c.differ) == 0 && strings.Contains(lines, never) {
					t.Errorf("%q in\n%s", never, lines)
				}
			}
		})
	}
}

// converted returns the configuration for the sets of a zone, and a line for each omitted or changed set.
func converted(t *testing.T, lines ...string) (text, told string) {
	t.Helper()
	r, err := read(sets(lines...), checks)
	if err != nil {
		t.Fatal(err)
	}
	if text, err = r.Config.Text(); err != nil {
		t.Fatal(err)
	}
	for _, l := range r.Left {
		told += "left: " + l.Record + ": " + l.Why + "\n"
	}
	for _, l := range r.Differ {
		told += l.Record + ": " + l.Why + "\n"
	}
	for _, zone := range r.Zones {
		text += zone
	}
	return text, told
}

// The health check of an address also applies to a target at this address.
func TestRead_ChecksTheAddressOfACheck(t *testing.T) {
	text, _ := converted(t, `w.example.com. CNAME lb.example.net "Weight":1,"HealthCheckId":"h1"`)
	if !strings.Contains(text, "target: lb.example.net, port: 8443, weight: 1, health_check: {type: https") ||
		!strings.Contains(text, "address: 192.0.2.9") {
		t.Error(text)
	}
}

// If a country is down, Route 53 uses its continent; a node does not.
func TestRead_TellsWhoAnswersForACountry(t *testing.T) {
	const told = "g.example.com: when FR or DE is down, clients there get"
	continent := `g.example.com. A 192.0.2.1 "GeoLocation":{"ContinentCode":"EU"}`
	var countries, unchecked []string
	for _, code := range []string{"FR", "DE"} {
		country := `g.example.com. A 192.0.2.` + string(code[0]%9+'1') + ` "GeoLocation":{"CountryCode":"` + code + `"}`
		unchecked = append(unchecked, country)
		countries = append(countries, country+`,"HealthCheckId":"tcp"`)
	}
	if _, lines := converted(t, append(countries, continent)...); !strings.Contains(lines, told) {
		t.Error(lines)
	}
	for _, sets := range [][]string{countries, append(unchecked, continent)} {
		if _, lines := converted(t, sets...); strings.Contains(lines, "is down") {
			t.Error(lines)
		}
	}
}

// Escapes in values are octal in Route 53 and decimal in zone files.
func TestRead_ConvertsEscapesOfValues(t *testing.T) {
	text, _ := converted(t, `t.example.com. TXT \"\\344\\040\\\"\\\\344\"`, `m.example.com. MX 10\u0020\\052.example.net`)
	for _, want := range []string{"IN\tTXT\t" + `"\228 \"\\344"` + "\n", "IN\tMX\t10 " + `\042.example.net.` + "\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
}

// If one family of a name becomes a domain, records of the other family are omitted. Otherwise both are kept.
func TestRead_TakesBothFamiliesOrTells(t *testing.T) {
	const ordinary, alias = `a.example.com. AAAA 2001:db8::1`, `a.example.com. AAAA @b.example.com.`
	const weighted, refused = `a.example.com. A 192.0.2.1 "Weight":1`,
		`a.example.com. A 192.0.2.1 "CidrRoutingConfig":{"LocationName":"x"}`
	for _, other := range []string{ordinary, alias} {
		text, lines := converted(t, weighted, other, `b.example.com. AAAA 2001:db8::1`)
		if strings.Contains(text, "a.example.com.\t") ||
			!strings.Contains(lines, "left: a.example.com. AAAA: the other family") {
			t.Errorf("%s: %s %s", other, text, lines)
		}
		text, lines = converted(t, refused, other, `b.example.com. AAAA 2001:db8::1`)
		if !strings.Contains(text, "a.example.com.\t") || strings.Contains(lines, "the other family") {
			t.Errorf("%s: %s %s", other, text, lines)
		}
	}
}

// A node treats a TTL of 0 as its default. The import uses 1 and reports this.
func TestRead_RefusesTTLsOutOfRange(t *testing.T) {
	large := strings.ReplaceAll(sets(`w.example.com. TXT \"x\"`), `"TTL":300`, `"TTL":2147483648`)
	if _, err := read(large, ""); err == nil || !strings.Contains(err.Error(),
		"w.example.com. TXT: the TTL 2147483648 is out of range") {
		t.Errorf("%v", err)
	}
}

func TestRead_KeepsShortTTLs(t *testing.T) {
	zero := strings.ReplaceAll(sets(`w.example.com. A 192.0.2.1 "Weight":1`), `"TTL":300`, `"TTL":0`)
	r, err := read(strings.ReplaceAll(zero, `"TTL":7200`, `"TTL":0`), "")
	if err != nil || r.Config.Domains[0].TTL != 1 || r.Config.DNS.Zones[0].ApexTTL != 1 {
		t.Fatalf("%+v %v", r, err)
	}
	for _, name := range []string{"w.example.com", "SOA of example.com."} {
		if !slices.ContainsFunc(r.Differ, func(d imports.Deviation) bool {
			return d.Record == name && strings.Contains(d.Why, "its TTL is 1")
		}) {
			t.Errorf("nothing of %s in %+v", name, r.Differ)
		}
	}
}

// A node has one set of regions, so zones that use the same region share its declaration.
func TestAdd_ZonesShareRegions(t *testing.T) {
	first := sets(`g.example.com. A 192.0.2.8 "GeoLocation":{"ContinentCode":"EU"}`,
		`g.example.com. A 192.0.2.9 "GeoLocation":{"CountryCode":"*"}`)
	second := strings.ReplaceAll(sets(`h.example.com. A 192.0.2.7 "GeoLocation":{"CountryCode":"SE"}`,
		`h.example.com. A 192.0.2.8 "GeoLocation":{"ContinentCode":"EU"}`), "example.com", "example.org")
	r, err := readZones("", first, second)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, region := range r.Config.Regions {
		for _, s := range region.Servers {
			got = append(got, region.Name+" "+s.Service)
		}
	}
	want := "continent-EU g.example.com, continent-EU h.example.org, default g.example.com, SE h.example.org"
	if strings.Join(got, ", ") != want || len(r.Config.DNS.Zones) != 2 || len(r.Zones) != 2 {
		t.Errorf("%q in zones %v", got, r.Config.DNS.Zones)
	}
	if !slices.ContainsFunc(r.Differ, func(d imports.Deviation) bool {
		return d.Record == "g.example.com" && strings.HasPrefix(d.Why, "clients in SE, which another name has")
	}) {
		t.Errorf("no deviation for clients in SE: %+v", r.Differ)
	}
	if _, err := readZones("", first, first); err == nil || !strings.Contains(err.Error(), "give each zone once") {
		t.Errorf("one zone twice: %v", err)
	}
}

func TestRead_RefusesWhatIsNoZone(t *testing.T) {
	for text, want := range map[string]string{"": "JSON", "[]": "unmarshal", "{}": "no SOA",
		`{"ResourceRecordSets":[null]}`:       "no SOA",
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
