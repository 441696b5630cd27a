package model

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"gslb.internal/shared/check"
	"gslb.internal/shared/settings"
)

// HealthCheck holds the settings of a health check. In JSON, an unset interval, timeout or threshold has the value of
// the node; in a configuration file, it has its default.
type HealthCheck struct {
	// false: no check by the nodes. The agent report is the health of the server; a server without an agent serves. Not
	// allowed for the backends of an agent.
	Enabled *bool `key:"enabled" json:"enabled,omitempty" usage:"false: nodes do not check the server, its health is the health that agents report"`
	// The type of the check: `http`, `https`, `tcp`, `grpc` (grpc.health.v1 without TLS) or `grpcs` (over TLS). Required
	// unless `enabled` is false.
	Type string `key:"type" json:"type" usage:"protocol of the health check: http, https, tcp, grpc or grpcs"`
	// http, https: the path of the request, beginning with a slash. Required for these types.
	Path string `key:"path" json:"path" usage:"http, https: path of the request"`
	// All types except tcp: the Host header; default: the address.
	Host string `key:"host" json:"host,omitempty" usage:"http, https, grpc, grpcs: Host header"`
	// The address of the probe, instead of the address of the backend, on the same port.
	Address netip.Addr `key:"address" json:"address,omitzero" usage:"address to probe instead of the address of the server"`
	// The time between the starts of two checks: 50ms to 24h.
	Interval settings.Duration `key:"interval" json:"interval" usage:"time between two checks, such as 5s" default:"5s" zero:"unset"`
	// The time between the starts of two checks after a result that contradicts the current state, until the threshold
	// decides: 50ms to `interval`; default: the smaller of `interval` and 1s.
	FastInterval settings.Duration `key:"fast_interval" json:"fast_interval,omitempty" usage:"time between two checks after a result that contradicts the state, such as 1s"`
	// The timeout of the whole check; not longer than `interval`.
	Timeout settings.Duration `key:"timeout" json:"timeout" usage:"maximum time of one check, such as 2s" default:"2s" zero:"unset"`
	// Consecutive failed checks that make the backend unhealthy: 1 to 1000.
	FailureThreshold int `key:"failure_threshold" json:"unhealthy_threshold" usage:"failures in a row that make the server unhealthy" default:"3" zero:"unset"`
	// Only for an agent's backends. `auto`: if the listening socket of a backend on this machine disappears, the agent
	// checks the backend immediately, and repeats the check every 50 ms while connections are refused (Linux).
	// `connection`, for backends on other machines: the agent keeps an idle connection to the backend, and checks the
	// backend in the same way when the server ends it. `off`: checks follow their intervals only. Default: `auto`.
	Watch string `key:"watch" json:"-"`
	// Consecutive successful checks that make the backend healthy: 1 to 1000.
	SuccessThreshold int `key:"success_threshold" json:"healthy_threshold" usage:"successes in a row that make the server healthy" default:"2" zero:"unset"`
	// https, grpcs: the name in the certificate of the backend; default: `host` without port, else the address.
	ServerName string `key:"server_name" json:"server_name,omitempty" usage:"https, grpcs: name in the certificate of the server"`
	// https, grpcs: accept any certificate. The check then does not prove the identity of the server.
	InsecureSkipVerify bool `key:"insecure_skip_verify" json:"insecure_skip_verify,omitempty" usage:"https, grpcs: accept any certificate"`

	// http, https: `GET`, `HEAD` or `OPTIONS`; default: `GET`. Other methods may change data.
	Method string `key:"method" json:"method,omitempty" usage:"http, https: GET, HEAD or OPTIONS"`
	// http, https: additional headers of the request, at most 1024 octets in total.
	Headers map[string]string `key:"headers" json:"headers,omitempty" usage:"http, https: headers of the request, such as Authorization=Bearer x"`
	// http, https: the healthy statuses, such as `200,301-308`; default: 200 to 399.
	ExpectedStatus string `key:"expected_status" json:"expected_status" usage:"http, https: healthy statuses, such as 200,301-308"`
	// http, https: a text in the body, at most 256 octets.
	BodyContains string `key:"body_contains" json:"body_contains,omitempty" usage:"http, https: text that the body must contain"`
	// http, https: a regular expression (RE2) that must match within the first 64 KiB of the body: at most 256 octets,
	// and 2000 instructions when compiled.
	BodyMatches string `key:"body_matches" json:"body_matches,omitempty" usage:"http, https: regular expression that must match the body"`
	// tcp: a text that the check sends after connecting, at most 256 octets.
	Send string `key:"send" json:"send,omitempty" secret:"true" usage:"tcp: text to send after connecting"`
	// tcp: a text in the first 4096 octets of the answer, at most 256 octets long.
	Expect string `key:"expect" json:"expect,omitempty" usage:"tcp: text that the server must send"`
	// grpc, grpcs: the service in the request; default: the server as a whole.
	GRPCService string `key:"grpc_service" json:"grpc_service,omitempty" usage:"grpc, grpcs: service name in the health check request"`
	// https, grpcs: a PEM file with certificate authorities, instead of the authorities of the system, at most 4096
	// octets. The path is relative to the file that names it.
	CAFile string `key:"ca_file" json:"-"`
	// Authorities has the certificates of ca_file. The API has no access to files of the node.
	Authorities string `json:"ca_certificates,omitempty" usage:"https, grpcs: PEM certificate authorities, instead of the authorities of the system"`
	// `consecutive`: consecutive failures count. `leaky`: failures count together until 10 consecutive successes. This
	// detects intermittent failures.
	Counting string `key:"counting" json:"counting,omitempty" usage:"counting of failures: consecutive or leaky" default:"consecutive" zero:"unset"`
}

// The values of HealthCheck.Watch. Empty means WatchAuto.
const (
	WatchAuto       = "auto"
	WatchConnection = "connection"
	WatchOff        = "off"
)

// NewHealthCheck returns a health check with the defaults of a configuration file.
func NewHealthCheck() *HealthCheck {
	h := new(HealthCheck)
	settings.SetDefaults(h)
	return h
}

// Off reports whether the check is disabled.
func (h *HealthCheck) Off() bool { return h.Enabled != nil && !*h.Enabled }

// Spec returns the check with these settings. An unset time or threshold is 0.
func (h *HealthCheck) Spec() check.Spec {
	kind := check.Type(h.Type)
	if h.Off() && kind == "" {
		kind = check.TCP
	}
	return check.Spec{
		Type: kind, Off: h.Off(), Path: h.Path, Host: h.Host, Address: h.Address,
		Interval: time.Duration(h.Interval), FastInterval: time.Duration(h.FastInterval),
		Timeout: time.Duration(h.Timeout), FailureThreshold: h.FailureThreshold, SuccessThreshold: h.SuccessThreshold,
		ServerName: h.ServerName, InsecureSkipVerify: h.InsecureSkipVerify, Detail: h.detail().Details(),
	}
}

// detailField is a field of HealthCheck that holds a text of a check.Detail.
type detailField struct {
	field *Field
	text  func(*check.Detail) *string
}

// detailFields returns the fields of HealthCheck for check.DetailSettings, without headers, which are a map here.
var detailFields = sync.OnceValue(func() (list []detailField) {
	fields, settings := FieldsOf(reflect.TypeFor[HealthCheck]()), check.DetailSettings()
	for i := range settings {
		for k := range fields.List {
			if f := &fields.List[k]; checkKey(f) == settings[i].Key && f.Type.Kind() == reflect.String {
				list = append(list, detailField{f, settings[i].Text})
			}
		}
	}
	return list
})

// detail returns the rarely used settings. It omits defaults, so that equal checks compare equal.
func (h *HealthCheck) detail() (d check.Detail) {
	for _, f := range detailFields() {
		*f.text(&d) = f.field.Value(reflect.ValueOf(h).Elem()).String()
	}
	if d.Counting == check.Consecutive {
		d.Counting = ""
	}
	lines := make([]string, 0, len(h.Headers))
	for _, name := range slices.Sorted(maps.Keys(h.Headers)) {
		lines = append(lines, name+": "+h.Headers[name])
	}
	d.Headers = strings.Join(lines, "\n")
	return d
}

// HealthCheckOf returns the settings of a check.
func HealthCheckOf(spec check.Spec) *HealthCheck {
	d := spec.Detail.Detail()
	h := &HealthCheck{
		Type: string(spec.Type), Path: spec.Path, Host: spec.Host, Address: spec.Address,
		Interval: settings.Duration(spec.Interval), FastInterval: settings.Duration(spec.FastInterval),
		Timeout: settings.Duration(spec.Timeout), FailureThreshold: spec.FailureThreshold,
		SuccessThreshold: spec.SuccessThreshold,
		ServerName:       spec.ServerName, InsecureSkipVerify: spec.InsecureSkipVerify,
	}
	for _, f := range detailFields() {
		f.field.Value(reflect.ValueOf(h).Elem()).SetString(*f.text(&d))
	}
	if spec.Off {
		h.Enabled = new(bool)
	}
	for line := range strings.SplitSeq(d.Headers, "\n") {
		if name, value, found := strings.Cut(line, ": "); found {
			if h.Headers == nil {
				h.Headers = map[string]string{}
			}
			h.Headers[name] = value
		}
	}
	return h
}

// Over returns the settings of h, and the settings of base where h has none. It omits settings of base that the check
// type of h does not use. h may be nil.
func (h *HealthCheck) Over(base *HealthCheck) *HealthCheck {
	over := *base
	if h == nil {
		return &over
	}
	fields := FieldsOf(reflect.TypeFor[HealthCheck]())
	to, from := reflect.ValueOf(&over).Elem(), reflect.ValueOf(h).Elem()
	for i := range fields.List {
		f := &fields.List[i]
		if value := f.Value(from); !value.IsZero() {
			f.Value(to).Set(value)
		} else if h.Type != "" && check.Type(h.Type).Ignores(checkKey(f)) {
			f.Value(to).SetZero()
		}
	}
	return &over
}

// Fits reports whether a type of check uses all settings of h.
func (h *HealthCheck) Fits(t check.Type) bool {
	fields := FieldsOf(reflect.TypeFor[HealthCheck]())
	for i := range fields.List {
		f := &fields.List[i]
		if t.Ignores(checkKey(f)) && !f.Value(reflect.ValueOf(h).Elem()).IsZero() {
			return false
		}
	}
	return true
}

// checkKey returns the key of a field in the problems of package check.
func checkKey(f *Field) string { return cmp.Or(f.Key, "ca_file") }

// HealthCheckField returns the JSON name of a key of a health check.
func HealthCheckField(key string) string {
	fields := FieldsOf(reflect.TypeFor[HealthCheck]())
	for i := range fields.List {
		if f := &fields.List[i]; checkKey(f) == key {
			return f.JSON
		}
	}
	return key
}

// Shown returns the settings without secrets: the values of headers, and the text of send. h may be nil.
func (h *HealthCheck) Shown() *HealthCheck {
	if h == nil || len(h.Headers) == 0 && h.Send == "" {
		return h
	}
	shown := *h
	shown.Headers = maps.Clone(h.Headers)
	for name := range shown.Headers {
		shown.Headers[name] = check.Redacted
	}
	if shown.Send != "" {
		shown.Send = check.Redacted
	}
	return &shown
}

// Restore returns the settings of h with the secrets that Shown has removed, from the first of others with the secret.
// It returns an error if all others lack a secret. h and others may be nil.
func (h *HealthCheck) Restore(others ...*HealthCheck) (*HealthCheck, error) {
	if !h.redacted() {
		return h, nil
	}
	whole := *h
	whole.Headers = maps.Clone(h.Headers)
	for _, other := range others {
		if other == nil || other.redacted() {
			continue
		}
		for name, value := range whole.Headers {
			if secret, known := other.Headers[name]; known && value == check.Redacted {
				whole.Headers[name] = secret
			}
		}
		if whole.Send == check.Redacted {
			whole.Send = cmp.Or(other.Send, whole.Send)
		}
	}
	if !whole.redacted() {
		return &whole, nil
	}
	return nil, fmt.Errorf("headers or send is %s, a placeholder for an unknown secret: specify the value",
		check.Redacted)
}

// redacted reports whether a secret is missing.
func (h *HealthCheck) redacted() bool {
	if h == nil {
		return false
	}
	for _, value := range h.Headers {
		if value == check.Redacted {
			return true
		}
	}
	return h.Send == check.Redacted
}
