package model

import (
	"fmt"
	"slices"
	"strings"

	"gslb.internal/shared/settings"
)

const maxSRV = 8 // services of a domain

// srvProblems returns the problems of the field srv.
func (d *Domain) srvProblems() (found settings.Problems) {
	add := func(key, value, format string, args ...any) {
		found = append(found, settings.Problem{Key: key, Value: value, Message: fmt.Sprintf(format, args...)})
	}
	switch {
	case len(d.SRV) > maxSRV:
		add("srv", fmt.Sprint(len(d.SRV)), "give at most %d services", maxSRV)
	case d.AnswersNames():
		add("srv", fmt.Sprint(d.SRV), "conflicts with answer: cname, since the target of an SRV record is no alias "+
			"(RFC 2782): remove one of the two")
	case strings.HasPrefix(d.Name, "*"):
		add("srv", fmt.Sprint(d.SRV), "the target of an SRV record is a single name, and %s is a wildcard: set srv of a "+
			"domain without an asterisk", d.Name)
	}
	for at, service := range d.SRV {
		same := func(other string) bool { return strings.EqualFold(service, other) }
		if key := fmt.Sprintf("srv[%d]", at); !isSRV(service) {
			add(key, service, "give a service and its protocol, each behind an underscore, such as _sip._tcp (RFC 2782): "+
				"letters, digits and hyphens, 62 at most")
		} else if slices.ContainsFunc(d.SRV[:at], same) {
			add(key, service, "is in this list already: keep one")
		}
	}
	return found
}

// isSRV reports whether text is a service and a protocol, such as _sip._tcp.
func isSRV(text string) bool {
	labels := strings.Split(strings.ToLower(text), ".")
	return len(labels) == 2 && !slices.ContainsFunc(labels, func(label string) bool {
		name, ok := strings.CutPrefix(label, "_")
		return !ok || name == "" || len(name) > 62 || name[0] == '-' || name[len(name)-1] == '-' ||
			strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != ""
	})
}
