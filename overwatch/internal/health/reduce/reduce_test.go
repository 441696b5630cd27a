package reduce_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/reduce"
	"gslb.internal/shared/check"
)

// whole returns a check with all fields that a node copies.
func whole() check.Spec {
	return check.Spec{
		Type: check.HTTPS, Path: "/up?x=1", Host: "shop.example", Interval: 7 * time.Second, Timeout: 3 * time.Second,
		FailureThreshold: 4, SuccessThreshold: 5, ServerName: "shop.example", InsecureSkipVerify: true,
		Detail: check.Detail{Method: "HEAD", ExpectedStatus: "204", Counting: check.Leaky}.Details(),
	}
}

func with(s check.Spec, change func(*check.Spec, *check.Detail)) check.Spec {
	d := s.Detail.Detail()
	change(&s, &d)
	s.Detail = d.Details()
	return s
}

func TestCheck_KeepsWhatMayBeAskedAndJudged(t *testing.T) {
	tcp := check.Spec{Type: check.TCP, Interval: 7 * time.Second, Timeout: 3 * time.Second, FailureThreshold: 4,
		SuccessThreshold: 5,
		Detail:           check.Detail{Counting: check.Leaky}.Details()}
	get := with(whole(), func(_ *check.Spec, d *check.Detail) { d.Method = "" })
	for name, tc := range map[string]struct {
		asked check.Spec
		other bool // the address is not the agent's own
		want  check.Spec
		left  reduce.Omitted
	}{
		"whole":     {asked: whole(), want: whole()},
		"elsewhere": {asked: whole(), other: true, want: tcp, left: reduce.Elsewhere},
		"headers": {asked: with(whole(), func(_ *check.Spec, d *check.Detail) { d.Headers = "X-Secret: 1" }),
			want: tcp, left: reduce.Headers},
		"method": {asked: with(whole(), func(_ *check.Spec, d *check.Detail) { d.Method = "POST" }), want: tcp,
			left: reduce.Method},
		"address": {asked: with(whole(), func(s *check.Spec,
			_ *check.Detail) {
			s.Address = netip.MustParseAddr("169.254.169.254")
		}),
			want: tcp, left: reduce.Address},
		"patterns": {asked: with(get, func(_ *check.Spec, d *check.Detail) {
			d.BodyContains, d.BodyMatches = "ok",
				"(?:a{900}){900}("
		}),
			want: get, left: reduce.BodyContains | reduce.BodyMatches},
		"text that is sent": {asked: with(tcp, func(_ *check.Spec, d *check.Detail) { d.Send, d.Expect = "PING", "PONG" }),
			want: tcp, left: reduce.Send | reduce.Expect},
		"greeting": {asked: with(tcp, func(_ *check.Spec, d *check.Detail) { d.Expect = "220" }), want: tcp,
			left: reduce.Expect},
		"tcp elsewhere": {asked: tcp, other: true, want: tcp},
		"type of later on": {asked: check.Spec{Type: "quic", Interval: time.Second}, want: reduce.Connection(),
			left: reduce.Unknown},
		"path that is none": {asked: with(whole(), func(s *check.Spec, _ *check.Detail) { s.Path = "/ HTTP/1.1\r\nX: y" }),
			want: reduce.Connection(), left: reduce.Unknown},
		"thresholds": {asked: with(whole(), func(s *check.Spec, _ *check.Detail) {
			s.FailureThreshold, s.SuccessThreshold = 11, 65535
		}), want: with(whole(), func(s *check.Spec, _ *check.Detail) { s.FailureThreshold, s.SuccessThreshold = 10, 10 })},
		"thresholds of a connection": {asked: with(whole(), func(s *check.Spec, _ *check.Detail) {
			s.FailureThreshold, s.SuccessThreshold = 1000, 1000
		}), other: true, want: with(tcp, func(s *check.Spec, _ *check.Detail) {
			s.FailureThreshold, s.SuccessThreshold = 10, 10
		}), left: reduce.Elsewhere},
		"nothing": {want: reduce.Connection(), other: true, left: reduce.Elsewhere | reduce.Unknown},
		"times": {asked: with(tcp, func(s *check.Spec, _ *check.Detail) { s.Interval, s.Timeout = 1, 1 }),
			want: with(tcp, func(s *check.Spec, _ *check.Detail) {
				s.Interval, s.Timeout = reduce.MinInterval,
					reduce.MinTimeout
			})},
	} {
		t.Run(name, func(t *testing.T) {
			made, left := reduce.Check(tc.asked, !tc.other)
			if made != tc.want || left != tc.left {
				t.Errorf("%+v, left %b\nwant %+v, left %b", made, left, tc.want, tc.left)
			}
			if again, _ := reduce.Check(made, true); again != made {
				t.Errorf("reduced again it is %+v", again)
			}
		})
	}
}

func TestLeft_SaysWhatTheAgentJudgesAlone(t *testing.T) {
	for left, want := range map[reduce.Omitted]string{
		0:                                        "",
		reduce.ByPolicy:                          "the check in overwatch.agent_policies",
		reduce.Headers | reduce.BodyMatches:      "only looks whether the port is open: its agent's check has headers",
		reduce.Elsewhere:                         "its agent reports from another address",
		reduce.Unknown:                           "this node cannot make its agent's check",
		reduce.BodyContains | reduce.BodyMatches: "only its agent decides body_contains and body_matches",
	} {
		if got := left.String(); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%b is %q, want %q", left, got, want)
		}
	}
}

// For any requested check, the result requests nothing else, has a low cost, and is valid.
func FuzzCheck(f *testing.F) {
	f.Add("http", "/", "h", "s", "GET", "X: y", "200", "b", "(?:a{900}){900}", "e", "g", "", int64(1), int64(-1), 0, 70000,
		true)
	f.Add("tcp", "", "", "", "", "", "", "", "", "", "", "leaky", int64(1)<<62, int64(1), 1, 1, false)
	f.Fuzz(func(t *testing.T, kind, path, host, name, method, headers, status, contains, matches, expect, service,
		counting string,
		interval, timeout int64, failures, successes int, own bool) {
		asked := check.Spec{
			Type: check.Type(kind), Path: path, Host: host, ServerName: name, Interval: time.Duration(interval),
			Timeout: time.Duration(timeout), FailureThreshold: failures, SuccessThreshold: successes,
			Detail: check.Detail{
				Method: method, Headers: headers, ExpectedStatus: status, BodyContains: contains, BodyMatches: matches,
				Expect: expect, GRPCService: service, Counting: check.Counting(counting),
			}.Details(),
		}
		made, _ := reduce.Check(asked, own)
		d := made.Detail.Detail()
		if d.Headers+d.Send+d.BodyContains+d.BodyMatches+d.Expect != "" || made.Address.IsValid() {
			t.Errorf("%+v is repeated", made)
		}
		if problems := made.Validate(); len(problems) > 0 || made.Interval < reduce.MinInterval ||
			made.Timeout < reduce.MinTimeout || max(made.FailureThreshold, made.SuccessThreshold) > reduce.MaxThreshold {
			t.Errorf("%+v: %v", made, problems)
		}
		if !own && made.Type != check.TCP {
			t.Errorf("%s is spoken elsewhere", made.Type)
		}
	})
}
