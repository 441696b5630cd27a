package config // inside: it shares config_test.go

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestValidate_TellsWhatIsWrong(t *testing.T) {
	const backend = "{service: a.example, address: 192.0.2.1, port: 80, health_check: {type: tcp}}"
	tests := []struct {
		name, text string
		want       []string
	}{
		{"nothing but the mode", "mode: agent\n", []string{
			` agent.identity.region: is missing: give a name`,
			` agent.gossip.encryption_key: is missing: give 32 octets in base64; make one with: head -c 32 /dev/urandom | ` +
				`base64`,
			` agent.gossip.overwatch_nodes: is missing: give every overwatch node as host:port, such as ` +
				`overwatch-1.example.com:7946`,
			` agent.backends: is missing: give at least one backend to watch`}},
		{"an overwatch node's file", "mode: overwatch\ndns: {}\n", []string{
			`1: mode: "overwatch": this program runs mode: agent; start the program of that mode, or gslb, which runs either`}},
		{"targets", head + `  backends:
  - {service: a.example, address: 192.0.2.1, target: lb.example, port: 80, health_check: {type: tcp}}
  - {service: a.example, target: 'lb example', port: 80, health_check: {type: tcp}}
  resolver: {servers: ['192.0.2.53:0'], min_ttl: 2h, max_ttl: 1h}
`, []string{
			`6: agent.backends[0].target: "lb.example": is set in addition to an address: remove one of the two`,
			`7: agent.backends[1].target: "lb example": a name has letters, digits, hyphens, underscores and dots only`,
			`8: agent.resolver.servers[0]: "192.0.2.53:0": give an address with its port, such as 192.0.2.53:53 or ` +
				`[2001:db8::53]:53`,
			`8: agent.resolver.min_ttl: "2h0m0s": must not be greater than max_ttl, which is 1h0m0s`}},
		{"agent_id", strings.Replace(smallest, "region: eu,", "region: eu, agent_id: expiring,", 1), []string{
			`3: agent.identity.agent_id: "expiring": this one word cannot be an id: give another`}},
		{"agent_id and region", strings.Replace(smallest, "region: eu,", "region: e u, agent_id: a/b,", 1), []string{
			`3: agent.identity.region: "e u": use letters, digits, hyphens, underscores and dots`,
			`3: agent.identity.agent_id: "a/b": use letters, digits, hyphens, underscores and dots`}},
		{"nodes", strings.Replace(smallest, "['ow:7946']", "[ow, 'b:1', 'b:1']", 1), []string{
			`4: agent.gossip.overwatch_nodes[0]: "ow": give a host and a port, such as overwatch-1.example.com:7946, ` +
				`192.0.2.1:7946 or [2001:db8::1]:7946`,
			`4: agent.gossip.overwatch_nodes[2]: "b:1": is already overwatch_nodes[1]: remove one`}},
		{"keys", strings.Replace(smallest, "encryption_key: ", "previous_encryption_keys: [x, "+testKey+"], encryption_key: ",
			1), []string{
			`4: agent.gossip.previous_encryption_keys[0]: its 1 characters are not base64: give 32 octets in base64; make ` +
				`one with: head -c 32 /dev/urandom | base64`,
			`4: agent.gossip.previous_encryption_keys[1]: is the same as encryption_key: remove it`}},
		{"heartbeat", smallest + "  heartbeat: {interval: 10ms, missed_threshold: 0}\n", []string{
			`6: agent.heartbeat.interval: "10ms": give a time from 100ms to 1h`,
			`6: agent.heartbeat.missed_threshold: "0": give a number from 1 to 1000`}},
		{"predictive",
			smallest +
				"  predictive:\n    check_interval: 90s\n    cpu: {threshold: 101, bleed_duration: 0s}\n    memory: {threshold: " +
				"0, bleed_duration: 1ms}\n    error_rate: {threshold: -1, bleed_duration: 0s}\n", []string{
				`8: agent.predictive.cpu.threshold: "101": give a percentage above 0 and up to 100`,
				`8: agent.predictive.cpu.bleed_duration: "0s": give a time from 1s to 1h`,
				`9: agent.predictive.memory.threshold: "0": give a percentage above 0 and up to 100`,
				`9: agent.predictive.memory.bleed_duration: "1ms": give a time from 1s to 1h`,
				`10: agent.predictive.error_rate.window: "1m0s": give at least check_interval, which is 1m30s`,
				`10: agent.predictive.error_rate.threshold: "-1": give a number of errors per minute above 0`,
				`10: agent.predictive.error_rate.bleed_duration: "0s": give a time from 1s to 1h`}},
		{"no numbers",
			smallest +
				"  predictive:\n    cpu: {threshold: .nan}\n    memory: {threshold: NaN}\n    error_rate: {threshold: Inf}\n",
			[]string{
				`7: agent.predictive.cpu.threshold: ".nan": give a number`,
				`8: agent.predictive.memory.threshold: "NaN": give a number`,
				`9: agent.predictive.error_rate.threshold: "Inf": give a number`}},
		{"error source",
			smallest +
				"  predictive:\n    error_rate:\n      source: {url: 'ftp://a', metric: m, field: a..b, labels: {code: '5[', x: " +
				"y}, kind: gauge, timeout: 11s}\n", []string{
				`8: agent.predictive.error_rate.source.url: "ftp://a": give a URL with http or https and a host, such as ` +
					`http://127.0.0.1:8080/metrics`,
				`8: agent.predictive.error_rate.source.field: "a..b": metric is also set: remove the key that the application ` +
					`does not provide`,
				"8: agent.predictive.error_rate.source.labels[\"code\"]: \"5[\": it is no regular expression: missing closing ]: " +
					"`[)$`",
				`8: agent.predictive.error_rate.source.kind: "gauge": known are counter, rate`,
				`8: agent.predictive.error_rate.source.timeout: "11s": give a time from 10ms to check_interval, which is 10s`}},
		{"empty error source",
			smallest + "  predictive: {error_rate: {source: {url: 'http://a:b@c/', labels: {x: y}, field: a.}}}\n", []string{
				`6: agent.predictive.error_rate.source.url: "http://a:xxxxx@c/": a name and password cannot be given here: let ` +
					`the application answer this host without`,
				`6: agent.predictive.error_rate.source.labels: only a metric has labels: give metric, or remove them`,
				`6: agent.predictive.error_rate.source.field: "a.": give the names on the way to the number with dots between, ` +
					`such as errors.total`}},
		{"drain_time", smallest + "  drain_time: 25h\n", []string{
			`6: agent.drain_time: "25h": give a time from 0s to 24h`}},
		{"backends",
			head + "  backends:\n  - {}\n  - {service: a b, address: '::', port: 80, weight: 0, health_check: {type: " +
				"http}}\n  - " + backend + "\n  - " + backend + "\n", []string{
				`6: agent.backends[0].service: is missing: give the domain that the backend serves, such as app.example.com`,
				`6: agent.backends[0].address: is missing: give the IP address at which clients reach the backend`,
				`6: agent.backends[0].port: is missing: give a port from 1 to 65535`,
				`6: agent.backends[0].health_check: is missing: say how the backend is probed, at least its type: http, https, ` +
					`tcp, grpc or grpcs`,
				`7: agent.backends[1].service: "a b": a name has letters, digits, hyphens, underscores and dots only`,
				`7: agent.backends[1].address: "::": this stands for every address: give the one of the machine`,
				`7: agent.backends[1].weight: "0": give a number from 1 to 1000`,
				`7: agent.backends[1].health_check.path: is missing: an http check needs the path to ask for, for example /health`,
				`9: agent.backends[3]: "192.0.2.1:80": is already agent.backends[2] for the same service: keep one`}},
		{"watch", head + "  backends:\n  - " + strings.Replace(backend, "type: tcp", "type: tcp, watch: sockets", 1) + "\n" +
			"  - " + strings.NewReplacer("192.0.2.1", "192.0.2.2", "type: tcp", "type: tcp, watch: connection").Replace(backend),
			[]string{`6: agent.backends[0].health_check.watch: "sockets": use auto, connection or off`}},
		{"too many backends", head + "  backends:\n" + manyBackends(65, 1), []string{
			`5: agent.backends: "65 entries": one agent can watch 64: let another agent, with its own agent_id and data_dir, ` +
				`watch the others`}},
		{"too many services", head + "  backends:\n" + manyBackends(17, 17), []string{
			`5: agent.backends: "17 services": one agent can speak for 16: let another agent, with its own agent_id and ` +
				`data_dir, speak for the others`}},
		{"no token", strings.Replace(smallest, "service_token: "+testToken, "service_token: ", 1), []string{
			`3: agent.identity.service_token: is missing: give the token that overwatch nodes have for the service under ` +
				`agent_tokens`}},
		{"tokens", strings.Replace(smallest, "service_token: "+testToken,
			"service_tokens: {-a: x, b: '', c: "+testToken+", C: "+testToken+"}", 1), []string{
			`3: agent.identity.service_tokens["-a"]: the label "-a" begins or ends with a hyphen`,
			`3: agent.identity.service_tokens["b"]: the token is empty: want the token of agent_tokens of the ` +
				`overwatch nodes`,
			`3: agent.identity.service_tokens["c"]: this service is there already, spelled otherwise (case and a final dot ` +
				`do not count): keep one`,
			`5: agent.backends[0].service: "a.example": has no token: give one in agent.identity.service_tokens, or one for ` +
				`all in agent.identity.service_token`}},
		{"process", smallest + "  data_dir: /a\ndata_dir: /b\nlogging: {level: loud}\nmetrics: {enabled: true, address: x}\n",
			[]string{
				`6: agent.data_dir: "/a": data_dir is "/b": remove one of the two`,
				`8: logging.level: "loud": known are debug, info, warn, error`,
				`9: metrics.address: "x": give an IP address and a port, such as 127.0.0.1:8080, [::1]:8080, or :53 for every ` +
					`address`}},
		{"a check that is off", strings.Replace(smallest, "type: tcp", "type: tcp, enabled: false", 1), []string{
			`5: agent.backends[0].health_check.enabled: "false": an agent has nothing to say of a backend that it does not ` +
				`check: remove the key or the backend`}},
		{"no data_dir", smallest + "data_dir: ''\n",
			[]string{`6: data_dir: is empty: give a directory, such as /var/lib/gslb`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got := loadText(t, tt.text)
			if !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

func manyBackends(count, services int) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, "  - {service: s%d.example, address: 192.0.2.1, port: %d, health_check: {type: tcp}}\n", i%services,
			i+1)
	}
	return b.String()
}

func TestWarnings_NameWhatWorksButDeservesAWord(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"slow heartbeat", smallest + "  heartbeat: {interval: 30s}\n", []string{
			`agent.heartbeat.interval: 30s: overwatch nodes count a backend as stale 30s after its last report, unless their ` +
				`stale.threshold says otherwise`}},
		{"short token", strings.Replace(smallest, testToken, "short", 1), []string{
			`agent.identity.service_token: the token has 5 characters: use at least 32 random characters, for example from: ` +
				`head -c 32 /dev/urandom | base64`}},
		{"token of no backend", strings.Replace(smallest, "region: eu",
			"region: eu, service_tokens: {b.example: "+testToken+"}", 1), []string{
			`agent.identity.service_tokens["b.example"]: no backend has this service`}},
		{"any certificate", strings.Replace(smallest, "type: tcp", "type: https, path: /, insecure_skip_verify: true", 1),
			[]string{
				`agent.backends[0].health_check.insecure_skip_verify: any certificate is accepted, so the check does not tell ` +
					`whose server answers`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, problems := loadText(t, tt.text)
			if problems != nil {
				t.Fatal(problems)
			}
			if !slices.Equal(c.Warnings(), tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(c.Warnings(), "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// No content of a file makes Load panic.
func FuzzLoad(f *testing.F) {
	f.Add(smallest)
	f.Add(head + "  backends:\n" + manyBackends(2, 2))
	f.Add("mode: agent\nagent: {backends: [{health_check: {address: x}}], identity: {service_tokens: {a: }}}")
	f.Fuzz(func(t *testing.T, text string) {
		if !strings.Contains(text, "includes") { // other files of this machine are not part of the text
			loadText(t, text)
		}
	})
}

// Backends at addresses that overwatch nodes on other machines reject cause a warning. If the nodes are on the same
// machine, there is no warning.
func TestWarnings_NameBackendsThatNodesRefuse(t *testing.T) {
	for text, want := range map[string]int{
		smallest: 0,
		strings.Replace(smallest, "address: 192.0.2.1", "address: 127.0.0.1", 1):                                       1,
		strings.Replace(smallest, "address: 192.0.2.1", "address: 169.254.1.1", 1):                                     1,
		strings.NewReplacer("address: 192.0.2.1", "address: 127.0.0.1", "ow:7946", "127.0.0.1:7946").Replace(smallest): 0,
	} {
		c, problems := loadText(t, text)
		if problems != nil {
			t.Fatal(problems)
		}
		if got := strings.Count(fmt.Sprint(c.Warnings()), "allowed_cidrs there contains it"); got != want {
			t.Errorf("%s: %q", text, c.Warnings())
		}
	}
}
