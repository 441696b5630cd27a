package cli // inside: it shares fake_test.go

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
)

const bindZone = `$TTL 300
@ 900 SOA ns1 admin 1 2 3 4 60
@ NS ns1
ns1 A 192.0.2.1
$INCLUDE more
sub NS ns.sub
ns.sub A 192.0.2.2
old DNAME example.org.
a.example.org. A 192.0.2.3
`

// The import writes the supported records with their TTLs, and prints the reason for each other record.
func TestImportBind(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"db.zone": bindZone, "more": "www CNAME ns1\n",
		"generated": "$TTL 1\n$generate 1-2 a$ A 192.0.2.$\n", "empty": "",
		"long":     "@ SOA ns h 1 2 3 4 5\na 4294967296 A 192.0.2.1\n",
		"includes": strings.Repeat("$INCLUDE empty\n", 2000)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	line := []string{"import", "bind", filepath.Join(dir, "db.zone"), "--zone", "Example.com.", "--into", dir}
	r := call(t, cmdline.System{}, nil, line...)
	if r.code != 0 || !strings.Contains(r.out, "4 imported, 4 omitted") {
		t.Errorf("%+v", r)
	}
	for _, left := range []string{"sub.example.com. 300 IN NS", "ns.sub.example.com. 300 IN A",
		"old.example.com. 300 IN DNAME", "a.example.org. 300 IN A"} {
		if !strings.Contains(r.out, "omitted: "+left) {
			t.Errorf("nothing of %s in %s", left, r.out)
		}
	}
	for name, words := range map[string][]string{
		"example.com.yaml": {"apex_ttl: 900", "negative_ttl: 60", "name: example.com\n", "file: example.com.zone\n"},
		"example.com.zone": {"www.example.com.\t300\tIN\tCNAME\tns1.example.com."},
	} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		for _, word := range words {
			if err != nil || !strings.Contains(string(text), word) {
				t.Errorf("%s has no %q: %v\n%s", name, word, err, text)
			}
		}
	}
	for file, want := range map[string]string{"db.zone": "exists", "generated": "$GENERATE is not read",
		"long":     "a TTL is 0 to 2147483647 seconds",
		"none":     "no such",
		"includes": "more than 1000 files"} {
		line[2] = filepath.Join(dir, file)
		if r := call(t, cmdline.System{}, nil, line...); r.code == 0 || !strings.Contains(r.errors, want) {
			t.Errorf("%s: %+v", file, r)
		}
	}
	line[4] = "../x"
	if r := call(t, cmdline.System{}, nil, line...); r.code == 0 {
		t.Errorf("%+v", r)
	}
}

// The import accepts the uncommon syntax that BIND accepts, and rejects the syntax that BIND rejects.
func TestImportBind_ReadsWhatBINDReads(t *testing.T) {
	const soa = "@ SOA ns1 admin ( 20260101000001 ; serial\n 2 3 4 600 )\n@ NS ns1\n"
	for _, tc := range []struct {
		name, zone string
		want       []string
	}{
		{"no TTL", soa + "ns1 A 192.0.2.1\n", []string{"ns1.example.com.\t600\tIN\tA", "apex_ttl: 600",
			" 1 2 3 4 600"}},
		{"a TTL before", "@ 900 SOA ns1 admin 1 2 3 4 600\n@ NS ns1\n", []string{"example.com.\t900\tIN\tNS",
			"apex_ttl: 900"}},
		{"quoted", soa + "$include \"more\"\n", []string{"www.example.com.\t600\tIN\tCNAME"}},
		{"out of range", soa + "a 2147483648 TXT x\n", []string{"error: ",
			"a.example.com. TXT: the TTL 2147483648 is out of range"}},
		{"wildcard", soa + "* A 192.0.2.1\nsub NS ns.sub\n", []string{"*.example.com. answers this name now"}},
		{"grouped", soa + "a DS 1 13 2 00\nb DS 1 13 2 00\nc DS 1 13 2 00\nd DS 1 13 2 00\ne DS 1 13 2 00\nf DS 1 " +
			"13 2 00\n",
			[]string{"omitted: 6 records: delegations are not served\n  a.example.com. ",
				"\n  and 1 more; -o json lists all\n"}},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"db": tc.zone, "more": "www CNAME ns1\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := call(t, cmdline.System{}, nil, "import", "bind", filepath.Join(dir, "db"), "--zone", "example.com",
			"--into", dir)
		all := r.out
		if r.code != fleet.OK {
			all += "error: " + r.errors
		}
		for _, name := range []string{"example.com.yaml", "example.com.zone"} {
			text, _ := os.ReadFile(filepath.Join(dir, name))
			all += string(text)
		}
		for _, want := range tc.want {
			if !strings.Contains(all, want) {
				t.Errorf("%s: no %q in\n%s", tc.name, want, all)
			}
		}
	}
}

// Names that plugins answer become domains. Unsupported features are reported. Existing files are not overwritten.
func TestImportGdnsd(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"config": "plugins => { static => { one => 192.0.2.1, two => " +
		"a.example.net. }, null => {} }",
		"zones/example.com": "@ 60 SOA ns1 admin 1 2 3 4 60\n@ NS ns1\none DYNA static!one\ntwo DYNC " +
			"static!two\nthree DYNA null\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	line := []string{"import", "gdnsd", filepath.Join(dir, "config"), "--into", dir}
	r := call(t, cmdline.System{}, nil, line...)
	if r.code != 0 || !strings.Contains(r.out, "4 imported, 1 omitted") || !strings.Contains(r.out,
		"omitted: three.example.com.") {
		t.Errorf("%+v", r)
	}
	text, err := os.ReadFile(filepath.Join(dir, "gdnsd.yaml"))
	if err != nil || !strings.Contains(string(text), "service: one.example.com, address: 192.0.2.1") {
		t.Errorf("%v %s", err, text)
	}
	if r := call(t, cmdline.System{}, nil, line...); r.code == 0 || !strings.Contains(r.errors, "exists") {
		t.Errorf("%+v", r)
	}
}

// The import reads the output of Amazon's command line, and reports missing information.
func TestImportRoute53(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"checks": `{"HealthChecks":[]}`, "records": `{"ResourceRecordSets":[
		{"Name":"example.com.","Type":"SOA","TTL":60,"ResourceRecords":[{"Value":"a. b. 1 2 3 4 5"}]},
		{"Name":"w.example.com.","Type":"A","TTL":60,"SetIdentifier":"a","Weight":1,"HealthCheckId":"h",
		"ResourceRecords":[{"Value":"192.0.2.1"}]}]}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	line := []string{"import", "route53", filepath.Join(dir, "records"), "--health-checks", filepath.Join(dir,
		"checks"),
		"--into", dir}
	r := call(t, cmdline.System{}, nil, line...)
	if r.code != 0 || !strings.Contains(r.out, "2 imported, 0 omitted") ||
		!strings.Contains(r.out, "differs: w.example.com. A a: health check h is not known") {
		t.Errorf("%+v", r)
	}
	for _, i := range []int{2, 4} {
		broken := append([]string{}, line...)
		if broken[i] = filepath.Join(dir, "none"); call(t, cmdline.System{}, nil, broken...).code == 0 {
			t.Errorf("%v is taken", broken)
		}
	}
}
