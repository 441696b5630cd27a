// Package healthcheck is the health_check block, which both roles' configurations have: its keys, its defaults, and how
// it becomes a check.Spec. What a check may be is decided in package check.
package healthcheck

import (
	"net/netip"
	"strconv"
	"time"

	"gslb.internal/shared/check"
	"gslb.internal/shared/settings"
)

// Block is how a backend is probed, as it is configured.
type Block struct {
	Type               string        `key:"type"` // http, https or tcp
	Path               string        `key:"path"`
	Host               string        `key:"host"`    // http, https: Host header; default: the address
	Address            netip.Addr    `key:"address"` // probe here instead of the backend's own address
	Interval           time.Duration `key:"interval"`
	Timeout            time.Duration `key:"timeout"`
	FailureThreshold   int           `key:"failure_threshold"`
	SuccessThreshold   int           `key:"success_threshold"`
	ServerName         string        `key:"server_name"` // https: name in the certificate; default: host
	InsecureSkipVerify bool          `key:"insecure_skip_verify"`
}

// SetDefaults gives the block the specification's reference values.
func (b *Block) SetDefaults() {
	b.Interval = check.DefaultInterval
	b.Timeout = check.DefaultTimeout
	b.FailureThreshold = check.DefaultFailureThreshold
	b.SuccessThreshold = check.DefaultSuccessThreshold
}

// Spec is the check that the block describes.
func (b *Block) Spec() check.Spec {
	return check.Spec{
		Type: check.Type(b.Type), Path: b.Path, Host: b.Host, Address: b.Address,
		Interval: b.Interval, Timeout: b.Timeout,
		FailureThreshold: b.FailureThreshold, SuccessThreshold: b.SuccessThreshold,
		ServerName: b.ServerName, InsecureSkipVerify: b.InsecureSkipVerify,
	}
}

// Validate adds what is wrong with the block, which stands at key.
func (b *Block) Validate(report *settings.Report, key string) {
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
	if b.Type == string(check.TCP) || b.Type == string(check.HTTP) {
		b.refuseUnused(report, key, "server_name", b.ServerName)
	}
}

// refuseUnused adds a problem for a key that this type of check never looks at: who wrote it expects an effect.
func (b *Block) refuseUnused(report *settings.Report, key, name, value string) {
	if value != "" {
		report.Addf(key+"."+name, value, "a check of type %s has no use for it: remove it, or change type", b.Type)
	}
}
