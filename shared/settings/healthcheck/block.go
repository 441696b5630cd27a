// Package healthcheck owns the block health_check of both roles' configurations: its keys, its defaults and its
// conversion to a check.Spec. The config packages of agent and overwatch call it. It makes no check; package check
// decides which checks are valid.
package healthcheck

import (
	"errors"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"gslb.internal/shared/check"
	"gslb.internal/shared/settings"
)

// Block is the configuration of a check.
type Block struct {
	// false: no check is made; the node then goes by agents alone, and a server without one serves. Not for an agent's
	// backends.
	Enabled *bool `key:"enabled"`
	// How a backend is probed: `http`, `https`, `tcp`, `grpc`
	// (grpc.health.v1 without TLS) or `grpcs` (over TLS). Required in the block, but for one with `enabled: false`.
	Type string `key:"type"`
	// http, https: what is asked for, beginning with a slash. Required for these.
	Path string `key:"path"`
	// not tcp: the Host header; default: the address.
	Host string `key:"host"`
	// Probe this address instead of the backend's own, on its port.
	Address netip.Addr `key:"address"`
	// From the start of one check to the start of the next: 50ms to 24h.
	Interval time.Duration `key:"interval" default:"5s"`
	// For the whole check; not longer than `interval`.
	Timeout time.Duration `key:"timeout" default:"2s"`
	// Failed checks in a row that make the backend unhealthy: 1 to 1000.
	FailureThreshold int `key:"failure_threshold" default:"3"`
	// Successful checks in a row that make it healthy again: 1 to 1000.
	SuccessThreshold int `key:"success_threshold" default:"2"`
	// https, grpcs: the name the certificate must be valid for; default: `host` without port, else the address.
	ServerName string `key:"server_name"`
	// https, grpcs: accept any certificate. The check then does not tell whose server answers.
	InsecureSkipVerify bool `key:"insecure_skip_verify"`

	// http, https: `GET`, `HEAD` or `OPTIONS`; default: `GET`. Others are no checks, they change something.
	Method string `key:"method"`
	// http, https: further headers of the request, at most 1024 octets in all.
	Headers map[string]string `key:"headers"`
	// http, https: the healthy statuses, such as `200,301-308`; default: 200 to 399.
	ExpectedStatus string `key:"expected_status"`
	// http, https: a text that the body must have, at most 256 octets.
	BodyContains string `key:"body_contains"`
	// http, https: a regular expression (RE2) that must match within the first 64 KiB of the body: at most 256 octets,
	// and 2000 instructions when compiled.
	BodyMatches string `key:"body_matches"`
	// tcp: what is sent after connecting, at most 256 octets.
	Send string `key:"send"`
	// tcp: a text that must come within the first 4096 octets, at most 256 octets long.
	Expect string `key:"expect"`
	// grpc, grpcs: the service that is asked about; default: the server as a whole.
	GRPCService string `key:"grpc_service"`
	// https, grpcs: a file with certificates in PEM form that are trusted in place of the system's, relative to the
	// file that names it, at most 4096 octets.
	CAFile string `key:"ca_file"`
	// `consecutive`: failures count in a row. `leaky`: failures count together although there are successes in between,
	// until 10 successes in a row; this finds what fails every now and then.
	Counting string `key:"counting" default:"consecutive"`

	authorities string // what ca_file holds; read by Validate
}

// Off reports whether no check is to be made.
func (b *Block) Off() bool { return b.Enabled != nil && !*b.Enabled }

// Spec returns the check that the block describes.
func (b *Block) Spec() check.Spec {
	kind := check.Type(b.Type)
	if b.Off() && kind == "" {
		kind = check.TCP
	}
	return check.Spec{
		Type: kind, Off: b.Off(), Path: b.Path, Host: b.Host, Address: b.Address,
		Interval: b.Interval, Timeout: b.Timeout,
		FailureThreshold: b.FailureThreshold, SuccessThreshold: b.SuccessThreshold,
		ServerName: b.ServerName, InsecureSkipVerify: b.InsecureSkipVerify, Detail: b.detail().Details(),
	}
}

// detail returns the settings that few checks have. Defaults are left out, so that equal checks compare equal.
func (b *Block) detail() check.Detail {
	d := check.Detail{
		Method: b.Method, ExpectedStatus: b.ExpectedStatus, BodyContains: b.BodyContains, BodyMatches: b.BodyMatches,
		Send: b.Send, Expect: b.Expect, GRPCService: b.GRPCService,
		Authorities: b.authorities, Counting: check.Counting(b.Counting),
	}
	if d.Counting == check.Consecutive {
		d.Counting = ""
	}
	lines := make([]string, 0, len(b.Headers))
	for _, name := range slices.Sorted(maps.Keys(b.Headers)) {
		lines = append(lines, name+": "+b.Headers[name])
	}
	d.Headers = strings.Join(lines, "\n")
	return d
}

// Validate reads ca_file and adds the problems of the block to report. key is the key of the block.
func (b *Block) Validate(report *settings.Report, key string) {
	b.readAuthorities(report, key+".ca_file")
	for _, p := range b.Spec().Validate() {
		value, remedy := p.Value, p.Remedy
		if unquoted, err := strconv.Unquote(value); err == nil {
			value = unquoted
		}
		if value == "" {
			remedy = "is missing: " + remedy
		}
		report.Add(key+"."+p.Field, value, remedy)
	}
	if check.Type(b.Type).Known() {
		b.refuseUnused(report, key, "path", b.Path)
		b.refuseUnused(report, key, "host", b.Host)
	}
	b.refuseUnused(report, key, "server_name", b.ServerName)
}

// readAuthorities reads ca_file, which is relative to the file that names it.
func (b *Block) readAuthorities(report *settings.Report, key string) {
	if b.CAFile == "" {
		return
	}
	text, err := report.ReadFile(key, b.CAFile, check.MaxAuthoritiesLength)
	if err == nil && text == "" {
		err = errors.New("is empty")
	}
	if err != nil {
		report.Add(key, b.CAFile, err.Error()+
			": give a file with the certificates of the authorities that sign this backend's, in PEM form")
	}
	b.authorities = text
}

// refuseUnused adds a problem for a key that has a value and that this type of check ignores.
func (b *Block) refuseUnused(report *settings.Report, key, name, value string) {
	if value != "" && !check.Type(b.Type).Takes(name) {
		report.Addf(key+"."+name, value, "a check of type %s has no use for it: remove it, or change type", b.Type)
	}
}
