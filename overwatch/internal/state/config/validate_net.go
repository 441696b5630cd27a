package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"gslb.internal/shared/settings"
)

// listeners validates every listening address, and checks that the addresses do not overlap.
func (v *validator) listeners() {
	type opened struct {
		key string
		at  settings.Listener
	}
	var all []opened
	add := func(key, text string, oneFamily bool) {
		at, remedy := settings.ParseListener(text)
		if remedy != "" {
			v.Add(key, text, remedy)
			return
		}
		at.OneFamily = oneFamily
		for _, other := range all {
			if at.Overlaps(other.at) {
				v.Addf(key, text, "%s listens there: give another port or address", other.key)
			}
		}
		all = append(all, opened{key, at})
	}
	c := v.config
	if len(c.DNS.ListenAddress) == 0 {
		v.Add("dns.listen_address", "", "is empty: give an address and port, such as :53")
	}
	for i, address := range c.DNS.ListenAddress {
		add(fmt.Sprintf("dns.listen_address[%d]", i), address, true)
	}
	add("overwatch.gossip.bind_address", c.Overwatch.Gossip.BindAddress, false)
	if c.API.Enabled {
		add("api.address", c.API.Address, false)
	}
	if c.Metrics.Enabled && !c.OneListener() {
		add("metrics.address", c.Metrics.Address, false)
	}
}

// maxPeers is the maximum number of nodes that share keys, because each node polls all others.
const maxPeers = 32

// The values of overwatch.dnssec.algorithm.
const (
	AlgorithmECDSA   = "ECDSAP256SHA256"
	AlgorithmED25519 = "ED25519"
)

// leastRoll is the minimum time between two automatic key rollovers, because each rollover waits for the parent zone.
const leastRoll = 24 * time.Hour

// dnsServer checks the address of a DNS server.
func (v *validator) dnsServer(key, value string) {
	if _, err := netip.ParseAddrPort(value); err != nil {
		v.Add(key, value, "give an address with a port, such as 192.0.2.53:53 or [2001:db8::53]:53")
	}
}

func (v *validator) dnssec() {
	const key = "overwatch.dnssec"
	d := &v.config.Overwatch.DNSSEC
	if !d.Enabled && strings.TrimSpace(d.SecurityAcknowledgment) == "" {
		v.Add(key+".security_acknowledgment", "", "is missing: with dnssec.enabled false, anybody on the way can forge "+
			"answers; "+
			"say in your own words that this is accepted, or sign")
	}
	v.oneOf(key+".algorithm", d.Algorithm, []string{AlgorithmECDSA, AlgorithmED25519})
	v.oneOf(key+".denial", d.Denial, []string{DenialNSEC, DenialNSEC3})
	roll := key + ".rollover"
	if d.Rollover.Resolver != "" {
		v.dnsServer(roll+".resolver", d.Rollover.Resolver)
	}
	for i, server := range d.Rollover.ParentServers {
		v.dnsServer(fmt.Sprintf("%s.parent_servers[%d]", roll, i), server)
	}
	if n := len(d.Rollover.ParentServers); n > maxPeers {
		v.Addf(roll+".parent_servers", strconv.Itoa(n), "give at most %d servers", maxPeers)
	}
	if every := d.Rollover.Every; every != 0 && every < leastRoll {
		v.Addf(roll+".every", every.String(), "give at least %s, or 0 for never", leastRoll)
	}
	sync := &d.KeySync
	v.peers(key+".key_sync.peers", sync.Peers)
	v.peers("overwatch.peers", v.config.Overwatch.Peers)
	v.peersTLS(key+".key_sync", sync)
	secret := key + ".key_sync.secret"
	if n := len(sync.Secret); n > 0 && n < shortToken {
		v.warn("%s: it has %d characters: %s", secret, n, tokenRemedy)
	}
	v.reachable()
	v.replication()
}

func (v *validator) peers(key string, peers []string) {
	for i, peer := range peers {
		if remedy := baseURLRemedy(peer); remedy != "" {
			v.Add(fmt.Sprintf("%s[%d]", key, i), peer, remedy)
		}
	}
	if n := len(peers); n > maxPeers {
		v.Addf(key, strconv.Itoa(n), "give at most %d peers", maxPeers)
	}
	v.once(key, peers)
}

// replication adds a warning for settings that prevent the replication of operator state.
func (v *validator) replication() {
	const key = "overwatch.replication.enabled"
	c := v.config
	switch sync := &c.Overwatch.DNSSEC.KeySync; {
	case !c.Overwatch.Replication.Enabled || len(c.Overwatch.ReplicationPeers()) == 0:
	case len(sync.Secret) == 0:
		v.warn("%s: what operators decide here does not reach the peers without overwatch.dnssec.key_sync.secret: set the "+
			"same on all nodes, or false here", key)
	case !c.API.Enabled && !c.Overwatch.DNSSEC.Enabled: // otherwise reachable reports it
		v.warn("%s: api.enabled is false here, so the peers cannot ask this node what was decided on it", key)
	}
}

// peersTLS checks the files for peers over https.
func (v *validator) peersTLS(key string, s *KeySync) {
	if (s.Certificate == "") != (s.Key == "") {
		v.Add(key, "", "certificate and key go together: give both for peers with api.tls.client_ca, else neither")
	}
	files := s.CA + s.Certificate + s.Key
	if files != "" && len(s.Peers) > 0 && !slices.ContainsFunc(s.Peers,
		func(peer string) bool { return strings.HasPrefix(strings.ToLower(peer), "https:") }) {
		v.warn("%s.peers: none is https, so ca, certificate and key are not used: write https:// where the peer has "+
			"api.tls", key)
	}
}

// reachable adds a warning for key exchange with an API that other nodes cannot reach.
func (v *validator) reachable() {
	const key = "overwatch.dnssec.key_sync.peers"
	c := v.config
	if !c.Overwatch.DNSSEC.Enabled || len(c.Overwatch.DNSSEC.KeySync.Peers) == 0 {
		return
	}
	if !c.API.Enabled {
		v.warn("%s: api.enabled is false here, so the peers cannot ask this node for its keys", key)
		return
	}
	if !c.API.onLoopback() {
		return
	}
	for _, peer := range c.Overwatch.DNSSEC.KeySync.Peers {
		u, err := url.Parse(peer)
		if err != nil {
			continue
		}
		if at, err := netip.ParseAddr(u.Hostname()); u.Hostname() != "localhost" && (err != nil || !at.IsLoopback()) {
			v.warn("%s: api.address is %s, where the peers can ask this node for its keys only through a tunnel or proxy; "+
				"otherwise listen where they reach it and add their networks to api.allowed_networks", key, c.API.Address)
			return
		}
	}
}

func baseURLRemedy(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "":
		return "give the base URL of the peer's API, such as http://overwatch-2.example.com:8080"
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "a base URL has no user, no query and no fragment: remove them"
	}
	return ""
}

func (v *validator) api() {
	a := &v.config.API
	for i, host := range a.AllowedHosts {
		if _, err := netip.ParseAddr(host); err == nil {
			continue
		}
		if _, remedy := settings.ParseName(host); remedy != "" {
			v.Add(fmt.Sprintf("api.allowed_hosts[%d]", i), host, remedy+"; without scheme and port")
		}
	}
	if a.Enabled && len(a.AllowedNetworks) == 0 {
		v.Add("api.allowed_networks", "", "is empty, so nobody could use the API: give networks, or set api.enabled to false")
	}
	if a.TrustProxyHeaders && slices.ContainsFunc(a.AllowedNetworks, func(p netip.Prefix) bool { return p.Bits() == 0 }) {
		v.warn("api.trust_proxy_headers: allowed_networks admits everybody, so everybody may also name any client " +
			"address: list the proxies only")
	}
	v.cors(&a.CORS)
	if (a.TLS.Certificate == "") != (a.TLS.Key == "") {
		v.Add("api.tls", "", "certificate and key go together: give both, or neither for plain HTTP")
	}
	if a.TLS.ClientCA != "" && a.TLS.Certificate == "" {
		v.Add("api.tls.client_ca", a.TLS.ClientCA, "clients can show a certificate over TLS only: give certificate and "+
			"key too")
	}
	v.apiTokens(a)
	v.oidc(a)
	v.openAPI(a)
}

func (v *validator) cors(c *CORS) {
	for i, origin := range c.AllowedOrigins {
		if origin != "*" && !isOrigin(origin) {
			v.Add(fmt.Sprintf("api.cors.allowed_origins[%d]", i), origin,
				"give an origin, such as https://dashboard.example.com, or *")
		}
	}
	if c.AllowCredentials && slices.Contains(c.AllowedOrigins, "*") {
		v.Add("api.cors.allow_credentials", "true", "with origin * any web page could act for the user: list the "+
			"origins in api.cors.allowed_origins")
	}
	for i, method := range c.AllowedMethods {
		if !isToken(method) || method != strings.ToUpper(method) {
			v.Add(fmt.Sprintf("api.cors.allowed_methods[%d]", i), method, "give an HTTP method in capitals, such as GET")
		}
	}
	for i, header := range c.AllowedHeaders {
		if !isToken(header) {
			v.Add(fmt.Sprintf("api.cors.allowed_headers[%d]", i), header,
				"give the name of an HTTP header, such as Content-Type")
		}
	}
}

// isOrigin reports whether a text is a scheme, a host and perhaps a port (RFC 6454 section 6.2).
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && text == u.Scheme+"://"+u.Host
}

// isToken reports whether a text can name a method or header (RFC 9110 section 5.6.2).
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

func (v *validator) geolocation() {
	g := &v.config.Overwatch.Geolocation
	v.knownRegion("overwatch.geolocation.default_region", g.DefaultRegion)
	first := make(map[netip.Prefix]int, len(g.CustomMappings))
	for i := range g.CustomMappings {
		m := &g.CustomMappings[i]
		key := fmt.Sprintf("overwatch.geolocation.custom_mappings[%d]", i)
		if !m.CIDR.IsValid() {
			v.Add(key+".cidr", "", "is missing: give a network, such as 192.0.2.0/24")
		} else if at, again := first[m.CIDR]; again {
			v.Addf(key+".cidr", m.CIDR.String(), "is already custom_mappings[%d]: keep one", at)
		} else {
			first[m.CIDR] = i
		}
		if m.Region == "" {
			v.Add(key+".region", "", "is missing: give one of the regions")
		}
		v.knownRegion(key+".region", m.Region)
	}
}

// knownRegion adds a problem for an unknown region. "" means no region.
func (v *validator) knownRegion(key, region string) {
	if region != "" && !v.isRegion(region) {
		v.Addf(key, region, "no such region: %s", settings.DidYouMean(region, v.regionList()))
	}
}

// isRegion reports whether a region is configured. If a region could not be parsed, it returns true for all names.
func (v *validator) isRegion(name string) bool {
	_, known := v.regions[name]
	return known || v.regionsUnread
}
