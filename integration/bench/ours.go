//go:build linux

package main

import (
	"bytes"
	"encoding/base64"
	"path/filepath"
)

// signing is the proof of denial in a signed zone, NSEC or NSEC3; unsigned: no signatures.
type signing string

const (
	unsigned signing = ""
	nsec     signing = "nsec"
	nsec3    signing = "nsec3"
)

// gslb returns a function that prepares gslb-overwatch with static backends without health checks.
func gslb(algorithm string, signing signing) func(setup) ([]string, error) {
	return func(at setup) ([]string, error) {
		f := overwatchFile(at, algorithm, signing, func(f *file) {
			f.line("  gossip: {bind_address: \"127.0.0.1:0\", encryption_key: %q}", gossipKey())
		})
		path, err := f.writeOverwatch(at, algorithm)
		return []string{filepath.Join(at.bin, "gslb-overwatch"), "--config", path}, err
	}
}

func gossipKey() string { return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("k"), 32)) }

// listsName is the name of the file with a node's regions and domains.
const listsName = "lists.json"

// overwatchFile returns the configuration of a node without regions and domains. more writes further keys of the
// section overwatch; the caller may append other sections.
func overwatchFile(at setup, algorithm string, signing signing, more func(f *file)) *file {
	f := &file{}
	f.line("mode: overwatch\nincludes: [%s]\ndata_dir: %s", listsName, filepath.Join(at.dir, "data"))
	f.line("overwatch:\n  identity: {node_id: bench, region: r1}")
	more(f)
	f.line("  validation: {enabled: false}")
	if signing != unsigned {
		f.line("  dnssec: {enabled: true, denial: %s}", signing)
	} else {
		f.line("  dnssec: {enabled: false, security_acknowledgment: \"unsigned answers are measured\"}")
	}
	if algorithm == "geolocation" {
		f.line("  geolocation: {default_region: r1, custom_mappings: [{cidr: 127.0.0.0/10, region: r1}, " +
			"{cidr: 127.64.0.0/10, region: r2}, {cidr: 10.0.0.0/8, region: r3}, {cidr: 192.0.2.0/24, region: r4}]}")
	}
	f.line("dns: {listen_address: \"127.0.0.1:%d\", default_ttl: 60, zones: [%s]}", at.port, zoneName)
	f.line("logging: {level: error, format: json}")
	return f
}

// writeOverwatch writes the configuration of a node, and a separate file with its regions and domains, as JSON for the
// parsing of 100 000 names. It returns the path of the configuration.
func (f *file) writeOverwatch(at setup, algorithm string) (string, error) {
	if _, err := overwatchLists(at, algorithm).write(at.dir, listsName); err != nil {
		return "", err
	}
	return f.write(at.dir, "overwatch.yaml")
}

// overwatchLists returns the regions and domains of a node as JSON.
func overwatchLists(at setup, algorithm string) *file {
	f := &file{}
	f.line(`{"regions": [`)
	for j := range backends {
		f.line(`{"name": "r%d", "servers": [`, j+1)
		for i := range at.names {
			f.line(`{"address": %q, "port": 80, "weight": %d, "service": %q}%s`,
				backend(i, j), weight(j), at.ask.name(i), comma(i, at.names))
		}
		f.line("]}%s", comma(j, backends))
	}
	f.line(`], "domains": [`)
	for i := range at.names {
		f.line(`{"name": %q, "routing_algorithm": %q, "regions": ["r1", "r2", "r3", "r4"], "ttl": 60}%s`,
			at.ask.name(i), algorithm, comma(i, at.names))
	}
	f.line("]}")
	return f
}

// comma returns the comma after element i of a list, "" after the last element.
func comma(i, of int) string {
	if i == of-1 {
		return ""
	}
	return ","
}
