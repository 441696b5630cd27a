package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A valid configuration includes each text. Lines are lines of the text, counted from 1.
func TestValidate_TellsWhatIsWrong(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"data_dir twice", "data_dir: /a\noverwatch: {data_dir: /b}",
			[]string{`2: overwatch.data_dir: "/b": data_dir says "/a": keep one of the two`}},
		{"data_dir empty", `data_dir: ""`, []string{`1: data_dir: is empty: give a directory, such as /var/lib/gslb`}},
		{"region's name", "overwatch: {identity: {region: a b}}",
			[]string{`1: overwatch.identity.region: "a b": use letters, digits, hyphens, underscores and dots`}},
		{"logging", "logging: {level: inof, format: xml}", []string{
			`1: logging.level: "inof": did you mean info?`, `1: logging.format: "xml": known are auto, json, console`}},

		// Consequences of an unreadable value are not reported.
		{"regions as a map", "regions: {eu: {}}\ndomains: [{name: a, regions: [eu]}]\noverwatch: {geolocation: " +
			"{default_region: eu}}", []string{
			`1: regions: expected a list, found a map of keys`}},
		{"a region as a word", "regions: [eu, {name: us}]\ndomains: [{name: a, regions: [eu, us]}]", []string{
			`1: regions[0]: expected a map of keys, found a single value`}},
		{"tokens as a list", "overwatch:\n  agent_tokens: [a]\n  agent_policies: {a: {allowed_cidrs: [10.0.0.0/8]}}\n  " +
			"previous_agent_tokens: {a: [x]}", []string{
			`2: overwatch.agent_tokens: expected a map of names to values, found a list`}},
		{"port 0", "dns: {listen_address: ':0'}\napi: {enabled: true, address: '192.0.2.1:0'}", []string{
			`1: dns.listen_address[0]: ":0": with port 0 it is another one at each start, which nobody can know: give a port ` +
				`from 1 to 65535`,
			`2: api.address: "192.0.2.1:0": with port 0 it is another one at each start, which nobody can know: give a port ` +
				`from 1 to 65535`}},

		{"previous keys", "overwatch:\n  gossip:\n    previous_encryption_keys:\n      - dG9vIHNob3J0\n      - " + testKey,
			[]string{
				`4: overwatch.gossip.previous_encryption_keys[0]: has 9 octets: give 32 octets in base64; make one with: head ` +
					`-c 32 /dev/urandom | base64`,
				`5: overwatch.gossip.previous_encryption_keys[1]: is the same as encryption_key: remove it`}},
		{"probe times", "overwatch: {gossip: {probe_interval: 100ms, probe_timeout: 100ms, gossip_interval: 0s}}", []string{
			`1: overwatch.gossip.gossip_interval: "0s": give at least 1ms`,
			`1: overwatch.gossip.probe_timeout: "100ms": must be shorter than probe_interval, which is 100ms`}},
		{"seeds", "overwatch: {gossip: {seeds: [a, 'b:1', 'b:1']}}", []string{
			`1: overwatch.gossip.seeds[0]: "a": give a host and a port, such as overwatch-1.example.com:7946, 192.0.2.1:7946 ` +
				`or [2001:db8::1]:7946`,
			`1: overwatch.gossip.seeds[2]: "b:1": is already overwatch.gossip.seeds[1]: remove one`}},
		{"validation", "overwatch: {validation: {check_interval: 1s, check_timeout: 2s}}", []string{
			`1: overwatch.validation.check_timeout: "2s": must not be longer than check_interval, which is 1s`}},
		{"validation too rare to be made", "overwatch: {validation: {check_interval: 25h}}", []string{
			`1: overwatch.validation.check_interval: "25h": give a time from 50ms to 24h`}},
		{"silence without end", "overwatch: {stale: {threshold: 2562047h, remove_after: 2562047h30m}}", []string{
			`1: overwatch.stale.threshold: "2562047h": give a time from 1s to 87600h`,
			`1: overwatch.stale.remove_after: "2562047h30m": give at most 87600h`}},
		{"validation too often", "overwatch: {validation: {check_interval: 1ms, check_timeout: 1ms}}", []string{
			`1: overwatch.validation.check_interval: "1ms": give a time from 50ms to 24h`,
			`1: overwatch.validation.check_timeout: "1ms": give at least 10ms`}},
		{"stale", "overwatch: {stale: {threshold: 5m}}", []string{
			`1: overwatch.stale.remove_after: "5m0s": must be longer than threshold, which is 5m0s`}},
		{"brake", "overwatch: {brake: {share: 100%, window: 0s, hold: 25h}}", []string{
			`1: overwatch.brake.share: "100%": give a part of the serving backends, from 1% to 99%`,
			`1: overwatch.brake.window: "0s": give a time from 1s to 1h`,
			`1: overwatch.brake.hold: "25h": give a time from 1s to 24h`}},
		{"flap", "dns: {zones: [example.com]}\ndomains: [{name: a.example.com, flap: {delay: 2m, max_delay: 1m}}]", []string{
			`2: domains[0].flap.max_delay: "1m0s": is less than flap.delay, which is 2m0s`}},
		{"brake's share", "overwatch: {brake: {share: 2}}", []string{
			`1: overwatch.brake.share: "2": give a part of the serving backends, from 1% to 99%`}},
		{"domain's brake", "domains:\n- name: a\n  brake: {share: -1%, window: 2h, enabled: maybe}", []string{
			`3: domains[0].brake.enabled: "maybe": use true or false`,
			`3: domains[0].brake.share: "-1%": give a part of the serving backends, from 1% to 99%`,
			`3: domains[0].brake.window: "2h": give a time from 1s to 1h`}},
		{"stale too soon", "overwatch: {stale: {threshold: 0s}}",
			[]string{`1: overwatch.stale.threshold: "0s": give a time from 1s to 87600h`}},

		{"tokens", "overwatch:\n  agent_tokens:\n    a..b: x\n    ok.example: ''\n    Ok.Example: y\n    nothing:", []string{
			`3: overwatch.agent_tokens["a..b"]: it has two adjacent dots, or a dot at the beginning: remove the dot`,
			`4: overwatch.agent_tokens["ok.example"]: this service is there already, spelled otherwise (case and a final dot ` +
				`do not count): keep one`,
			`6: overwatch.agent_tokens["nothing"]: the token is empty: give at least 32 random characters, for example from: ` +
				`head -c 32 /dev/urandom | base64`}},
		{"previous tokens", "overwatch:\n  agent_tokens: {a.example: " + testToken + ", c.example: x}\n  " +
			"previous_agent_tokens:\n    a.example: [older, '', older, " + testToken + "]\n    b.example: [x]\n    " +
			"c.example: [a, b, c, d, e]\n    c.example.: x", []string{
			`4: overwatch.previous_agent_tokens["a.example"][1]: the token is empty: remove it`,
			`4: overwatch.previous_agent_tokens["a.example"][2]: is there twice: keep one`,
			`4: overwatch.previous_agent_tokens["a.example"][3]: is also the token in agent_tokens: put the new one there, ` +
				`or remove this`,
			`5: overwatch.previous_agent_tokens["b.example"]: agent_tokens has no such service: give it its new token there, ` +
				`or remove this`,
			`6: overwatch.previous_agent_tokens["c.example"]: has 5 tokens: keep at most 4`,
			`7: overwatch.previous_agent_tokens["c.example."]: expected a list, found a single value`}},
		{"policy without token", "overwatch: {agent_policies: {a.example: {allowed_cidrs: [10.0.0.0/8]}}}", []string{
			`1: overwatch.agent_policies["a.example"]: agent_tokens has no such service: ` +
				`give it a token, or remove the policy`}},

		{"dnssec off", "overwatch: {dnssec: {enabled: false, security_acknowledgment: ' '}}", []string{
			`1: overwatch.dnssec.security_acknowledgment: is missing: with dnssec.enabled false, anybody on the way can ` +
				`forge answers; say in your own words that this is accepted, or sign`}},
		{"signed domain of a node that does not", "overwatch: {dnssec: {enabled: false, security_acknowledgment: x}}\n" +
			"domains: [{name: a.example, dnssec_enabled: true}, {name: b.example, dnssec_enabled: false}]", []string{
			`2: domains[0].dnssec_enabled: "true": the node signs nothing, ` +
				`since overwatch.dnssec.enabled is false: remove one`}},
		{"dnssec kinds", "overwatch: {dnssec: {algorithm: RSASHA256, denial: nsec5}}", []string{
			`1: overwatch.dnssec.algorithm: "RSASHA256": known are ECDSAP256SHA256, ED25519`,
			`1: overwatch.dnssec.denial: "nsec5": did you mean nsec?`}},
		{"sign-in without provider", "api: {oidc: {client_id: gslb}}", []string{
			`1: api.oidc.issuer: is missing: set it to the URL of the provider, or remove api.oidc`}},
		{"sign-in", "api: {console: false, oidc: {issuer: 'http://login.example', client_id: '', scopes: [groups, 'a b'], " +
			"redirect_url: 'https://a.example/x', roles: [{group: a, role: root}, {group: a, scope: {zones: [B.example]}}]}}",
			[]string{
				`1: api.oidc.issuer: "http://login.example": must be an https URL without user, query and fragment, such as ` +
					`https://login.example.com; http only for a provider on a loopback address`,
				`1: api.oidc.redirect_url: "https://a.example/x": must be the https URL of this node with the path ` +
					`/auth/callback, such as https://ns1.example.com:8080/auth/callback; http only for a loopback address`,
				`1: api.oidc.client_id: must have 1 to 256 characters`,
				`1: api.oidc.scopes: must contain openid, and at most 32 scopes`,
				`1: api.oidc.roles[0].role: "root": known are read, operate, admin`,
				`1: api.oidc.roles[1].group: "a": an earlier entry has this group: remove one of them`,
				`1: api.oidc.roles[1].scope: scope.zones has "B.example": it must be "b.example"`}},
		{"sign-in without the console", "api: {console: false, tokens: {admin: {me: " + testToken + "}}, oidc: {issuer: " +
			"'https://login.example', client_id: a, scopes: [openid, 'a b'], redirect_url: 'https://a.example/auth/callback'}}",
			[]string{
				`1: api.oidc.issuer: "https://login.example": the sign-in is for the console: set api.console to true, or ` +
					`remove api.oidc`,
				`1: api.oidc.roles: is empty, and no person can sign in: add a group with a role`,
				`1: api.oidc.scopes[1]: "a b": must be a scope without spaces, such as groups`}},
		{"sign-in without a token", "api: {oidc: {issuer: 'https://login.example', client_id: a, redirect_url: " +
			"'http://[::1]:8080/auth/callback', roles: [{group: a}]}}", []string{
			`1: api.oidc.issuer: "https://login.example": requires a token in api.tokens.admin, which is valid if the ` +
				`provider is down`}},
		{"half of a client's certificate", "overwatch: {dnssec: {key_sync: {certificate: /c.pem}}}", []string{
			`1: overwatch.dnssec.key_sync: certificate and key go together: give both for peers with api.tls.client_ca, else ` +
				`neither`}},
		{"key sync", "overwatch: {dnssec: {key_sync: {peers: [ow-2, 'http://u@x', 'http://x', 'http://x'], " +
			"poll_interval: 1ms, timeout: 0s}}}", []string{
			`1: overwatch.dnssec.key_sync.peers[0]: "ow-2": give the base URL of the peer's API, such as ` +
				`http://overwatch-2.example.com:8080`,
			`1: overwatch.dnssec.key_sync.peers[1]: "http://u@x": a base URL has no user, no query and no fragment: remove them`,
			`1: overwatch.dnssec.key_sync.peers[3]: "http://x": is already overwatch.dnssec.key_sync.peers[2]: remove one`,
			`1: overwatch.dnssec.key_sync.poll_interval: "1ms": give at least 1s`,
			`1: overwatch.dnssec.key_sync.timeout: "0s": give at least 1ms`}},

		{"geolocation", "overwatch: {geolocation: {default_region: b, custom_mappings: [{cidr: 10.0.0.0/8, region: x}, " +
			"{cidr: 10.0.0.0/8, region: a}, {}]}}\nregions: [{name: a}]", []string{
			`1: overwatch.geolocation.default_region: "b": no such region: known are a`,
			`1: overwatch.geolocation.custom_mappings[0].region: "x": no such region: known are a`,
			`1: overwatch.geolocation.custom_mappings[1].cidr: "10.0.0.0/8": is already custom_mappings[0]: keep one`,
			`1: overwatch.geolocation.custom_mappings[2].cidr: is missing: give a network, such as 192.0.2.0/24`,
			`1: overwatch.geolocation.custom_mappings[2].region: is missing: give one of the regions`}},

		{"listeners", "dns: {listen_address: [x, ':7946']}\nmetrics: {enabled: true, address: ':7946'}\napi: {enabled: " +
			"true, address: '127.0.0.1'}", []string{
			`1: dns.listen_address[0]: "x": give an IP address and a port, such as 127.0.0.1:8080, [::1]:8080, or :53 for ` +
				`every address`,
			`2: metrics.address: ":7946": dns.listen_address[1] listens there: give another port or address`,
			`3: api.address: "127.0.0.1": give an IP address and a port, such as 127.0.0.1:8080, [::1]:8080, or :53 for ` +
				`every address`,
			`overwatch.gossip.bind_address: "0.0.0.0:7946": dns.listen_address[1] listens there: give another port or address`}},
		{"listeners of both families", "dns: {listen_address: ['0.0.0.0:9053', '[::]:9053']}\nmetrics: {enabled: true, " +
			"address: '0.0.0.0:8080'}\napi: {enabled: true, address: '[::]:8080'}\n" +
			"overwatch: {gossip: {bind_address: '[::]:9053'}}", []string{
			`2: metrics.address: "0.0.0.0:8080": api.address listens there: give another port or address`,
			`4: overwatch.gossip.bind_address: "[::]:9053": dns.listen_address[0] listens there: give another port or address`}},
		{"one listener for API and metrics", "metrics: {enabled: true, address: '[0:0::1]:7777'}\napi: {enabled: true, " +
			"address: '[::1]:7777'}\ndns: {listen_address: ['[::1]:7777']}", []string{
			`2: api.address: "[::1]:7777": dns.listen_address[0] listens there: give another port or address`}},
		{"dnstap", "dns:\n  dnstap: {address: 'unix:tap.sock', sample: -1, names: ['a..b'], types: [Z], outcomes: [dropped]}",
			[]string{`2: dns.dnstap.address: "unix:tap.sock": give an absolute path of at most 107 characters, such ` +
				`as unix:/run/dnstap.sock`,
				`2: dns.dnstap.names[0]: "a..b": it has two adjacent dots, or a dot at the beginning: remove the dot`,
				`2: dns.dnstap.outcomes[0]: "dropped": known are success, nodata, nxdomain, refused, servfail, formerr, ` +
					`notimp, badvers, notauth`,
				`2: dns.dnstap.sample: "-1": give a number from 0 to 1000000`,
				`2: dns.dnstap.types[0]: "Z": unknown record type: give a type in capitals, such as AAAA`}},
		{"dnstap over TCP", "dns:\n  dnstap: {address: '192.0.2.1'}", []string{
			`2: dns.dnstap.address: "192.0.2.1": give a host and a port, such as overwatch-1.example.com:7946, 192.0.2.1:7946 ` +
				`or [2001:db8::1]:7946; or unix: and the path of a socket`}},
		{"rate limit", "dns:\n  rate_limit: {responses_per_second: -1, slip: 101}", []string{
			`2: dns.rate_limit.responses_per_second: "-1": give a number from 0 to 1000000000`,
			`2: dns.rate_limit.slip: "101": give a number from 0 to 100`}},
		{"no listener", "dns: {listen_address: []}",
			[]string{`1: dns.listen_address: is empty: give an address and port, such as :53`}},

		{"bounds of TTLs", "dns:\n  min_ttl: 60\n  max_ttl: 59\n  negative_ttl: 86401\n  max_udp_size: 511", []string{
			`2: dns.min_ttl: "60": must not be greater than max_ttl, which is 59`,
			`4: dns.negative_ttl: "86401": give a number from 0 to 86400`,
			`5: dns.max_udp_size: "511": give a number from 512 to 4096`}},
		{"ttl", "dns: {default_ttl: -1}\ndomains: [{name: a, ttl: 2147483648}]", []string{
			`1: dns.default_ttl: "-1": give a number from 0 to 2147483647`,
			`2: domains[0].ttl: "2147483648": give a number from 0 to 2147483647`}},
		{"zones", "dns:\n  zones:\n    - a.example\n    - {name: A.example.}\n    - ''\n    - bücher.example", []string{
			`4: dns.zones[1].name: "a.example": is already dns.zones[0]: keep one`,
			`5: dns.zones[2].name: give a domain name, such as app.example.com`,
			`6: dns.zones[3].name: "bücher.example": write the name as in the DNS, in its A-label form: ` +
				`xn--bcher-kva.example`}},

		{"regions", "regions:\n- {}\n- {name: a, countries: [de, FR, FR], continents: [EUR], tags: [x, x]}\n" +
			"- {name: b, latitude: 1}\n- {name: c, latitude: 91, longitude: -181}", []string{
			`2: regions[0].name: is missing: give a name`,
			`3: regions[1].countries[0]: "de": give the two letters of ISO 3166-1 in capitals, such as DE`,
			`3: regions[1].countries[2]: "FR": is already countries[1]: remove one`,
			`3: regions[1].continents[0]: "EUR": use AF, AN, AS, EU, NA, OC or SA`,
			`3: regions[1].tags[1]: "x": is in this list already: keep one`,
			`4: regions[2]: "b": has only one of latitude and longitude: give both or none`,
			`5: regions[3].latitude: "91": give degrees from -90 to 90`,
			`5: regions[3].longitude: "-181": give degrees from -180 to 180`}},

		{"domains", "regions: [{name: eu-west}]\ndomains:\n- {}\n- {name: -a}\n- {name: b}\n- {name: B.}\n- {name: c, " +
			"regions: [eu-wset, eu-west, eu-west]}\n- {name: d, routing_algorithm: fastest}\n- {name: e, " +
			"routing_algorithm: learned_latency}\n- {name: f, routing_algorithm: weight_ed}", []string{
			`3: domains[0].name: is missing: give a domain name, such as app.example.com`,
			`4: domains[1].name: "-a": the label "-a" begins or ends with a hyphen`,
			`6: domains[3].name: "b": is already domains[2] (x.yaml:5): keep one`,
			`7: domains[4].regions[0]: "eu-wset": no such region: did you mean eu-west?`,
			`7: domains[4].regions[2]: "eu-west": is in this list already: keep one`,
			`8: domains[5].routing_algorithm: "fastest": no such algorithm; known are round-robin, weighted, failover, ` +
				`geolocation, proximity, latency, client-hash`,
			`9: domains[6].routing_algorithm: "learned_latency": no such algorithm; known are ` +
				`round-robin, weighted, failover, geolocation, proximity, latency, client-hash`,
			`10: domains[7].routing_algorithm: "weight_ed": no such algorithm; did you mean weighted?`}},
		{"geofence", "domains:\n- name: a\n  geofence: strict\n- name: b\n  geofence: lax\n", []string{
			`3: domains[0].geofence: "strict": requires regions: list the regions whose clients must stay in their region`,
			`5: domains[1].geofence: "lax": use strict, or remove the key`,
		}},
		{"domain's numbers", "domains:\n- name: a\n  max_answers: 0\n  failover_threshold: 0\n  on_all_down: serfvail\n " +
			" min_healthy: 101%\n  latency_config: {smoothing_factor: 0, max_latency_ms: 0, min_samples: 1001}", []string{
			`3: domains[0].max_answers: "0": give at least 1`,
			`4: domains[0].failover_threshold: "0": give a number from 1 to 1000`,
			`5: domains[0].on_all_down: "serfvail": did you mean servfail?`,
			`6: domains[0].min_healthy: "101%": give a number of backends from 1 to 1000, or a part of them from 1% to 100%`,
			`7: domains[0].latency_config.smoothing_factor: "0": give a number above 0 and up to 1; the smaller, the smoother`,
			`7: domains[0].latency_config.max_latency_ms: "0": give a number from 1 to 60000`,
			`7: domains[0].latency_config.min_samples: "1001": give a number from 1 to 1000`}},

		{"algorithms of regions and further ones of domains", "regions:\n- {name: a, routing_algorithm: failover, " +
			"proximity_bias: 100}\n- {name: b, routing_algorithm: weight_ed}\ndomains:\n- {name: a, routing_algorithm: " +
			"weighted, fallback_algorithm: latency}\n- {name: b, routing_algorithm: latency, fallback_algorithm: " +
			"latency}\n- {name: c, routing_algorithm: latency, fallback_algorithm: x, proximity: {tolerance_km: -1}, " +
			"client_hash: {ipv4_prefix: 33, ipv6_prefix: 65}}\n- {name: d, proximity: {tolerance_km: 20039}}", []string{
			`2: regions[0].routing_algorithm: "failover": cannot choose inside a region: known are round-robin, weighted, ` +
				`latency, client-hash`,
			`2: regions[0].proximity_bias: "100": give a number from -99 to 99`,
			`3: regions[1].routing_algorithm: "weight_ed": cannot choose inside a region: did you mean weighted?`,
			`5: domains[0].fallback_algorithm: "latency": is never used, since weighted never lacks data: remove it`,
			`6: domains[1].fallback_algorithm: "latency": is the routing_algorithm: give another, or remove it`,
			`7: domains[2].fallback_algorithm: "x": no such algorithm; known are round-robin, weighted, failover, ` +
				`geolocation, proximity, latency, client-hash`,
			`7: domains[2].proximity.tolerance_km: "-1": give kilometers from 0 to 20038`,
			`7: domains[2].client_hash.ipv4_prefix: "33": give a number from 8 to 32`,
			`7: domains[2].client_hash.ipv6_prefix: "65": give a number from 16 to 64`,
			`8: domains[3].proximity.tolerance_km: "20039": give kilometers from 0 to 20038`}},

		{"https", "domains:\n- {name: a, https: {port: 443}}\n- {name: b, max_answers: 17, https: {alpn: [h2, 'h 3', h2, " +
			"http/1.1], ech: x}}\n- {name: c, https: {alpn: [h3, ''], port: 65536, ech: AAA=}}\n", []string{
			`2: domains[0].https.alpn: give the protocols, such as h2, or remove https: without them there are no HTTPS ` +
				`records`,
			`3: domains[1].https.alpn[1]: "h 3": give a protocol as TLS names it, such as h2 or h3: 1 to 32 letters, ` +
				`digits and any of ./_-`,
			`3: domains[1].https.alpn[2]: "h2": is in this list already: keep one`,
			`3: domains[1].https.alpn[3]: "http/1.1": remove it: HTTPS records mean it by themselves (RFC 9460)`,
			`3: domains[1].https.ech: "x": it is no base64: illegal base64 data at input byte 0: give the ECHConfigList ` +
				`of the backends in base64`,
			`3: domains[1].max_answers: "17": give at most 16 to a domain with https`,
			`4: domains[2].https.alpn[1]: give a protocol as TLS names it, such as h2 or h3: 1 to 32 letters, digits ` +
				`and any of ./_-`,
			`4: domains[2].https.ech: "AAA=": its first two octets do not say its length: give the ECHConfigList of the ` +
				`backends in base64`,
			`4: domains[2].https.port: "65536": give a number from 0 to 65535`,
		}},

		{"answers that are names", "domains:\n- {name: a, answer: CNAME}\n- {name: b, answer: cname, https: {alpn: [h2]}}\n" +
			"- {name: c, answer: cname, regions: [eu]}\n- {name: d, regions: [eu]}\nregions:\n- name: eu\n  servers:\n" +
			"  - {address: 192.0.2.1, port: 1, service: b}\n  - {target: x.test, port: 1, service: b}\n" +
			"  - {address: 192.0.2.1, port: 1}\n  - {target: x.test, port: 1}\n  - {address: 192.0.2.1, port: 1, service: d}\n",
			[]string{
				`2: domains[0].answer: "CNAME": did you mean cname?`,
				`3: domains[1].https.alpn: "[h2]": conflicts with answer: cname, ` +
					`since a name with a CNAME record has no other records (RFC 1034 ` +
					`section 3.6.2): remove one of the two`,
				`9: regions[0].servers[0].address: "192.0.2.1": is a server of domain "b", whose answers are names (answer: ` +
					`cname): give the host name of the server as its target, or leave answer out`,
				`11: regions[0].servers[2].address: "192.0.2.1": is a server of domain "c", whose answers are names (answer: ` +
					`cname): give the host name of the server as its target, or leave answer out`}},
		{"srv", "domains:\n- {name: a, srv: [_sip._tcp, _SIP._tcp, sip, _-x._udp]}\n" +
			"- {name: b, answer: cname, srv: [_a._b]}\n" +
			"- {name: '*.c', srv: [_a._b]}\n- {name: d, regions: [eu], srv: [_a._b, _a._c, _a._d, _a._e, _a._f, _a._g, _a._h, " +
			"_a._i, _a._j]}\n- {name: e, srv: [_xmpp-client._tcp]}\n- {name: f}\nregions:\n- name: eu\n  servers:\n" +
			"  - {address: 192.0.2.1, port: 1}\n  - {address: 192.0.2.2, port: 2, service: e}\n" +
			"  - {address: 192.0.2.1, port: 3, service: d}\n  - {address: 192.0.2.1, port: 4, service: f}\n" +
			"  - {address: 192.0.2.3, port: 2, service: e}\n  - {address: 192.0.2.1, port: 5, service: f}\n", []string{
			`2: domains[0].srv[1]: "_SIP._tcp": is in this list already: keep one`,
			`2: domains[0].srv[2]: "sip": give a service and its protocol, each behind an underscore, such as _sip._tcp (RFC ` +
				`2782): letters, digits and hyphens, 62 at most`,
			`2: domains[0].srv[3]: "_-x._udp": give a service and its protocol, each behind an underscore, such as _sip._tcp ` +
				`(RFC 2782): letters, digits and hyphens, 62 at most`,
			`3: domains[1].srv: "[_a._b]": conflicts with answer: cname, since the target of an SRV record is no alias (RFC ` +
				`2782): remove one of the two`,
			`4: domains[2].srv: "[_a._b]": the target of an SRV record is a single name, and *.c is a wildcard: set srv of a ` +
				`domain without an asterisk`,
			`5: domains[3].srv: "9": give at most 8 services`,
			`13: regions[0].servers[2].port: "3": is not 1, that of regions[0].servers[0], and all servers of "d" listen at ` +
				`one port, since it has srv: give them one port, or two domains`}},
		{"targets", "domains:\n- name: x\n- name: '*.w'\nregions:\n- name: a\n  servers:\n  - {target: X, port: 1}\n" +
			"  - {target: a.b.w, port: 1}\n  - {target: 192.0.2.1, port: 1}\n  - {target: y, address: 192.0.2.1, port: 1}\n" +
			"  - {allowed_cidrs: [192.0.2.0/24], port: 1}\n" +
			"dns: {resolver: {servers: [x], min_ttl: 2m, max_ttl: 1m}}\n", []string{
			`10: regions[0].servers[3].target: "y": stands beside an address: keep one of the two`,
			`11: regions[0].servers[4].allowed_cidrs: is for the addresses of a target: give a target, or remove it`,
			`12: dns.resolver.min_ttl: "2m0s": must not be greater than max_ttl, which is 1m0s`,
			`12: dns.resolver.servers: "x": give an address with a port, such as 192.0.2.53:53 or [2001:db8::53]:53`,
			`7: regions[0].servers[0].target: "X": is a name that this node answers itself, so it would lead to itself: give ` +
				`the name of the servers behind it`,
			`8: regions[0].servers[1].target: "a.b.w": is a name that this node answers itself, so it would lead to itself: ` +
				`give the name of the servers behind it`,
			`9: regions[0].servers[2].target: "192.0.2.1": this is an address; give a domain name, such as ` +
				`app.example.com`}},
		{"servers", "regions:\n- name: a\n  servers:\n  - {}\n  - {address: 0.0.0.0, port: 1, weight: 0}\n  - {address: " +
			"224.0.0.1, port: 1, weight: 1001}\n  - {address: 192.0.2.1, port: 1}\n  - {address: 192.0.2.1, port: 1, " +
			"service: a b}\n  - {address: 192.0.2.1, port: 1}\n  - {address: 192.0.2.9, port: 1, host: x}\n  - {address: " +
			"192.0.2.8, port: 1, host: 'x y', health_check: {type: http, path: /}}\n  - {address: 192.0.2.7, port: 1, " +
			"agent: a b}", []string{
			`4: regions[0].servers[0].address: is missing: give the IP address of the server, or a host name as its target`,
			`4: regions[0].servers[0].port: is missing: give a port from 1 to 65535`,
			`5: regions[0].servers[1].address: "0.0.0.0": this stands for every address: give the one of the machine`,
			`5: regions[0].servers[1].weight: "0": give a number from 1 to 1000`,
			`6: regions[0].servers[2].address: "224.0.0.1": this is a multicast address: give the one of a single machine`,
			`6: regions[0].servers[2].weight: "1001": give a number from 1 to 1000`,
			`8: regions[0].servers[4].service: "a b": a name has letters, digits, hyphens, underscores and dots only`,
			`9: regions[0].servers[5]: "192.0.2.1:1": is already regions[0].servers[3] (x.yaml:7) for the same service: keep ` +
				`one`,
			`10: regions[0].servers[6].host: "x": is the Host header of http checks, and this server's check is tcp: remove ` +
				`it, or give an http health_check`,
			`11: regions[0].servers[7].host: "x y": give a host name or address, with or without a port`,
			`12: regions[0].servers[8].agent: "a b": use letters, digits, hyphens, underscores and dots`}},
		{"health checks", "regions:\n- name: a\n  health_check: {address: 192.0.2.1}\n  servers:\n  - address: " +
			"192.0.2.1\n    port: 1\n    health_check:\n      type: http\n      timeout: 6s\n      failure_threshold: 0\n  " +
			"- address: 192.0.2.2\n    port: 1\n    health_check: {type: tcp, path: /x}\n  - address: 192.0.2.3\n    port: " +
			"1\n    health_check: {type: ping}", []string{
			`3: regions[0].health_check.type: is missing: use http, https, tcp, grpc or grpcs`,
			`3: regions[0].health_check.address: "192.0.2.1": all servers of the region would be probed at this one address: ` +
				`give it to a server's own health_check`,
			`7: regions[0].servers[0].health_check.path: is missing: an http check needs the path to ask for, for example ` +
				`/health`,
			`9: regions[0].servers[0].health_check.timeout: "6s": give a time from 10ms up to the interval (5s): checks of ` +
				`one backend do not overlap`,
			`10: regions[0].servers[0].health_check.failure_threshold: "0": give a number from 1 to 1000`,
			`13: regions[0].servers[1].health_check.path: "/x": a check of type tcp has no use for it: remove it, or change ` +
				`type`,
			`16: regions[0].servers[2].health_check.type: "ping": use http, https, tcp, grpc or grpcs`}},

		{"too many proxies", "dns: {proxy_protocol: {networks: [" + strings.Repeat("192.0.2.1/32, ", 65) + "10.0.0.1/8]}}",
			[]string{`1: dns.proxy_protocol.networks[65]: "10.0.0.1/8": the address has bits behind the prefix: write ` +
				`10.0.0.0/8, or 10.0.0.1/32 for that one address`,
				`1: dns.proxy_protocol.networks: "66": give at most 64 networks`}},
		{"routing", "routing: {decision_sample: -1, why_networks: [10.0.0.1/8]}",
			[]string{`1: routing.decision_sample: "-1": give a number from 0 to 1000000`,
				`1: routing.why_networks[0]: "10.0.0.1/8": the address has bits behind the prefix: write 10.0.0.0/8, or ` +
					`10.0.0.1/32 for that one address`}},
		{"audit", "audit: {retention: 59m}", []string{`1: audit.retention: "59m": give at least 1h`}},
		{"api", "api: {enabled: true, allowed_networks: [], allowed_hosts: [192.0.2.1, 'http://x'], max_connections: 0}",
			[]string{
				`1: api.allowed_hosts[1]: "http://x": a name has letters, digits, hyphens, underscores and dots only; ` +
					`without scheme and port`,
				`1: api.max_connections: "0": give a number from 1 to 65536`,
				`1: api.allowed_networks: is empty, so nobody could use the API: give networks, or set api.enabled to false`}},
		{"cors", "api: {cors: {allowed_origins: ['*', 'https://x/'], allow_credentials: true, allowed_methods: [get], " +
			"allowed_headers: ['X Y'], max_age: -1}}", []string{
			`1: api.cors.allowed_origins[1]: "https://x/": give an origin, such as https://dashboard.example.com, or *`,
			`1: api.cors.allow_credentials: "true": with origin * any web page could act for the user: list the origins in ` +
				`api.cors.allowed_origins`,
			`1: api.cors.allowed_methods[0]: "get": give an HTTP method in capitals, such as GET`,
			`1: api.cors.allowed_headers[0]: "X Y": give the name of an HTTP header, such as Content-Type`,
			`1: api.cors.max_age: "-1": give a number from 0 to 604800`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got := loadText(t, smallest+"includes: [x.yaml]\n", "x.yaml", tt.text)
			for i, line := range got {
				got[i] = strings.TrimPrefix(strings.TrimPrefix(line, "x.yaml:"), "main.yaml: ")
				got[i] = strings.TrimPrefix(strings.TrimPrefix(got[i], "main.yaml:2: "), " ")
			}
			slices.Sort(got)
			slices.Sort(tt.want)
			if !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

func TestValidate_TheKeyOfGossipIsNeeded(t *testing.T) {
	for text, want := range map[string]string{
		"mode: overwatch\n": `main.yaml: overwatch.gossip.encryption_key: is missing: give 32 octets in base64; make one ` +
			`with: head -c 32 /dev/urandom | base64`,
		"mode: overwatch\noverwatch: {gossip: {encryption_key: c2hvcnQ=}}\n": `main.yaml:2: ` +
			`overwatch.gossip.encryption_key: has 5 octets: give 32 octets in base64; ` +
			`make one with: head -c 32 /dev/urandom | base64`,
	} {
		if _, got := loadText(t, text); !slices.Equal(got, []string{want}) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestWarnings_NameWhatWorksButDeservesAWord(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"short token", "overwatch: {agent_tokens: {a.example: short}, agent_policies: {a.example: {allowed_cidrs: " +
			"[10.0.0.0/8]}}}\ndomains: [{name: a.example}]", []string{
			`overwatch.agent_tokens["a.example"]: the token has 5 characters: give at least 32 random characters, for ` +
				`example from: head -c 32 /dev/urandom | base64`}},
		{"token of no domain", "overwatch: {agent_tokens: {a.example: " + testToken + "}, agent_policies: {a.example: " +
			"{allowed_cidrs: [10.0.0.0/8]}}}", []string{
			`overwatch.agent_tokens["a.example"]: no domain has this name: what its agents report is not served until one has`}},
		{"keys that peers cannot come for", "overwatch: {dnssec: {key_sync: {secret: " + testToken + ", peers: " +
			"['http://x']}}}", []string{
			`overwatch.dnssec.key_sync.peers: api.enabled is false here, so the peers cannot ask this node for its keys`}},
		{"keys that peers reach through a tunnel only", "api: {enabled: true}\noverwatch: {dnssec: {key_sync: {secret: " +
			"" + testToken + ", peers: ['http://127.0.0.1:1', 'http://[2001:db8::1]:8080']}}}", []string{
			`overwatch.dnssec.key_sync.peers: api.address is 127.0.0.1:8080, where the peers can ask this node for its keys ` +
				`only through a tunnel or proxy; otherwise listen where they reach it and add their networks to ` +
				`api.allowed_networks`}},
		{"https files without https", "api: {enabled: true, address: '192.0.2.1:8080'}\noverwatch: {dnssec: {key_sync: " +
			"{secret: " + testToken + ", ca: /ca.pem, peers: ['http://x']}}}", []string{
			`overwatch.dnssec.key_sync.peers: none is https, so ca, certificate and key are not used: write https:// where ` +
				`the peer has api.tls`}},
		{"replication without a secret", "overwatch: {peers: ['http://x']}", []string{
			`overwatch.replication.enabled: what operators decide here does not reach the peers without ` +
				`overwatch.dnssec.key_sync.secret: set the same on all nodes, or false here`}},
		{"replication that was turned off", "overwatch: {peers: ['http://x'], replication: {enabled: false}}", nil},
		{"replication with nobody", "overwatch: {dnssec: {key_sync: {secret: " + testToken + "}}}", nil},
		{"short secret", "overwatch: {dnssec: {key_sync: {secret: x}}}", []string{
			`overwatch.dnssec.key_sync.secret: it has 1 characters: give at least 32 random characters, for example from: ` +
				`head -c 32 /dev/urandom | base64`}},
		{"long ttl", "dns: {default_ttl: 86401}\nregions: [{name: a, servers: [{address: 192.0.2.1, port: " +
			"1}]}]\ndomains: [{name: x, regions: [a], ttl: 90000}]", []string{
			`dns.default_ttl: 86401 seconds: clients keep an address that long after it went down`,
			`domains[0].ttl: 90000 seconds: clients keep an address that long after it went down`}},
		{"more addresses than resolvers take", "regions: [{name: a, servers: [{address: 192.0.2.1, port: " +
			"1}]}]\ndomains: [{name: x, regions: [a], max_answers: 101}, {name: y, regions: [a], max_answers: " +
			"100}]", []string{
			`domains[0].max_answers: 101 addresses: resolvers of BIND 9.18.28 and later answer SERVFAIL for more than 100 of ` +
				`a name (max-records-per-type)`}},
		{"own region", "overwatch: {identity: {region: eus}}\nregions: [{name: eu}]", []string{
			`overwatch.identity.region: "eus" is none of the regions here: did you mean eu?`}},
		{"countries of two regions", "regions: [{name: a, countries: [DE, FR], continents: [EU]}, {name: b, countries: " +
			"[CH, DE]}, {name: c, continents: [AF, EU]}]", []string{
			`regions[1].countries: DE is in region "a" already: its clients are placed there`,
			`regions[2].continents: EU is in region "a" already: its clients are placed there`}},
		{"server of no domain, of another region", "regions: [{name: a, servers: [{address: 192.0.2.1, port: 1, " +
			"service: x}, {address: 192.0.2.1, port: 1, service: y}]}, {name: b}]\ndomains: [{name: y, regions: [b]}]", []string{
			`regions[0].servers[0].service: no domain is called "x": the server is not served until one is`,
			`regions[0].servers[1].service: the regions of domain "y" are b; "a" is not among them`}},
		{"domain with nothing behind it", "domains: [{name: x}]", []string{
			`domains[0].name: "x" has no server and no agent token: only the API can give it a backend`}},
		{"services without networks", "overwatch: {agent_tokens: {b.example: " + testToken + ", A.example: " +
			"" + testToken + ", c.example: " + testToken + "}, agent_policies: {c.example: {allowed_cidrs: [10.0.0.0/8]}}}\n" +
			"domains: [{name: a.example}, {name: b.example}, {name: c.example}]", []string{unboundedWarning("a.example, " +
			"b.example")}},
		{"many services without networks", "overwatch: {agent_tokens: {" + manyTokens(12) + "}}\ndomains: " +
			"[" + manyDomains(12) + "]", []string{
			unboundedWarning("s00, s01, s02, s03, s04, s05, s06, s07, s08, s09 and 2 more")}},
		{"an open API", "api: {enabled: true, address: ':8080', allowed_networks: [127.0.0.1/32, 10.0.0.0/8]}", []string{
			`api.address: :8080 is open to more than this machine, without api.tokens, api.tls, api.allowed_hosts: give what ` +
				`is missing, or listen on a loopback address`}},
		{"an open API with tokens and TLS", "api: {enabled: true, address: '[::]:8080', allowed_networks: [10.0.0.0/8], " +
			"tls: {certificate: /c, key: /k}, tokens: {admin: {me: " + testToken + "}}}", []string{
			`api.address: [::]:8080 is open to more than this machine, without api.allowed_hosts: give what is missing, or ` +
				`listen on a loopback address`}},
		{"an open API with client certificates", "api: {enabled: true, address: '192.0.2.1:8080', allowed_networks: " +
			"[10.0.0.0/8], allowed_hosts: [a.example], tls: {certificate: /c, key: /k, client_ca: /a}}", nil},
		{"an open listener for this machine", "api: {enabled: true, address: ':8080'}", nil},
		{"an API on loopback", "api: {enabled: true, address: '[::1]:8080', allowed_networks: [10.0.0.0/8]}", nil},
		{"proxy headers from everywhere", "api: {trust_proxy_headers: true, allowed_networks: [0.0.0.0/0]}", []string{
			`api.trust_proxy_headers: allowed_networks admits everybody, so everybody may also name any client address: list ` +
				`the proxies only`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, problems := loadText(t, smallest+"includes: [x.yaml]\n", "x.yaml", tt.text)
			if problems != nil {
				t.Fatal(problems)
			}
			if !slices.Equal(c.Warnings(), tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(c.Warnings(), "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

func TestWarnings_AreCountedWhenThereAreTooMany(t *testing.T) {
	var text strings.Builder
	text.WriteString(smallest + "domains:\n")
	for i := range 60 {
		fmt.Fprintf(&text, "- name: d%d\n", i)
	}
	c, problems := loadText(t, text.String())
	if problems != nil || len(c.Warnings()) != 51 || c.Warnings()[50] != "and 10 warnings more" {
		t.Errorf("got %d warnings, problems %q", len(c.Warnings()), problems)
	}
}

func unboundedWarning(services string) string {
	return "overwatch.agent_policies: no allowed_cidrs for " + services + ": whoever has the token of such a service " +
		"can have this node " +
		"connect to almost any address; list the networks where its backends are"
}

func manyTokens(n int) string {
	tokens := make([]string, n)
	for i := range tokens {
		tokens[i] = fmt.Sprintf("s%02d: %s", i, testToken)
	}
	return strings.Join(tokens, ", ")
}

func manyDomains(n int) string {
	domains := make([]string, n)
	for i := range domains {
		domains[i] = fmt.Sprintf("{name: s%02d}", i)
	}
	return strings.Join(domains, ", ")
}
