package gdnsd_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"gslb.internal/gslbctl/internal/gdnsd"
	"gslb.internal/gslbctl/internal/imports"
)

const soa = "@ 60 SOA ns1 admin 1 2 3 4 60\n@ NS ns1\nns1 A 192.0.2.1\n"

func read(files map[string]string) (*imports.Result, error) {
	in := fstest.MapFS{}
	for name, text := range files {
		in[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return gdnsd.ReadFS(in, "config", "/etc/gdnsd")
}

// Unsupported features are omitted or changed, with a line that contains the reason.
func TestRead_TellsWhatItCannotTake(t *testing.T) {
	plugins := `service_types => { gone => { plugin => null }, prog => { plugin => extmon }, slow => {
	    plugin => tcp_connect port => 1 ok_thresh => 7 }, web => { plugin => http_status } }
	  plugins => {
	    multifo => { down => { service_types => down, a => 192.0.2.1 }, gone => { service_types => gone, a => 192.0.2.1 }
	      prog => { service_types => prog, a => 192.0.2.1 }, two => { service_types => [slow, web], a => 192.0.2.1 }
	      twice => [ 192.0.2.1, 192.0.2.1 ], none => {}, thresh => { up_thresh => 2, a => 192.0.2.1 } }
	    weighted => { multi => true, groups => { g => { a => [ 192.0.2.1, 1 ] } }, uneven => { a => [ 192.0.2.1, 1 ],
	      b => [ 192.0.2.2, 2 ] }, big => { multi => false, a => [ 192.0.2.1, 1048575 ], b => [ 192.0.2.2, 1 ] } }
	    metafo => { resources => { loop => { datacenters => [ a ], dcmap => { a => %metafo!loop } }
	      name => { datacenters => [ a, b ], dcmap => { a => 192.0.2.1, b => www.example.net. } }
	      nowhere => { datacenters => [ a ] }, mixed => { datacenters => [ a, b ], dcmap => { a => 192.0.2.1
	      b => 2001:db8::1 } }, again => { datacenters => [ a, b, c ],
	      dcmap => { a => 192.0.2.1, b => 192.0.2.1, c => 192.0.2.2 } } } }
	    geoip => { maps => { m => { datacenters => [ a ] }, o => { datacenters => [ a ] } }
	      resources => { m => { map => m, dcmap => { a => 192.0.2.1 } }, o => { map => o, dcmap => { a => 192.0.2.1 } } } }
	    reflect => {} }`
	zone := soa
	want := map[string]string{
		"multifo!down": "marks it as down", "multifo!gone": "marks it as down", "multifo!prog": "has no extmon",
		"multifo!two": "ok_thresh of service type slow is 10, not 7", "multifo!twice": "once will do",
		"multifo!none": "has no addresses", "multifo!thresh": "up_thresh", "multifo!absent": "no resource absent",
		"weighted!groups": "groups", "weighted!uneven": "weights that differ", "weighted!big": "are rounded",
		"metafo!loop": "refer to one another", "metafo!name": "CNAME", "metafo!nowhere": "datacenter a has no addresses",
		"metafo!mixed": "of both families", "metafo!again": "once will do", "geoip!o": "one map of the world",
		"reflect": "no like", "nothing!x": "no plugin",
	}
	for ref := range want {
		if ref != "geoip!o" {
			zone += strings.ReplaceAll(ref, "!", "-") + " DYNA " + ref + "\n"
		}
	}
	r, err := read(map[string]string{"config": plugins, "zones/example.com": zone + "m DYNA geoip!m\no DYNA geoip!o\n"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := r.Config.Text()
	if err != nil || !strings.Contains(text,
		"name: metafo-again.example.com\n    routing_algorithm: failover\n    regions: [a, c]") {
		t.Errorf("%v %s", err, text)
	}
	for ref, why := range want {
		found := ""
		for _, l := range append(r.Left, r.Differ...) {
			if strings.HasSuffix(l.Record, " "+ref) {
				found += l.Why + "\n"
			}
		}
		if !strings.Contains(found, why) {
			t.Errorf("%s: %q", ref, found)
		}
	}
}

// @Z and @F represent names at each position of a name, even next to text, and nowhere else.
func TestRead_KnowsSpecialNames(t *testing.T) {
	zone := soa + `@Z TXT "v=spf1 -all" ; not @F, nor x.@Z
_dmarc.@F TXT "@Z x.@F \" @Z"
@f CAA 0 issue "ca.@Z"
r RP @Z @F
m MX 10 (
 mail.@z)
$ORIGIN sub.@Z
s TXT "s"
u.@F TXT a\ @Z
$INCLUDE x/more
`
	r, err := read(map[string]string{"config": "", "zones/example.com": zone, "zones/x/more": "i.@Z A 192.0.2.1 ; @F\n"})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(strings.ReplaceAll(r.Zones["example.com.zone"], "\t86400\tIN", ""), "\t", " ")
	for _, want := range []string{`example.com. TXT "v=spf1 -all"`, `_dmarc.example.com. TXT "@Z x.@F \" @Z"`,
		`example.com. CAA 0 issue "ca.@Z"`, "r.example.com. RP example.com. example.com.",
		"m.example.com. MX 10 mail.example.com.",
		`s.sub.example.com. TXT "s"`, `u.example.com. TXT "a @Z"`, "i.example.com. A 192.0.2.1"} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	_, err = read(map[string]string{"config": "", "zones/example.com": soa + "$INCLUDE x/more x\n",
		"zones/x/more": ";\n\na.@F A 192.0.2.1\n"})
	if err == nil || !strings.Contains(err.Error(), "zones/x/more:3: @F") {
		t.Error(err)
	}
}

// Datacenters are checked regardless of ignore_health, because gdnsd omits a datacenter that is down.
func TestRead_ChecksDatacentersThatIgnoreHealth(t *testing.T) {
	r, err := read(map[string]string{"zones/example.com": soa + "meta DYNA metafo!m\nalone DYNA multifo!m\n", "config": `
		service_types => { web => { plugin => http_status } }
		plugins => { multifo => { m => { service_types => web, ignore_health => true, a => 192.0.2.1, b => 192.0.2.2 } }
		  metafo => { service_types => web, resources => { m => { datacenters => [ a, b ],
		    dcmap => { a => %multifo!m, b => { ignore_health => true, c => 192.0.2.3 } } } } } }`})
	if err != nil {
		t.Fatal(err)
	}
	for _, region := range r.Config.Regions {
		for _, s := range region.Servers {
			if checked := s.Check.Type == "http"; checked != (s.Service == "meta.example.com") {
				t.Errorf("%s: %+v %+v", region.Name, s, s.Check)
			}
		}
	}
	if len(r.Differ) != 1 || r.Differ[0].Record != "meta.example.com. metafo!m" ||
		!strings.Contains(r.Differ[0].Why, "addresses of a that are down are omitted") {
		t.Errorf("%+v", r.Differ)
	}
}

// Resources inherit the top-level settings of metafo and geoip (gdnsd-plugin-metafo(8)).
func TestRead_InheritsFromTheTop(t *testing.T) {
	r, err := read(map[string]string{"zones/example.com": soa + "m DYNA metafo!m\ng DYNA geoip!g\nn DYNA geoip!n\n",
		"config": `plugins => {
		metafo => { datacenters => [ a, b ], skip_first => true, dcmap => { a => 192.0.2.1, b => 192.0.2.2 },
			resources => { m => {} } }
		geoip => { map => w, maps => { w => { datacenters => [ c ] } }, resources => { g => { dcmap => { c => 192.0.2.3 } },
			n => {} } } }`})
	if err != nil {
		t.Fatal(err)
	}
	text, err := r.Config.Text()
	for _, want := range []string{"name: m.example.com\n    routing_algorithm: failover\n    regions: [b]\n",
		"name: g.example.com\n    routing_algorithm: geolocation\n    regions: [c]\n"} {
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("no %q in %v\n%s", want, err, text)
		}
	}
	if len(r.Left) != 1 || r.Left[0].Record != "n.example.com. geoip!n" || len(r.Config.Domains) != 2 {
		t.Errorf("%+v", r)
	}
}

// The import omits a name with a resource without datacenters.
func TestRead_LeavesOutWhatHasNoDatacenters(t *testing.T) {
	r, err := read(map[string]string{"zones/example.com": soa + "m DYNA metafo!m\n", "config": `plugins => {
		metafo => { resources => { m => { dcmap => { a => 192.0.2.1 } } } } }`})
	if err != nil || len(r.Left) != 1 || len(r.Config.Domains) != 0 {
		t.Errorf("%+v %v", r, err)
	}
}

// The import rejects a file that gdnsd rejects, with the line number.
func TestRead_RefusesWhatIsNoConfiguration(t *testing.T) {
	for text, want := range map[string]string{
		"a => {\n b => [ 1, {": "config:2", "a": "no value", "a => \"b": "within a value", "]": "should be",
		"a => 1 a => 2": "twice",
		"[ 1 ]":         "begins with a list", "$include{../x}": "no such file",
		"$include{/etc/x}":      "only files in the folder",
		"a => $include{config}": "deeper", "$include{config}": "deeper", `a => \999`: "three digits", "a => $b": "quotes",
		"": "no zone files", "options => { min_ttl => x }": "min_ttl",
		strings.Repeat("a=>{", 100): "deeper", "a=>" + strings.Repeat("[", 100): "deeper",
	} {
		if _, err := read(map[string]string{"config": text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v", text, err)
		}
	}
	for zone, want := range map[string]string{"@ NS a": "no SOA", "x DYNA\n": "dns:", soa + "x 5/1y DYNA a!b": "is no TTL",
		soa + "$INCLUDE ../../config": "not exist"} {
		_, err := read(map[string]string{"config": "", "zones/example.com": zone})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", zone, err)
		}
	}
}

func TestRead_TakesScalarsAndNumbersInEachForm(t *testing.T) {
	r, err := read(map[string]string{"config": `options => { zones_default_ttl => 0x3c, min_ttl => 012 }
	  service_types => { web => { plugin => tcp_connect, port => 0x1F90, interval => 010 } }
	  plugins => { multifo => { one => { addrs_v4 => 192.0.2.1, service_types => web }, bare => 192.0.2.3 },
	    weighted => { w => { a => [ 192.0.2.2, 0x10 ] } } }`,
		"zones/example.com": "@ SOA ns1 admin ( ; serial\n 20260101000001 2 3 4 60 )\n@ NS ns1\nns1 A 192.0.2.1\n" +
			"short 5 TXT x\none DYNA multifo!one\nw DYNA weighted!w\nbare DYNA multifo!bare\n"})
	if err != nil || len(r.Left) > 0 {
		t.Fatalf("%v, left out: %v", err, r.Left)
	}
	text, err := r.Config.Text()
	text += r.Zones["example.com.zone"]
	for _, want := range []string{"address: 192.0.2.1, port: 8080", "interval: 8s",
		"address: 192.0.2.2, port: 80, weight: 16",
		"apex_ttl: 60", "address: 192.0.2.3", "short.example.com.\t10\tIN\tTXT"} {
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("no %q: %v in\n%s", want, err, text)
		}
	}
	for _, wrong := range []string{"08", "0x", "1_0", "-1", "0b1"} {
		if _, err := read(map[string]string{"config": "options => { min_ttl => " + wrong + " }"}); err == nil ||
			!strings.Contains(err.Error(), "min_ttl") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

func TestRead_AFaultyZoneHidesNoOther(t *testing.T) {
	r, err := read(map[string]string{"config": "plugins => { null => {} }", "zones/a.example": soa,
		"zones/b.example": soa + "x 4294967295 TXT y\n", "zones/c.example": "x y z\n",
		"zones/d.example": soa + "* TXT any\nlost DYNA null\nmade TXT y\ndeep.made DYNA null\n"})
	if err != nil || r.FaultyZones != 2 || len(r.Config.DNS.Zones) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	told := ""
	for _, l := range r.Left {
		told += l.Record + ": " + l.Why + "\n"
	}
	for _, want := range []string{"zones/b.example: the zone is omitted: ", "the TTL 4294967295 is out of range",
		"zones/c.example: the zone is omitted: ", "; *.d.example. answers this name now"} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in\n%s", want, told)
		}
	}
	if strings.Count(told, "answers this name now") != 1 { // made.d.example exists, so no wildcard answers below it
		t.Error(told)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`plugins => { multifo => { a => [ 192.0.2.1 ] } } $include{x/*}`, soa+"a 5/1 DYNA multifo!a\n",
		"b = { \"c\" => [ d ] }")
	f.Add(`plugins => { geoip => { maps => { m => { datacenters => [a b], auto_dc_coords => { a => [ 1, 2 ] }, nets => {
		10.0.0.0/8 => a }, map => { EU => { DE => [ b, a ] } } } }, resources => { r => { map => m, dcmap => { a => 192.0.2.1,
		b => { plugin => weighted, x => [ 192.0.2.2, 70000 ] } } } } } }`, soa+"a DYNA geoip!r\nb DYNC geoip!r/a\n", "")
	f.Fuzz(func(t *testing.T, config, zone, more string) {
		r, err := read(map[string]string{"config": config, "zones/example.com": zone, "x/more": more})
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
