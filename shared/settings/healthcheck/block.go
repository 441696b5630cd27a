// Package healthcheck is the health_check block, which both roles' configurations have: its keys, its defaults, and how
// it becomes a check.Spec. What a check may be is decided in package check.
package healthcheck

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gslb.internal/shared/check"
	"gslb.internal/shared/settings"
)

// Block is how a backend is probed, as it is configured.
type Block struct {
	Type               string        `key:"type"` // see check.Types
	Path               string        `key:"path"`
	Host               string        `key:"host"`    // not tcp: Host header; default: the address
	Address            netip.Addr    `key:"address"` // probe here instead of the backend's own address
	Interval           time.Duration `key:"interval"`
	Timeout            time.Duration `key:"timeout"`
	FailureThreshold   int           `key:"failure_threshold"`
	SuccessThreshold   int           `key:"success_threshold"`
	ServerName         string        `key:"server_name"` // https, grpcs: name in the certificate; default: host
	InsecureSkipVerify bool          `key:"insecure_skip_verify"`

	Method         string            `key:"method"`
	Headers        map[string]string `key:"headers"`
	ExpectedStatus string            `key:"expected_status"` // such as 200,301-308
	BodyContains   string            `key:"body_contains"`
	BodyMatches    string            `key:"body_matches"` // RE2
	Send           string            `key:"send"`         // tcp
	Expect         string            `key:"expect"`       // tcp
	GRPCService    string            `key:"grpc_service"`
	CAFile         string            `key:"ca_file"`  // https, grpcs
	Counting       string            `key:"counting"` // consecutive or leaky

	authorities string // what ca_file holds; read by Validate
}

// SetDefaults gives the block the specification's reference values.
func (b *Block) SetDefaults() {
	b.Interval = check.DefaultInterval
	b.Timeout = check.DefaultTimeout
	b.FailureThreshold = check.DefaultFailureThreshold
	b.SuccessThreshold = check.DefaultSuccessThreshold
	b.Counting = string(check.Consecutive)
}

// Spec is the check that the block describes.
func (b *Block) Spec() check.Spec {
	return check.Spec{
		Type: check.Type(b.Type), Path: b.Path, Host: b.Host, Address: b.Address,
		Interval: b.Interval, Timeout: b.Timeout,
		FailureThreshold: b.FailureThreshold, SuccessThreshold: b.SuccessThreshold,
		ServerName: b.ServerName, InsecureSkipVerify: b.InsecureSkipVerify, Detail: b.detail().Details(),
	}
}

// detail is the part that few checks have. What is the default is left out, so that equal checks are equal.
func (b *Block) detail() check.Detail {
	d := check.Detail{
		Method: b.Method, ExpectedStatus: b.ExpectedStatus, BodyContains: b.BodyContains, BodyMatches: b.BodyMatches,
		Send: b.Send, Expect: b.Expect, GRPCService: b.GRPCService, Authorities: b.authorities, Counting: check.Counting(b.Counting),
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

// Validate reads ca_file and adds what is wrong with the block, which stands at key.
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
	if b.Type == string(check.TCP) {
		b.refuseUnused(report, key, "path", b.Path)
		b.refuseUnused(report, key, "host", b.Host)
	}
	if b.Type == string(check.GRPC) || b.Type == string(check.GRPCS) {
		b.refuseUnused(report, key, "path", b.Path)
	}
	if b.Type != string(check.HTTPS) && b.Type != string(check.GRPCS) {
		b.refuseUnused(report, key, "server_name", b.ServerName)
	}
}

// readAuthorities reads ca_file, which is relative to the file that names it.
func (b *Block) readAuthorities(report *settings.Report, key string) {
	if b.CAFile == "" {
		return
	}
	path := b.CAFile
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(report.Locate(key).File), path)
	}
	file, err := os.Open(path)
	if err != nil {
		report.Add(key, b.CAFile, "cannot be read ("+reason(err)+"): give a file with certificates in PEM form")
		return
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, check.MaxAuthoritiesLength+1))
	switch {
	case err != nil:
		report.Add(key, b.CAFile, "cannot be read ("+reason(err)+"): give a file with certificates in PEM form")
	case len(text) == 0:
		report.Add(key, b.CAFile, "it is empty: give a file with certificates in PEM form")
	}
	b.authorities = string(text)
}

// reason takes the system's reason out of an error that also names the path.
func reason(err error) string {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err.Error()
	}
	return err.Error()
}

// refuseUnused adds a problem for a key that this type of check never looks at: who wrote it expects an effect.
func (b *Block) refuseUnused(report *settings.Report, key, name, value string) {
	if value != "" {
		report.Addf(key+"."+name, value, "a check of type %s has no use for it: remove it, or change type", b.Type)
	}
}
