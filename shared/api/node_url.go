package api

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// ParseNode parses the address of a node and returns the base URL of its API, without a trailing slash. A full URL
// retains its port. The default scheme is http, with the port of DefaultAddress as default port. Valid addresses are
// "node1", "node1:9090", "192.0.2.1", "2001:db8::1", "[2001:db8::1]:9090" and "https://node1/gslb".
func ParseNode(text string) (string, error) {
	if text == "" {
		return "", fmt.Errorf("the address of a node is empty: give host:port or a URL such as http://%s", DefaultAddress)
	}
	raw := text
	if !strings.Contains(raw, "://") {
		raw = "http://" + withPort(raw)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return "", fmt.Errorf("%q is not the address of a node: give host:port or a URL such as http://%s", text,
			DefaultAddress)
	}
	if err := checkNodeURL(u); err != nil {
		return "", fmt.Errorf("%q is not the address of a node: %w", text, err)
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// withPort adds brackets to a bare IPv6 address, and the default port to an address without a port.
func withPort(host string) string {
	_, port, _ := net.SplitHostPort(DefaultAddress)
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return netipHost(addr, port)
	}
	if _, _, err := net.SplitHostPort(host); err == nil || strings.Contains(host, "/") {
		return host
	}
	return net.JoinHostPort(host, port)
}

// netipHost returns an address and a port in URL form, with the percent sign of an IPv6 zone escaped (RFC 6874).
func netipHost(addr netip.Addr, port string) string {
	return strings.Replace(net.JoinHostPort(addr.String(), port), "%", "%25", 1)
}

func checkNodeURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("the scheme is %q, and http and https are understood", u.Scheme)
	case u.Hostname() == "":
		return fmt.Errorf("it names no host")
	case u.User != nil:
		return fmt.Errorf("it carries a user name, and the API knows none")
	case u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("it carries a query or a fragment")
	}
	return nil
}
