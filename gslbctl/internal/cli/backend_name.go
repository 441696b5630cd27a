package cli

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

// backendForms describes the forms of a backend argument, for usage lines.
const backendForms = "<service>:<ip>:<port>|<ip>:<port>|<ip>"

// backendName is a backend argument as the operator typed it.
type backendName struct {
	service string // "" if the text has none
	address netip.Addr
	port    int // 0 if the text has none: all ports
}

// isID reports whether the name has all parts of an id.
func (n backendName) isID() bool { return n.service != "" && n.port != 0 }

// endpoint returns the address with the port, if the name has a port.
func (n backendName) endpoint() string {
	if n.port == 0 {
		return n.address.String()
	}
	return netip.AddrPortFrom(n.address, uint16(n.port)).String()
}

// argument returns the name as an argument: its id, or the service and the address without a port. Without a port, an
// IPv6 address has brackets, because its last group could be a port.
func (n backendName) argument() string {
	switch {
	case n.port != 0:
		return backendID(n)
	case n.address.Is6():
		return n.service + ":[" + n.address.String() + "]"
	}
	return n.service + ":" + n.address.String()
}

// matches reports whether the name selects a backend.
func (n backendName) matches(b api.Backend) bool {
	return (n.service == "" || sameName(b.Service, n.service)) && b.Address == n.address.String() &&
		(n.port == 0 || b.Port == n.port)
}

// backendNames returns the possible meanings of a text, the most likely first. It returns nil if the text has no IP
// address. An IPv6 address can have brackets. An unbracketed text such as 2001:db8::1:443 has two meanings: an address,
// and an address with a port. After a service, the last number is a port if an address precedes it, as in an id.
func backendNames(text string) (list []backendName) {
	add := func(service, address string, port int) {
		if inner, ok := strings.CutPrefix(address, "["); ok {
			if address, ok = strings.CutSuffix(inner, "]"); !ok {
				return
			}
		}
		if ip, err := netip.ParseAddr(address); err == nil && ip.Zone() == "" {
			list = append(list, backendName{service, ip, port})
		}
	}
	addWithPort := func(service, text string) {
		at := strings.LastIndexByte(text, ':')
		if port, err := strconv.ParseUint(text[at+1:], 10, 16); at > 0 && err == nil && port > 0 {
			add(service, text[:at], int(port))
		}
	}
	add("", text, 0)
	addWithPort("", text)
	if service, rest, found := strings.Cut(text, ":"); found && service != "" && service[0] != '[' {
		addWithPort(service, rest)
		add(service, rest, 0)
	}
	return list
}

// backendArgument returns the backend that arguments name: service:ip:port, ip:port or ip, or a service and an address
// as two arguments. For an argument without a service, it searches the backends that known returns. The result is the
// only matching backend, or all ports of the address if one service has several backends there.
func (a *app) backendArgument(ctx context.Context, args []string,
	known fleet.Request[api.BackendList]) (name backendName, err error) {
	if len(args) == 2 {
		names := backendNames(args[1])
		if len(names) == 0 || names[0].service != "" {
			return name, fmt.Errorf("the address is %q: it must be an IP address, with or without a port", args[1])
		}
		names[0].service = args[0]
		return names[0], nil
	}
	names := backendNames(args[0])
	if len(names) == 0 {
		return name, fmt.Errorf("the backend is %q: it must be service:ip:port, ip:port or ip", args[0])
	}
	if names[0].service != "" {
		return names[0], nil
	}
	found, err := a.lookUpBackends(ctx, args[0], known)
	if err != nil {
		return name, err
	}
	for _, b := range found[1:] {
		if !sameName(b.Service, found[0].Service) {
			return name, severalBackends(args[0], found)
		}
	}
	if name, err = nameOf(found[0]); len(found) > 1 {
		name.port = 0
	}
	return name, err
}

// overrideArgument returns the backend that arguments name, as backendArgument does. For an argument without a service,
// it searches the overrides of all nodes, and requires exactly one match.
func (a *app) overrideArgument(ctx context.Context, args []string) (name backendName, err error) {
	if names := backendNames(args[0]); len(args) == 2 || len(names) == 0 || names[0].service != "" {
		return a.backendArgument(ctx, args, overriddenBackends)
	}
	found, err := a.lookUpBackends(ctx, args[0], overriddenBackends)
	if err != nil {
		return name, err
	}
	if len(found) > 1 {
		return name, severalBackends(args[0], found)
	}
	return nameOf(found[0])
}

// nameOf returns the name of a backend with its service, address and port.
func nameOf(b api.Backend) (backendName, error) {
	address, err := netip.ParseAddr(b.Address)
	if err != nil {
		return backendName{}, fmt.Errorf("the address of the backend %s: %w", b.ID, err)
	}
	return backendName{b.Service, address, b.Port}, nil
}

// joinBackend returns the text of a backend argument. A service and an address as two arguments are the same as
// service:address. Other arguments stay unchanged, for the command to validate.
func joinBackend(args []string) (string, error) {
	if len(args) != 2 {
		return strings.Join(args, " "), nil
	}
	names := backendNames(args[1])
	if len(names) == 0 {
		// A server can have a host name, whose port is required.
		if host, port, found := strings.Cut(args[1], ":"); found && host != "" && isPort(port) {
			return args[0] + ":" + args[1], nil
		}
		return "", fmt.Errorf("%q is not an address of %s: give an IP address, with or without a port", args[1], args[0])
	}
	if names[0].service != "" || len(backendNames(args[0])) > 0 {
		return "", fmt.Errorf("%q and %q are two backends: give one, as service:ip:port or as a service and an address",
			args[0], args[1])
	}
	names[0].service = args[0]
	return names[0].argument(), nil
}

// isPort reports whether a text is a port number.
func isPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return err == nil && port > 0
}

// serverArgument returns the id of the server that an argument names: by its id, ip:port or ip. For an argument without
// a service or port, it searches the servers of all nodes. It returns the id of a server with a host name unchanged.
func (a *app) serverArgument(ctx context.Context, text string) (id string, err error) {
	names := backendNames(text)
	if len(names) == 0 {
		return text, nil
	}
	if names[0].isID() {
		return backendID(names[0]), nil
	}
	found, err := a.lookUpBackends(ctx, text, allServers)
	if err != nil {
		return "", err
	}
	if len(found) > 1 {
		return "", severalBackends(text, found)
	}
	return found[0].ID, nil
}

// backendID returns the id of a backend. An IPv6 address in it has no brackets.
func backendID(n backendName) string {
	return fmt.Sprintf("%s:%s:%d", strings.TrimSuffix(n.service, "."), n.address, n.port)
}

// allServers returns the servers of a node that have an address, as backends. Only ID, Service, Address and Port are
// set.
func allServers(ctx context.Context, c *api.Client) (api.BackendList, error) {
	list, err := c.Servers(ctx)
	var found api.BackendList
	for _, s := range list.Servers {
		found.Backends = append(found.Backends, api.Backend{ID: s.ID, Service: s.Service, Address: s.Address,
			Port: s.Port})
	}
	return found, err
}
