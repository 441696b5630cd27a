package model

import (
	"errors"
	"strconv"

	"gslb.internal/shared/check"
	"gslb.internal/shared/settings"
)

// Validate reads ca_file and adds the problems of a block health_check of a configuration file to report.
// key is the key of the block.
func (h *HealthCheck) Validate(report *settings.Report, key string) {
	h.readAuthorities(report, key+".ca_file")
	for _, p := range h.Spec().Validate() {
		value, remedy := p.Value, p.Remedy
		if unquoted, err := strconv.Unquote(value); err == nil {
			value = unquoted
		}
		if value == "" {
			remedy = "is missing: " + remedy
		}
		report.Add(key+"."+p.Field, value, remedy)
	}
	if check.Type(h.Type).Known() {
		h.refuseUnused(report, key, "path", h.Path)
		h.refuseUnused(report, key, "host", h.Host)
	}
	h.refuseUnused(report, key, "server_name", h.ServerName)
}

// readAuthorities reads ca_file, which is relative to the file that names it.
func (h *HealthCheck) readAuthorities(report *settings.Report, key string) {
	if h.CAFile == "" {
		return
	}
	text, err := report.ReadFile(key, h.CAFile, check.MaxAuthoritiesLength)
	if err == nil && text == "" {
		err = errors.New("is empty")
	}
	if err != nil {
		report.Add(key, h.CAFile, err.Error()+
			": give a file with the certificates of the authorities that sign this backend's, in PEM form")
	}
	h.Authorities = text
}

// refuseUnused adds a problem for a key with a value that this type of check ignores.
func (h *HealthCheck) refuseUnused(report *settings.Report, key, name, value string) {
	if value != "" && !check.Type(h.Type).Takes(name) {
		report.Addf(key+"."+name, value, "a check of type %s has no use for it: remove it, or change type", h.Type)
	}
}
