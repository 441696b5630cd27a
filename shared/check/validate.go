package check

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Validate returns every problem of the check, in the order of the fields. nil means that NewProber accepts the Spec.
// It sets no defaults.
func (s Spec) Validate() []Problem {
	var found []Problem
	add := func(field, value, remedy string) {
		found = append(found, Problem{Field: field, Value: value, Remedy: remedy})
	}
	if !s.Type.Known() {
		add("type", quoteUnlessEmpty(string(s.Type)), "use "+Types())
	}
	if s.Type.Takes("path") {
		if remedy := pathRemedy(s.Path); remedy != "" {
			add("path", quoteUnlessEmpty(s.Path), remedy)
		}
	}
	if remedy := hostRemedy(s.Host); remedy != "" {
		add("host", strconv.Quote(s.Host), remedy)
	}
	if s.Address.IsValid() && (s.Address.IsUnspecified() || s.Address.IsMulticast()) {
		add("address", s.Address.String(), "give the unicast address to probe, or leave it out for the backend's own")
	}
	longest := s.Interval
	if s.Interval < MinInterval || s.Interval > MaxInterval {
		add("interval", s.Interval.String(), fmt.Sprintf("give a time from %s to %s", MinInterval, MaxInterval))
		longest = MaxInterval
	}
	if s.FastInterval != 0 && (s.FastInterval < MinInterval || s.FastInterval > longest) {
		add("fast_interval", s.FastInterval.String(), fmt.Sprintf("give a time from %s to the interval (%s)", MinInterval,
			longest))
	}
	if s.Timeout < MinTimeout || s.Timeout > longest {
		add("timeout", s.Timeout.String(), fmt.Sprintf(
			"give a time from %s up to the interval (%s): checks of one backend do not overlap", MinTimeout, longest))
	}
	if s.FailureThreshold < 1 || s.FailureThreshold > MaxThreshold {
		add("failure_threshold", strconv.Itoa(s.FailureThreshold), fmt.Sprintf("give a number from 1 to %d", MaxThreshold))
	}
	if s.SuccessThreshold < 1 || s.SuccessThreshold > MaxThreshold {
		add("success_threshold", strconv.Itoa(s.SuccessThreshold), fmt.Sprintf("give a number from 1 to %d", MaxThreshold))
	}
	if s.ServerName != "" && !validName(s.ServerName) {
		add("server_name", strconv.Quote(s.ServerName),
			"give the DNS name or address in the backend's certificate, without a port")
	}
	validateDetail(s.Type, s.Detail.Detail(), add)
	return found
}

// pathRemedy returns the problem of an http path, or "".
func pathRemedy(path string) string {
	switch {
	case path == "":
		return "an http check needs the path to ask for, for example /health"
	case path[0] != '/':
		return "begin it with a slash"
	case len(path) > MaxPathLength:
		return fmt.Sprintf("it has %d octets, at most %d are allowed", len(path), MaxPathLength)
	case strings.ContainsFunc(path, notInPath):
		return "remove spaces, control characters and #, and percent-encode what is not ASCII"
	}
	if _, err := url.ParseRequestURI(path); err != nil {
		return "percent-encode it correctly (a % is followed by two hexadecimal digits)"
	}
	return ""
}

// notInPath reports whether a character must be escaped in a request target.
func notInPath(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' }

// hostRemedy returns the problem of a Host header, or "".
func hostRemedy(host string) string {
	if host == "" {
		return ""
	}
	if addr, err := netip.ParseAddr(host); err == nil && addr.Is6() {
		return "put the IPv6 address in brackets"
	}
	name, port := splitHost(host)
	if port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "give a port from 1 to 65535 behind the colon, or none"
		}
	}
	if len(host) > MaxNameLength || !validName(name) || strings.HasSuffix(host, ":") {
		return "give a host name or address, with or without a port"
	}
	return ""
}

// splitHost splits "name", "name:port", "[v6]" and "[v6]:port". It returns the name without brackets.
func splitHost(host string) (name, port string) {
	if rest, found := strings.CutPrefix(host, "["); found {
		name, port, _ = strings.Cut(rest, "]")
		return name, strings.TrimPrefix(port, ":")
	}
	name, port, _ = strings.Cut(host, ":")
	return name, port
}

// validName accepts an address, or a DNS name of letters, digits, hyphens and
// underscores.
func validName(name string) bool {
	if addr, err := netip.ParseAddr(name); err == nil {
		return addr.Zone() == ""
	}
	if len(name) > MaxNameLength {
		return false
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(name, "."), ".") {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, notInLabel) {
			return false
		}
	}
	return true
}

func notInLabel(r rune) bool {
	letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	return !letter && (r < '0' || r > '9') && r != '-' && r != '_'
}

func quoteUnlessEmpty(s string) string {
	if s == "" {
		return ""
	}
	return strconv.Quote(s)
}
