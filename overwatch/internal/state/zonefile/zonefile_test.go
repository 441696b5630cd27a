package zonefile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/state/zonefile"
)

// write creates files in a directory by their names.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRead_RecordsHaveTheirLines(t *testing.T) {
	dir := write(t, map[string]string{
		"z/main": "$TTL 60\n@ SOA ns h (\n 1 2 3\n 4 5 )\n; a comment\n\n  NS ns\n" +
			"$INCLUDE more/hosts sub\nend A 192.0.2.9",
		"z/more/hosts": "\n$ORIGIN deep.test.\nwww 5 A 192.0.2.1\nh1 A 192.0.2.2\n",
	})
	list, err := zonefile.Read(filepath.Join(dir, "z/main"), "example.test", 7)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range list {
		at, _ := filepath.Rel(dir, r.At())
		got = append(got, fmt.Sprint(at, " ", r.RR.Header().Name, " ", r.RR.Header().Ttl))
	}
	want := "z/main:4 example.test. 60, z/main:7 example.test. 60, z/more/hosts:3 www.deep.test. 5, " +
		"z/more/hosts:4 h1.deep.test. 60, z/main:9 end.example.test. 60"
	if strings.Join(got, ", ") != want {
		t.Errorf("%q\nwant %s", got, want)
	}
}

// BIND, NSD and Knot read quoted file names. The library does not.
func TestRead_FileNamesOfIncludesMayHaveQuotes(t *testing.T) {
	host := "h A 192.0.2.1\n"
	for text, want := range map[string]string{
		"$INCLUDE \"more/hosts\"\n":                   "h.example.test.:1",
		"$Include \t\"more/hosts\" sub ; \"x\"\n":     "h.sub.example.test.:1",
		"$INCLUDE \"more/hosts\"":                     "h.example.test.:1",
		"\n$INCLUDE \"more/hosts\"; x\nb A 192.0.2.2": "h.example.test.:1 b.example.test.:3",
		"$INCLUDE \"a b\"\n":                          "",
		"$INCLUDE \"a\"b\n":                           "",
		"$INCLUDE \"a\n\"\n":                          "",
		"$INCLUDE \"\"\n":                             "",
		"t TXT \"$INCLUDE \" \"more/hosts\"\n":        "t.example.test.:1",
	} {
		dir := write(t, map[string]string{"main": text, "more/hosts": host, "a": host, "ab": host})
		list, err := zonefile.Read(filepath.Join(dir, "main"), "example.test", 7)
		var got []string
		for _, r := range list {
			got = append(got, fmt.Sprintf("%s:%d", r.RR.Header().Name, r.Line))
		}
		if strings.Join(got, " ") != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q %v, want %q", text, got, err, want)
		}
	}
}

// deep returns records with 112 names above each record that no other record shares.
func deep(count int) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, "%sh%d A 192.0.2.1\n", strings.Repeat("a.", 112), i)
	}
	return b.String()
}

func TestRead_WhatIsWrongIsToldWithItsPlace(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"syntax":  {map[string]string{"z/main": "a A 192.0.2.1\nb A nonsense\n"}, "z/main:2: "},
		"escape":  {map[string]string{"z/main": "\n$INCLUDE ../secret\n", "secret": "a A 192.0.2.1"}, "z/main:2: "},
		"root":    {map[string]string{"z/main": "$INCLUDE /secret\n", "secret": "a A 192.0.2.1"}, "z/main:1: "},
		"missing": {map[string]string{"other": ""}, "cannot be read: "},
		"cycle":   {map[string]string{"z/main": "$INCLUDE main\n"}, "too deeply nested"},
		"folder":  {map[string]string{"z/main/x": ""}, "not a regular file"},
		"many":    {map[string]string{"z/main": strings.Repeat("h A 192.0.2.1\n", 100_001)}, "z/main:100001: has more"},
		"includes": {map[string]string{"z/main": strings.Repeat("$INCLUDE e\n", 1_000_000), "z/e": ""},
			"z/main:1000: "},
		"names": {map[string]string{"z/main": deep(9_000)}, "main:8850: its records make more than 1000000 names"},
		"generate": {map[string]string{"z/main": "a A 192.0.2.1\n$Generate 1-2 h$ A 192.0.2.$\n"},
			"z/main:2: $GENERATE is not read"},
		"large": {map[string]string{"z/main": strings.Repeat(";"+strings.Repeat("x", 1<<10)+"\n", 1<<14)}, "octets"},
	} {
		_, err := zonefile.Read(filepath.Join(write(t, c.files), "z/main"), "example.test", 7)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	dir := write(t, map[string]string{"z/main": "$INCLUDE link\n", "secret": "a A 192.0.2.1"})
	if err := os.Symlink("../secret", filepath.Join(dir, "z/link")); err != nil {
		t.Fatal(err)
	}
	if _, err := zonefile.Read(filepath.Join(dir, "z/main"), "example.test", 7); err == nil {
		t.Error("a link leads out of the folder")
	}
}

// For any file, the read ends, and each record has a position.
func FuzzRead(f *testing.F) {
	f.Add("$TTL 60\n@ SOA ns h 1 2 3 4 5\n$INCLUDE main\n$GENERATE 1-3 h$ A 192.0.2.$\n")
	f.Add("a 5 IN TXT \"x\n")
	f.Add("$INCLUDE \"main\" x\n$INCLUDE \"a b\"\n")
	dir := write(f, nil)
	f.Fuzz(func(t *testing.T, text string) {
		at := filepath.Join(dir, "main")
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := zonefile.Read(at, "example.test", 7)
		for _, r := range list {
			if err == nil && (r.RR == nil || r.Line < 1 || r.Line > strings.Count(text, "\n")+1) {
				t.Errorf("%+v", r)
			}
		}
	})
}

// For any name, type and data, Parse returns an error or a record of this type on one line. The canonical form of a
// record is stable: Parse accepts it, and the canonical form of the result is the same. Stores and replication use it
// as the key of a record.
func FuzzParse(f *testing.F) {
	for _, c := range [][3]string{
		{"www.example.test", "A", "192.0.2.1"}, {"Www.example.test.", "aaaa", "2001:DB8::1"},
		{"_acme-challenge.example.test", "TXT", `"a b" "c\"d" \065`}, {`a\.b.example.test`, "CNAME", "Target.example.net."},
		{"example.test", "MX", "10 mail.example.net"}, {"_s._tcp.example.test", "SRV", "1 2 443 Srv.example.net."},
		{"example.test", "CAA", `0 issue "ca.example.net"`}, {"x.example.test", "TYPE65280", `\# 2 0aFF`},
		{"x.example.test", "HTTPS", "1 . alpn=h2 ipv4hint=192.0.2.1"}, {"x.example.test", "TXT", `""`},
		{"x.example.test", "A", ""}, {"x.example.test", "TXT", "( a"}, {"x", "A", "192.0.2.1 ; comment"},
		{"x", "A", "192.0.2.1\nx A 192.0.2.2"}, {"$INCLUDE", "A", "192.0.2.1"}, {"x", "CNAME", "@"},
		{"x", "SVCB", "0 "},
	} {
		f.Add(c[0], c[1], c[2])
	}
	f.Fuzz(func(t *testing.T, name, rtype, data string) {
		rr, err := zonefile.Parse(name, rtype, data, 60)
		if err != nil {
			return
		}
		if rr.Header().Ttl != 60 || rr.Header().Class != dns.ClassINET {
			t.Fatalf("%q %q %q: %v", name, rtype, data, rr)
		}
		if name, rtype, data = zonefile.Canonical(rr); data == "" {
			t.Fatalf("%q %q: no data", name, rtype)
		}
		again, err := zonefile.Parse(name, rtype, data, 60)
		if err != nil {
			t.Fatalf("%q %q %q of %v: %v", name, rtype, data, rr, err)
		}
		if n, ty, d := zonefile.Canonical(again); n != name || ty != rtype || d != data {
			t.Fatalf("%q %q %q becomes %q %q %q", name, rtype, data, n, ty, d)
		}
	})
}
