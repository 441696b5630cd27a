package check

import (
	"crypto/x509"
	"fmt"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
)

// Limits of a Detail, in octets: such a Detail fits in an agent's message (package wire).
const (
	MaxStatusLength  = 128
	MaxHeadersLength = 1024
	MaxTextLength    = 256
	// MaxAuthoritiesLength is enough for two certificates with RSA keys.
	MaxAuthoritiesLength = 4096
)

var methods = []string{"GET", "HEAD", "OPTIONS"}

// ownHeaders are headers that the check itself sets, and headers that frame the message.
var ownHeaders = []string{"Host", "Connection", "Content-Length", "Transfer-Encoding", "Te", "Trailer", "Upgrade",
	"Expect"}

// validateDetail passes every problem of d for a check of type t to add.
func validateDetail(t Type, d Detail, add func(field, value, remedy string)) {
	for i := range detailSettings {
		f := &detailSettings[i]
		value := *f.Text(&d)
		if value == "" {
			continue
		}
		remedy := f.remedy(value)
		if !f.general && !t.Takes(f.Key) {
			remedy = fmt.Sprintf("a check of type %s has no use for it: remove it, or change type", t)
		}
		if remedy == "" {
			continue
		}
		if f.show != nil {
			value = f.show(value)
		}
		add(f.Key, strconv.Quote(value), remedy)
	}
	if d.Method == "HEAD" && (d.BodyContains != "" || d.BodyMatches != "") {
		add("method", `"HEAD"`, "its answer has no body to look at: use GET, or remove body_contains and body_matches")
	}
}

// firstHeader returns the name of the first header. The value of a header may be a password.
func firstHeader(lines string) string {
	name, _, _ := strings.Cut(lines, ":")
	return name
}

func methodRemedy(method string) string {
	if !slices.Contains(methods, method) {
		return "use GET, HEAD or OPTIONS: a check must not change anything"
	}
	return ""
}

// headersRemedy returns the problem of lines of the form "Name: value", or "".
func headersRemedy(lines string) string {
	if len(lines) > MaxHeadersLength {
		return fmt.Sprintf("they have %d octets, at most %d are allowed", len(lines), MaxHeadersLength)
	}
	for line := range strings.SplitSeq(lines, "\n") {
		name, value, found := strings.Cut(line, ": ")
		if !found || name == "" || strings.ContainsFunc(name, notInLabel) {
			return "a header's name has letters, digits and hyphens only"
		}
		if strings.ContainsFunc(value, notInText) {
			return "a header's value is printable text in one line"
		}
		if slices.Contains(ownHeaders, textproto.CanonicalMIMEHeaderKey(name)) {
			return name + " cannot be set: the check sets it itself (for Host there is health_check.host)"
		}
	}
	return ""
}

// notInText reports whether a character is neither printable ASCII nor a space.
func notInText(r rune) bool { return r < ' ' || r > '~' }

func statusRemedy(text string) string {
	if _, ok := parseStatuses(text); !ok || len(text) > MaxStatusLength {
		return `give statuses and ranges from 200 to 599, such as "200,301-308"`
	}
	return ""
}

func textRemedy(text string) string {
	if len(text) > MaxTextLength {
		return fmt.Sprintf("it has %d octets, at most %d are allowed", len(text), MaxTextLength)
	}
	return ""
}

func serviceRemedy(name string) string {
	if len(name) > MaxTextLength || strings.ContainsFunc(name, notInText) {
		return "give the full name of the service, such as shop.v1.Orders"
	}
	return ""
}

func authoritiesRemedy(pem string) string {
	if len(pem) > MaxAuthoritiesLength {
		return fmt.Sprintf(
			"it has %d octets, at most %d are allowed: keep only the authorities that sign this backend's certificate", len(pem),
			MaxAuthoritiesLength)
	}
	if !x509.NewCertPool().AppendCertsFromPEM([]byte(pem)) {
		return "it has no certificate in PEM form"
	}
	return ""
}

func countingRemedy(text string) string {
	if c := Counting(text); c != Consecutive && c != Leaky {
		return "use consecutive or leaky"
	}
	return ""
}
