package gdnsd

import (
	"fmt"
	"strconv"
	"strings"

	"gslb.internal/gslbctl/internal/imports"
)

// unchecked is the port of a server whose checks have no port.
const unchecked = 80

// serverCheck is the health check that the service types of an address define.
type serverCheck struct {
	check     *imports.Check
	port      int
	downAfter int      // seconds until a failing address can become down; 0: never
	notices   []string // differences to report to the operator
}

// checkOf returns the health check for service types. It uses the first service type with a check, because a server on
// a node has one check.
func (r *reader) checkOf(types []string) (m serverCheck, err error) {
	m = serverCheck{check: imports.NoCheck(), port: unchecked}
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
			m.notices = append(m.notices, "service type "+name+" is not checked: a server has one check")
		}
		if next.downAfter > 0 && (m.downAfter == 0 || next.downAfter < m.downAfter) {
			m.downAfter = next.downAfter
		}
		m.notices = append(m.notices, next.notices...)
	}
	return m, nil
}

func (r *reader) serviceType(name string) (m serverCheck, err error) {
	h := r.root.sub("service_types").sub(name)
	if h == nil {
		return m, fmt.Errorf("its service type %s marks it as down, or is not defined", name)
	}
	number := func(key string, otherwise int) int {
		n, failed := integer(h.text(key), 31)
		if h.text(key) == "" || failed != nil {
			return otherwise
		}
		return int(n)
	}
	interval, down := number("interval", 10), number("down_thresh", 10)
	c := &imports.Check{Interval: strconv.Itoa(interval) + "s",
		Timeout:          strconv.Itoa(number("timeout", max(interval/2, 1))) + "s",
		FailureThreshold: down, SuccessThreshold: number("up_thresh", 20), Counting: "leaky"}
	m = serverCheck{check: c, downAfter: interval * down}
	switch ok := number("ok_thresh", 10); ok {
	case 10:
	case 1:
		c.Counting = ""
	default:
		m.notices = append(m.notices, fmt.Sprintf("ok_thresh of service type %s is 10, not %d", name, ok))
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
		m = serverCheck{check: imports.NoCheck(), port: unchecked}
		m.downAfter = number("ttl", 0)
	case "null":
		return m, fmt.Errorf("its service type %s marks it as down", name)
	default:
		m = serverCheck{check: imports.NoCheck(), port: unchecked, downAfter: m.downAfter}
		m.notices = []string{"service type " + name + " is not checked: a node has no " + plugin +
			", an agent may report it"}
	}
	return m, nil
}
