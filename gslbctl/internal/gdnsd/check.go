package gdnsd

import (
	"fmt"
	"strconv"
	"strings"

	"gslb.internal/gslbctl/internal/imports"
)

// unchecked is the port of a server whose checks name none.
const unchecked = 80

// monitor is the health check made of the service types of an address.
type monitor struct {
	check *imports.Check
	port  int
	quiet int      // seconds until an address that is up can be down; 0: never
	tells []string // differences that the operator is told of
}

// monitor returns the health check for service types: the first that has one, since a node has one check for a server.
func (r *reader) monitor(types []string) (m monitor, err error) {
	m = monitor{check: imports.NoCheck(), port: unchecked}
	for _, name := range types {
		if name == "up" {
			continue
		}
		next, err := r.serviceType(name)
		if err != nil {
			return m, err
		}
		switch {
		case next.check.Type == "":
		case m.check.Type == "":
			m.check, m.port = next.check, next.port
		default:
			m.tells = append(m.tells, "service type "+name+" is not checked: a server has one check")
		}
		if next.quiet > 0 && (m.quiet == 0 || next.quiet < m.quiet) {
			m.quiet = next.quiet
		}
		m.tells = append(m.tells, next.tells...)
	}
	return m, nil
}

func (r *reader) serviceType(name string) (m monitor, err error) {
	h := r.root.sub("service_types").sub(name)
	if h == nil {
		return m, fmt.Errorf("its service type %s marks it as down, or is not defined", name)
	}
	number := func(key string, otherwise int) int {
		n, failed := strconv.Atoi(h.text(key))
		if h.text(key) == "" || failed != nil {
			return otherwise
		}
		return n
	}
	interval, down := number("interval", 10), number("down_thresh", 10)
	c := &imports.Check{Interval: strconv.Itoa(interval) + "s",
		Timeout:          strconv.Itoa(number("timeout", max(interval/2, 1))) + "s",
		FailureThreshold: down, SuccessThreshold: number("up_thresh", 20), Counting: "leaky"}
	m = monitor{check: c, quiet: interval * down}
	switch ok := number("ok_thresh", 10); ok {
	case 10:
	case 1:
		c.Counting = ""
	default:
		m.tells = append(m.tells, fmt.Sprintf("ok_thresh of service type %s is 10, not %d", name, ok))
	}
	switch plugin := h.text("plugin"); plugin {
	case "tcp_connect":
		c.Type, m.port = "tcp", number("port", unchecked)
	case "http_status":
		c.Type, m.port, c.Path, c.Host = "http", number("port", 80), "/", h.text("vhost")
		if path := h.text("url_path"); path != "" {
			c.Path = path
		}
		c.ExpectedStatus = "200"
		if codes := list(h.get("ok_codes")); len(codes) > 0 {
			c.ExpectedStatus = strings.Join(codes, ",")
		}
	case "static":
		if !strings.EqualFold(h.text("state"), "up") && h.text("state") != "" {
			return m, fmt.Errorf("its service type %s marks it as down", name)
		}
		m = monitor{check: imports.NoCheck(), port: unchecked}
		m.quiet = number("ttl", 0)
	case "null":
		return m, fmt.Errorf("its service type %s marks it as down", name)
	default:
		m = monitor{check: imports.NoCheck(), port: unchecked, quiet: m.quiet}
		m.tells = []string{"service type " + name + " is not checked: a node has no " + plugin + ", an agent may report it"}
	}
	return m, nil
}
