package check

import (
	"encoding/json"
	"strings"
	"unique"
)

// Counting is the method of counting results.
type Counting string

// The methods of counting. The empty text is Consecutive.
const (
	// Consecutive counts consecutive equal results.
	Consecutive Counting = "consecutive"
	// Leaky counts failures even with successes in between. It detects backends with intermittent failures.
	Leaky Counting = "leaky"
)

// Detail holds the rarely used settings of a Spec. A zero field is unused. Each field has a row in detailSettings.
type Detail struct {
	// Method is the request method of http and https: GET, HEAD or OPTIONS; empty means GET. Other methods are invalid,
	// because they may change data.
	Method string `json:",omitzero"`
	// Headers are additional request headers of http and https, one "Name: value" per line, sorted.
	Headers string `json:",omitzero"`
	// ExpectedStatus lists the healthy statuses of http and https, as in "200,301-308"; empty means
	// 200-399.
	ExpectedStatus string `json:",omitzero"`
	// BodyContains is a text that the body of http and https must contain.
	BodyContains string `json:",omitzero"`
	// BodyMatches is a regular expression (RE2) that the body of http and https must match.
	BodyMatches string `json:",omitzero"`
	// Send is the text that tcp sends after connecting.
	Send string `json:",omitzero"`
	// Expect is a text that tcp must receive within the first MaxExpectRead octets.
	Expect string `json:",omitzero"`
	// GRPCService is the service in the request of grpc and grpcs; empty means the server as a whole.
	GRPCService string `json:",omitzero"`
	// Authorities are PEM certificates that https and grpcs trust instead of the system's.
	Authorities string `json:",omitzero"`
	// Counting is the method of counting results; empty means Consecutive.
	Counting Counting `json:",omitzero"`
}

// DetailSetting declares one setting of a Detail for configuration, validation and messages.
type DetailSetting struct {
	// Key is the key of health_check.
	Key string
	// Number is the number of the field in an agent's message (package wire); 0: the agent does not send the setting.
	Number uint64
	// Limit is the maximum length, in octets.
	Limit int
	// Printable reports that a message may have printable characters only.
	Printable bool
	// Text returns the value.
	Text func(*Detail) *string

	// general reports that every type of check uses the setting.
	general bool
	// show returns the part of a value for error messages, since values may be passwords; nil: the whole value.
	show func(string) string
	// remedy describes a valid value for a wrong value, and returns "" for a valid value.
	remedy func(string) string
}

// detailSettings lists the settings of a Detail in the order of their numbers. The numbers of removed settings remain
// reserved.
var detailSettings = []DetailSetting{
	{Key: "method", Number: 10, Limit: 16, Printable: true, remedy: methodRemedy,
		Text: func(d *Detail) *string { return &d.Method }},
	{Key: "headers", Number: 11, Limit: MaxHeadersLength, remedy: headersRemedy, show: firstHeader,
		Text: func(d *Detail) *string { return &d.Headers }},
	{Key: "expected_status", Number: 12, Limit: MaxStatusLength, Printable: true, remedy: statusRemedy,
		Text: func(d *Detail) *string { return &d.ExpectedStatus }},
	{Key: "body_contains", Number: 13, Limit: MaxTextLength, remedy: textRemedy,
		Text: func(d *Detail) *string { return &d.BodyContains }},
	{Key: "body_matches", Number: 14, Limit: MaxTextLength, remedy: patternRemedy,
		Text: func(d *Detail) *string { return &d.BodyMatches }},
	{Key: "send", Limit: MaxTextLength, remedy: textRemedy,
		show: func(string) string { return Redacted },
		Text: func(d *Detail) *string { return &d.Send }},
	{Key: "expect", Number: 15, Limit: MaxTextLength, remedy: textRemedy,
		Text: func(d *Detail) *string { return &d.Expect }},
	{Key: "grpc_service", Number: 16, Limit: MaxTextLength, Printable: true, remedy: serviceRemedy,
		Text: func(d *Detail) *string { return &d.GRPCService }},
	{Key: "counting", Number: 17, Limit: 16, Printable: true, general: true, remedy: countingRemedy,
		Text: func(d *Detail) *string { return (*string)(&d.Counting) }},
	{Key: "ca_file", Number: 18, Limit: MaxAuthoritiesLength, remedy: authoritiesRemedy,
		show: func(string) string { return "certificates" },
		Text: func(d *Detail) *string { return &d.Authorities }},
}

// DetailSettings returns the settings of a Detail. The caller must not change them.
func DetailSettings() []DetailSetting { return detailSettings }

// Details is an interned, comparable Detail: equal Details have equal content, and all Specs with
// that content share its memory. The zero value is the zero Detail.
type Details struct{ handle unique.Handle[Detail] }

// Details returns the interned form of d.
func (d Detail) Details() Details {
	if d == (Detail{}) {
		return Details{}
	}
	return Details{unique.Make(d)}
}

// Detail returns the content.
func (d Details) Detail() Detail {
	if d == (Details{}) {
		return Detail{}
	}
	return d.handle.Value()
}

// Redacted replaces a value that may be a password.
const Redacted = "[redacted]"

// Shown returns the Details for logs: without the values of headers and the text of Send, which may be passwords.
func (d Details) Shown() Details {
	shown := d.Detail()
	lines := strings.Split(shown.Headers, "\n")
	for i, line := range lines {
		if name, _, found := strings.Cut(line, ":"); found {
			lines[i] = name + ": " + Redacted
		}
	}
	shown.Headers = strings.Join(lines, "\n")
	if shown.Send != "" {
		shown.Send = Redacted
	}
	return shown.Details()
}

// MarshalJSON writes the Detail.
func (d Details) MarshalJSON() ([]byte, error) { return json.Marshal(d.Detail()) }

// UnmarshalJSON reads a Detail.
func (d *Details) UnmarshalJSON(text []byte) error {
	var detail Detail
	if err := json.Unmarshal(text, &detail); err != nil {
		return err
	}
	*d = detail.Details()
	return nil
}

// String returns the content, for messages about a Spec.
func (d Details) String() string {
	text, _ := d.MarshalJSON() // texts only: it cannot fail
	return string(text)
}
