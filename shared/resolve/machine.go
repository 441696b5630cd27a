package resolve

import (
	"errors"
	"net"

	"github.com/miekg/dns"
)

// resolvConf is the file that names the machine's resolvers.
const resolvConf = "/etc/resolv.conf"

// Machine returns the machine's resolvers, addresses with ports.
func Machine() (servers []string, err error) {
	conf, err := dns.ClientConfigFromFile(resolvConf)
	if err != nil || len(conf.Servers) == 0 {
		return nil, errors.New(resolvConf + " names no resolver")
	}
	for _, server := range conf.Servers {
		servers = append(servers, net.JoinHostPort(server, conf.Port))
	}
	return servers, nil
}
