package config

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"gslb.internal/overwatch/internal/state/zonefile"
	"gslb.internal/shared/settings"
)

const (
	// maxFilterNames and maxFilterTypes are the maximum numbers of entries in the filters of dnstap and of the query log.
	maxFilterNames = 1000
	maxFilterTypes = 100
	// maxSocketPath is the maximum length of the path of a unix socket in octets (unix(7)).
	maxSocketPath = 107
	// maxProxyNetworks is the maximum number of networks of proxies: each query over UDP is compared with all of them.
	maxProxyNetworks = 64
)

// unixPrefix marks the path of a unix socket.
const unixPrefix = "unix:"

// observers checks the consumer of dnstap, and the filters of dnstap and of the query log.
func (v *validator) observers() {
	const key = "dns.dnstap"
	d := &v.config.DNS.Dnstap
	if path, isUnix := strings.CutPrefix(d.Address, unixPrefix); isUnix {
		if !filepath.IsAbs(path) || len(path) > maxSocketPath {
			v.Addf(key+".address", d.Address, "give an absolute path of at most %d characters, such as unix:/run/dnstap.sock",
				maxSocketPath)
		}
	} else if d.Address != "" {
		if remedy := settings.HostPortRemedy(d.Address); remedy != "" {
			v.Add(key+".address", d.Address, remedy+"; or unix: and the path of a socket")
		}
	}
	v.queryFilter(key, d.Filter())
	v.queryFilter("dns.query_log", v.config.DNS.QueryLog.Filter())
}

// queryFilter checks a filter of queries.
func (v *validator) queryFilter(key string, f *QueryFilter) {
	if n := len(f.Names); n > maxFilterNames {
		v.Addf(key+".names", strconv.Itoa(n), "give at most %d names", maxFilterNames)
	}
	if n := len(f.Types); n > maxFilterTypes {
		v.Addf(key+".types", strconv.Itoa(n), "give at most %d types", maxFilterTypes)
	}
	for i, name := range f.Names {
		if _, remedy := settings.ParseName(name); remedy != "" && name != "." {
			v.Add(fmt.Sprintf("%s.names[%d]", key, i), name, remedy)
		}
	}
	for i, name := range f.Types {
		if zonefile.ParseType(name) == 0 {
			v.Add(fmt.Sprintf("%s.types[%d]", key, i), name, "unknown record type: give a type in capitals, such as AAAA")
		}
	}
	for i, outcome := range f.Outcomes {
		v.oneOf(fmt.Sprintf("%s.outcomes[%d]", key, i), outcome, Outcomes())
	}
}

// proxies checks the networks of the PROXY protocol.
func (v *validator) proxies() {
	if n := len(v.config.DNS.ProxyProtocol.Networks); n > maxProxyNetworks {
		v.Addf("dns.proxy_protocol.networks", strconv.Itoa(n), "give at most %d networks", maxProxyNetworks)
	}
}
