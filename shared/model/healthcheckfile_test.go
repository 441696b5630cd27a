package model_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gslb.internal/shared/check"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

func TestHealthCheck_IsTheCheckThatItDescribes(t *testing.T) {
	var b model.HealthCheck
	settings.SetDefaults(&b)
	b.Type, b.Path, b.Host, b.ServerName, b.InsecureSkipVerify = "https", "/up", "h", "s", true
	want := check.Spec{
		Type: check.HTTPS, Path: "/up", Host: "h", ServerName: "s", InsecureSkipVerify: true,
		Interval: check.DefaultInterval, Timeout: check.DefaultTimeout,
		FailureThreshold: check.DefaultFailureThreshold, SuccessThreshold: check.DefaultSuccessThreshold,
	}
	if got := b.Spec(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	b.Enabled, want.Off = new(bool), true
	if got := b.Spec(); got != want {
		t.Errorf("switched off: got %+v, want %+v", got, want)
	}
}

func TestHealthCheck_DetailsAreThoseOfTheCheck(t *testing.T) {
	var b model.HealthCheck
	settings.SetDefaults(&b)
	if b.Spec().Detail != (check.Details{}) {
		t.Errorf("the defaults are %s", b.Spec().Detail)
	}
	b.Headers = map[string]string{"X-B": "2", "X-A": "1"}
	b.Method, b.ExpectedStatus, b.BodyContains, b.BodyMatches = "HEAD", "204", "c", "m"
	b.Send, b.Expect, b.GRPCService, b.Counting = "s", "e", "g", "leaky"
	want := check.Detail{
		Method: "HEAD", Headers: "X-A: 1\nX-B: 2", ExpectedStatus: "204", BodyContains: "c", BodyMatches: "m",
		Send: "s", Expect: "e", GRPCService: "g", Counting: check.Leaky,
	}
	if got := b.Spec().Detail.Detail(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Problems of package check have the key of the file. A value that the check type ignores is a problem.
func TestHealthCheck_ProblemsHaveTheKeysOfTheFile(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"good", "{type: tcp}", nil},
		{"off", "{enabled: false}", nil},
		{"off and wrong", "{enabled: false, type: x}", []string{"check.type|x|use http, https, tcp, grpc or grpcs"}},
		{"no type", "{}", []string{"check.type||is missing: use http, https, tcp, grpc or grpcs"}},
		{"no path", "{type: http}", []string{"check.path||is missing: an http check needs the path to ask for, for " +
			"example /health"}},
		{"unused by tcp", "{type: tcp, path: /, host: h, server_name: s}", []string{
			"check.path|/|a check of type tcp has no use for it: remove it, or change type",
			"check.host|h|a check of type tcp has no use for it: remove it, or change type",
			"check.server_name|s|a check of type tcp has no use for it: remove it, or change type"}},
		{"unused by http", "{type: http, path: /, server_name: s}", []string{
			"check.server_name|s|a check of type http has no use for it: remove it, or change type"}},
		{"unused by grpc", "{type: grpc, path: /, server_name: s, method: GET}", []string{ // by column
			"check.path|/|a check of type grpc has no use for it: remove it, or change type",
			"check.server_name|s|a check of type grpc has no use for it: remove it, or change type",
			"check.method|GET|a check of type grpc has no use for it: remove it, or change type"}},
		{"details", "{type: http, path: /, method: POST, headers: {X-Secret: \"a\\nb\"}, expected_status: 20x, " +
			"body_matches: '(', counting: x}", []string{
			"check.method|POST|use GET, HEAD or OPTIONS: a check must not change anything",
			"check.headers|X-Secret|a header's name has letters, digits and hyphens only",
			`check.expected_status|20x|give statuses and ranges from 200 to 599, such as "200,301-308"`,
			"check.body_matches|(|it is no regular expression: missing closing ): `(`",
			"check.counting|x|use consecutive or leaky"}},
		{"good details", "{type: https, path: /, headers: {A: 'b: c', C: d}, expected_status: 200, body_contains: ok, " +
			"counting: leaky}", nil},
		{"times", "{type: tcp, interval: 1s, timeout: 2s}", []string{
			"check.timeout|2s|give a time from 10ms up to the interval (1s): checks of one backend do not overlap"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.yaml")
			if err := os.WriteFile(path, []byte("mode: x\ncheck: "+tt.text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			var config struct {
				Mode  string            `key:"mode"`
				Check model.HealthCheck `key:"check"`
			}
			settings.SetDefaults(&config)
			err := settings.Load(path, &config, settings.Options{Mode: "x",
				Validate: func(r *settings.Report) { config.Check.Validate(r, "check") }})
			problems, _ := errors.AsType[settings.Problems](err)
			var got []string
			for _, p := range problems {
				got = append(got, p.Key+"|"+p.Value+"|"+p.Message)
				if p.Line != 2 {
					t.Errorf("%v is not in line 2", p)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestHealthCheck_ReadsItsAuthorities(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("x.yaml", "mode: x\n")
	write("empty.pem", "")
	write("other.pem", "no certificate")
	for file, want := range map[string]string{
		"missing.pem":                  "cannot be read: no such file or directory",
		filepath.Join(dir, "none.pem"): "cannot be read",
		"empty.pem":                    "is empty: give a file with the certificates",
		"other.pem":                    "it has no certificate in PEM form",
	} {
		var config struct {
			Mode string `key:"mode"`
		}
		var b model.HealthCheck
		settings.SetDefaults(&b)
		b.Type, b.Path, b.CAFile = "https", "/", file
		err := settings.Load(filepath.Join(dir, "x.yaml"), &config, settings.Options{Mode: "x",
			Validate: func(r *settings.Report) { b.Validate(r, "check") }})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "check.ca_file") {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
}
