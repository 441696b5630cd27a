package check

import (
	"encoding/json"
	"unique"
)

// Counting is how results add up to a state.
type Counting string

// The ways of counting. The empty text is Consecutive.
const (
	// Consecutive counts equal results in a row.
	Consecutive Counting = "consecutive"
	// Leaky counts failures although there are successes in between, which finds what fails every now and then.
	Leaky Counting = "leaky"
)

// Detail is what few checks need beside the other fields of a Spec. Each field is at its zero value where it is not used.
type Detail struct {
	// Method is what http and https ask with: GET, HEAD or OPTIONS; empty means GET. Others are no checks: they change something.
	Method string `json:",omitzero"`
	// Headers are further fields of the request of http and https, one "Name: value" per line, sorted.
	Headers string `json:",omitzero"`
	// ExpectedStatus is which statuses of http and https are healthy, as in "200,301-308"; empty means 200-399.
	ExpectedStatus string `json:",omitzero"`
	// BodyContains is a text that the body of http and https must have.
	BodyContains string `json:",omitzero"`
	// BodyMatches is a regular expression (RE2) that the body of http and https must match.
	BodyMatches string `json:",omitzero"`
	// Send is what tcp sends after connecting.
	Send string `json:",omitzero"`
	// Expect is a text that must be in the first MaxExpectRead octets that come over tcp.
	Expect string `json:",omitzero"`
	// GRPCService is what grpc and grpcs ask about; empty means the server as a whole.
	GRPCService string `json:",omitzero"`
	// Authorities is certificates in PEM that https and grpcs trust in place of the system's.
	Authorities string `json:",omitzero"`
	// Counting is how results add up; empty means Consecutive.
	Counting Counting `json:",omitzero"`
}

// Details is a Detail that takes no more memory than a pointer however many Specs have it, and that is comparable: two are
// equal if their Details are. The zero value is the zero Detail.
type Details struct{ handle unique.Handle[Detail] }

// Details returns d in the form that a Spec has.
func (d Detail) Details() Details {
	if d == (Detail{}) {
		return Details{}
	}
	return Details{unique.Make(d)}
}

// Detail returns what was made a Details.
func (d Details) Detail() Detail {
	if d == (Details{}) {
		return Detail{}
	}
	return d.handle.Value()
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

// String shows the Detail, for messages about a Spec.
func (d Details) String() string {
	text, _ := d.MarshalJSON() // texts only: it cannot fail
	return string(text)
}
