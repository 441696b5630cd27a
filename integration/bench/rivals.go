//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// all contains the compared servers, in the order of the table.
var all = []server{
	{name: "gslb-weighted", prepare: gslb("weighted", unsigned)},
	{name: "gslb-geolocation", prepare: gslb("geolocation", unsigned)},
	{name: "gslb-signed", signed: true, prepare: gslb("weighted", nsec)},
	{name: "gslb-absent", signed: true, asking: absent, prepare: gslb("weighted", nsec)},
	{name: "gslb-absent-nsec3", signed: true, asking: absent, prepare: gslb("weighted", nsec3)},
	{name: "gslb-below", signed: true, asking: below, prepare: gslb("weighted", nsec)},
	{name: "gslb-below-nsec3", signed: true, asking: below, prepare: gslb("weighted", nsec3)},
	{name: "gslb-enclosing", signed: true, asking: enclosing, prepare: gslb("weighted", nsec)},
	{name: "gslb-enclosing-nsec3", signed: true, asking: enclosing, prepare: gslb("weighted", nsec3)},
	{name: "gslb-expanded", signed: true, asking: expanded, prepare: gslb("weighted", nsec)},
	{name: "gslb-expanded-nsec3", signed: true, asking: expanded, prepare: gslb("weighted", nsec3)},
	{name: "gdnsd-weighted", program: "gdnsd", most: 10000, prepare: gdnsdWeighted},
	{name: "gdnsd-geoip", program: "gdnsd", most: 10000, prepare: gdnsdGeoIP},
	{name: "nsd", program: "nsd", prepare: nsd(unsigned)},
	{name: "nsd-signed", program: "nsd", signed: true, most: 10000, prepare: nsd(nsec)},
	{name: "nsd-absent", program: "nsd", signed: true, asking: absent, most: 10000, prepare: nsd(nsec)},
	{name: "nsd-absent-nsec3", program: "nsd", signed: true, asking: absent, most: 10000, prepare: nsd(nsec3)},
	{name: "nsd-below-nsec3", program: "nsd", signed: true, asking: below, most: 10000, prepare: nsd(nsec3)},
	{name: "nsd-expanded-nsec3", program: "nsd", signed: true, asking: expanded, most: 10000, prepare: nsd(nsec3)},
	{name: "knot", program: "knotd", prepare: knot(false)},
	{name: "knot-onlinesign", program: "knotd", signed: true, prepare: knot(true)},
	{name: "pdns-lua", program: "pdns_server", most: 10000, prepare: pdnsLua(false)},
	{name: "pdns-lua-signed", program: "pdns_server", signed: true, most: 10000, prepare: pdnsLua(true)},
}

// usualBase is the default base server of ratios.
const usualBase = "gdnsd-weighted"

func allNames() []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = s.name
	}
	return out
}

// against returns further rows for gslb, with the programs of another directory.
func against(bin string) (rows []server) {
	for _, s := range all {
		if s.program == "" {
			prepare := s.prepare
			s.name += "-before"
			s.prepare = func(at setup) ([]string, error) {
				at.bin = bin
				return prepare(at)
			}
			rows = append(rows, s)
		}
	}
	return rows
}

// gdnsd writes the files of gdnsd: a zone in which each name refers to a resource of a plug-in, and the configuration
// with the settings of the plug-in.
func gdnsd(at setup, plugin string, plugins *file) ([]string, error) {
	zone := &file{}
	zone.line("@ 3600 SOA ns1 hostmaster 1 3600 900 604800 60\n@ 3600 NS ns1\nns1 3600 A 127.0.0.1")
	for i := range at.names {
		zone.line("d%05d 60 DYNA %s!r%05d", i, plugin, i)
	}
	if _, err := zone.write(at.dir, "zones/"+zoneName); err != nil {
		return nil, err
	}
	f := &file{}
	f.line("options => {\n listen => { 127.0.0.1:%d => { udp_threads = 1, tcp_threads = 1 } }", at.port)
	f.line(" run_dir = %s\n state_dir = %s\n}", filepath.Join(at.dir, "run"), filepath.Join(at.dir, "state"))
	f.WriteString(plugins.String())
	for _, sub := range []string{"run", "state"} {
		if err := os.MkdirAll(filepath.Join(at.dir, sub), 0o700); err != nil {
			return nil, err
		}
	}
	_, err := f.write(at.dir, "config")
	return []string{"gdnsd", "-c", at.dir, "start"}, err
}

func gdnsdWeighted(at setup) ([]string, error) {
	f := &file{}
	f.line("plugins => { weighted => { multi = false, service_types = up,")
	for i := range at.names {
		fmt.Fprintf(f, " r%05d => {", i)
		for j := range backends {
			fmt.Fprintf(f, " b%d=[%s,%d]", j, backend(i, j), weight(j))
		}
		f.line(" }")
	}
	f.line("} }")
	return gdnsd(at, "weighted", f)
}

func gdnsdGeoIP(at setup) ([]string, error) {
	f := &file{}
	f.line("plugins => { geoip => { maps => { m => { datacenters => [dc0,dc1,dc2,dc3], nets => {")
	f.line(" 127.0.0.0/10 => [dc0,dc1], 127.64.0.0/10 => [dc1,dc2], 10.0.0.0/8 => [dc2,dc3], 192.0.2.0/24 => [dc3]")
	f.line("} } }, resources => {")
	for i := range at.names {
		fmt.Fprintf(f, " r%05d => { map => m, service_types = up, dcmap => {", i)
		for j := range backends {
			fmt.Fprintf(f, " dc%d => { b%d = %s }", j, j, backend(i, j))
		}
		f.line(" } }")
	}
	f.line("} } }")
	return gdnsd(at, "geoip", f)
}

// nsd returns a function that prepares NSD with one fixed address per name. A signed zone is signed before the start.
func nsd(signing signing) func(setup) ([]string, error) {
	return func(at setup) ([]string, error) {
		zone, err := zoneFile(at.names, oneAddress(at.ask)).write(at.dir, "zone")
		if err == nil && signing != unsigned {
			zone, err = sign(at.dir, zone, signing)
		}
		if err != nil {
			return nil, err
		}
		f := &file{}
		f.line("server:\n server-count: 1\n ip-address: 127.0.0.1@%d\n reuseport: yes\n username: \"\"\n chroot: \"\"",
			at.port)
		f.line(" zonesdir: %q\n database: \"\"\n pidfile: \"\"\n xfrdir: %q", at.dir, at.dir)
		f.line(" xfrdfile: %q\n zonelistfile: %q", filepath.Join(at.dir, "xfrd.state"), filepath.Join(at.dir, "zone.list"))
		f.line(" rrl-ratelimit: 0\n minimal-responses: yes\nremote-control:\n control-enable: no")
		f.line("zone:\n name: %s\n zonefile: %q", zoneName, zone)
		path, err := f.write(at.dir, "nsd.conf")
		return []string{"nsd", "-d", "-c", path}, err
	}
}

// sign creates a P-256 key, as gslb does, and signs the zone file with it.
func sign(dir, zone string, signing signing) (string, error) {
	keygen := exec.Command("ldns-keygen", "-a", "ECDSAP256SHA256", "-k", zoneName)
	keygen.Dir = dir
	key, err := keygen.Output()
	if err != nil {
		return "", fmt.Errorf("ldns-keygen: %w", err)
	}
	args := []string{"-f", "signed", filepath.Base(zone), string(key[:len(key)-1])}
	if signing == nsec3 {
		args = append([]string{"-n", "-t", "0"}, args...) // no iterations and no salt, as in gslb
	}
	signer := exec.Command("ldns-signzone", args...)
	signer.Dir = dir
	if out, err := signer.CombinedOutput(); err != nil {
		return "", fmt.Errorf("ldns-signzone: %w: %s", err, out)
	}
	return filepath.Join(dir, "signed"), nil
}

// knot returns a function that prepares Knot with the same zone as NSD. With signing, Knot signs each answer at the
// time of the query.
func knot(signed bool) func(setup) ([]string, error) {
	return func(at setup) ([]string, error) {
		zone, err := zoneFile(at.names, oneAddress(at.ask)).write(at.dir, "zone")
		if err != nil {
			return nil, err
		}
		f := &file{}
		f.line("server:\n  rundir: %q\n  listen: 127.0.0.1@%d\n  udp-workers: 1\n  tcp-workers: 1\n  background-workers: 1",
			at.dir, at.port)
		f.line("database:\n  storage: %q\nlog:\n  - target: stderr\n    any: warning", at.dir)
		if signed {
			f.line("policy:\n  - id: bench\n    algorithm: ecdsap256sha256\n    single-type-signing: on")
			f.line("mod-onlinesign:\n  - id: bench\n    policy: bench")
		}
		f.line("template:\n  - id: default\n    storage: %q\n    zonefile-sync: -1\n    zonefile-load: whole\n    "+
			"journal-content: none", at.dir)
		f.line("zone:\n  - domain: %s\n    file: %q", zoneName, zone)
		if signed {
			f.line("    module: mod-onlinesign/bench")
		}
		path, err := f.write(at.dir, "knot.conf")
		return []string{"knotd", "-c", path}, err
	}
}

// pdnsLua returns a function that prepares PowerDNS. It chooses an address by weight in Lua for each answer. With
// signing, it signs the answer, unless it has cached the signature of the address.
func pdnsLua(signed bool) func(setup) ([]string, error) {
	return func(at setup) ([]string, error) {
		zone, err := zoneFile(at.names, luaAddress).write(at.dir, "zone")
		if err != nil {
			return nil, err
		}
		named := &file{}
		named.line("zone %q { type master; file %q; };", zoneName, zone)
		list, err := named.write(at.dir, "named.conf")
		if err != nil {
			return nil, err
		}
		f := &file{}
		f.line("launch=bind\nbind-config=%s\nenable-lua-records=shared", list)
		f.line("local-address=127.0.0.1\nlocal-port=%d\nsocket-dir=%s", at.port, at.dir)
		f.line("receiver-threads=1\ndistributor-threads=1\nreuseport=yes\nloglevel=3")
		f.line("security-poll-suffix=\nversion-string=anonymous")
		keys := filepath.Join(at.dir, "keys.db")
		if signed {
			f.line("bind-dnssec-db=%s\ndefault-ksk-algorithm=ecdsa256", keys)
		}
		if _, err = f.write(at.dir, "pdns.conf"); err != nil {
			return nil, err
		}
		if signed {
			for _, order := range [][]string{{"create-bind-db", keys}, {"secure-zone", zoneName}} {
				tool := exec.Command("pdnsutil", append([]string{"--config-dir=" + at.dir}, order...)...)
				if out, err := tool.CombinedOutput(); err != nil {
					return nil, fmt.Errorf("pdnsutil %s: %w: %s", order[0], err, out)
				}
			}
		}
		return []string{"pdns_server", "--config-dir=" + at.dir, "--daemon=no", "--guardian=no", "--disable-syslog",
			"--write-pid=no"}, nil
	}
}

// luaAddress writes the record of a name that chooses an address by weight in Lua.
func luaAddress(f *file, i int) {
	fmt.Fprintf(f, "d%05d 60 IN LUA A \"pickwrandom({", i)
	for j := range backends {
		if j > 0 {
			f.WriteByte(',')
		}
		fmt.Fprintf(f, "{%d,'%s'}", weight(j), backend(i, j))
	}
	f.line("})\"")
}
