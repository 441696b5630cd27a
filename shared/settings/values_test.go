package settings // inside: it uses ascii

import (
	"encoding/base64"
	"net/netip"
	"reflect"
	"strings"
	"testing"
)

func TestCanonicalName_IsLowerCaseWithoutFinalDot(t *testing.T) {
	for text, want := range map[string]string{
		"app.example.com": "app.example.com", "APP.Example.com.": "app.example.com", "a": "a", "_sip._tcp.x": "_sip._tcp.x",
		"xn--mnchen-3ya.de": "xn--mnchen-3ya.de", "1.2.3.4.example": "1.2.3.4.example", "x--y": "x--y",
		strings.Repeat("a", 63) + ".b": strings.Repeat("a", 63) + ".b",
	} {
		if got, remedy := ParseName(text); got != want || remedy != "" {
			t.Errorf("ParseName(%q) = %q, %q, want %q", text, got, remedy, want)
		}
	}
	if got, remedy := ParseService("*.Example.com"); got != "*.example.com" || remedy != "" {
		t.Errorf("a wildcard became %q, %q", got, remedy)
	}
}

func TestCanonicalName_SaysWhatWouldBeRight(t *testing.T) {
	for text, want := range map[string]string{
		"":           "give a domain name, such as app.example.com",
		".":          "give a domain name, such as app.example.com",
		"a..b":       "it has two adjacent dots, or a dot at the beginning: remove the dot",
		".a":         "it has two adjacent dots, or a dot at the beginning: remove the dot",
		"-a.b":       `the label "-a" begins or ends with a hyphen`,
		"a b":        "a name has letters, digits, hyphens, underscores and dots only",
		"*.a":        "a name has letters, digits, hyphens, underscores and dots only",
		"192.0.2.1":  "this is an address; give a domain name, such as app.example.com",
		"münchen.de": "write the name as in the DNS, in its A-label form: xn--mnchen-3ya.de",
		"\xff.de": "write the name as in the DNS: internationalised labels in their " +
			"A-label form (xn--...)",
		strings.Repeat("a", 64):      `the label "` + strings.Repeat("a", 60) + `..." has 64 octets, at most 63 are allowed`,
		strings.Repeat("a.", 127):    "",
		strings.Repeat("a.", 130):    "the name has 259 octets, at most 253 are allowed",
		"app.example.com:80":         "a name has letters, digits, hyphens, underscores and dots only",
		"https://app.example.com/x":  "a name has letters, digits, hyphens, underscores and dots only",
		"app.example.com\nx: secret": "a name has letters, digits, hyphens, underscores and dots only",
	} {
		if _, remedy := ParseName(text); remedy != want {
			t.Errorf("ParseName(%q): %q, want %q", text, remedy, want)
		}
	}
}

func TestParseListener_TakesAddressAndPort(t *testing.T) {
	for text, want := range map[string]Listener{
		":53":                   {Port: 53},
		"0.0.0.0:1":             {Addr: netip.MustParseAddr("0.0.0.0"), Port: 1},
		"127.0.0.1:0":           {Addr: netip.MustParseAddr("127.0.0.1"), Port: 0},
		"[::1]:8080":            {Addr: netip.MustParseAddr("::1"), Port: 8080},
		"[fe80::1%lo]:1":        {Addr: netip.MustParseAddr("fe80::1%lo"), Port: 1},
		"[::ffff:127.0.0.1]:53": {Addr: netip.MustParseAddr("127.0.0.1"), Port: 53},
	} {
		if got, remedy := ParseListener(text); got != want || remedy != "" {
			t.Errorf("ParseListener(%q) = %v, %q", text, got, remedy)
		}
	}
	const form = "give an IP address and a port, such as 127.0.0.1:8080, [::1]:8080, or :53 for every address"
	const unknown = "with port 0 it is another one at each start, which nobody can know: give a port from 1 to 65535"
	for text, want := range map[string]string{
		":0": unknown, "0.0.0.0:0": unknown, "[2001:db8::1]:00": unknown, "": form, "53": form, "localhost:53": form,
		"::1:53": form, "224.0.0.1:53": form,
		"127.0.0.1:": "give a port from 1 to 65535 behind the last colon", "127.0.0.1:99999": "give a port from 1 to " +
			"65535 behind the last colon",
	} {
		if _, remedy := ParseListener(text); remedy != want {
			t.Errorf("ParseListener(%q): %q, want %q", text, remedy, want)
		}
	}
}

func TestHostPortRemedy_AcceptsNamesAndAddressesWithAPort(t *testing.T) {
	for _, text := range []string{"ow-1.example.com:7946", "192.0.2.1:1", "[2001:db8::1]:7946", "localhost:7946"} {
		if remedy := HostPortRemedy(text); remedy != "" {
			t.Errorf("%s: %s", text, remedy)
		}
	}
	for text, want := range map[string]string{
		"ow-1": "give a host and a port, such as overwatch-1.example.com:7946, 192.0.2.1:7946 or " +
			"[2001:db8::1]:7946",
		"ow-1:0":            "give a port from 1 to 65535 behind the last colon",
		"0.0.0.0:7946":      "this stands for every address: give the one of the machine",
		"224.0.0.1:7946":    "this is a multicast address: give the one of a single machine",
		"a_b c:7946":        "a name has letters, digits, hyphens, underscores and dots only",
		"255.255.255.255:1": "this is the broadcast address: give the one of a single machine",
	} {
		if remedy := HostPortRemedy(text); remedy != want {
			t.Errorf("%s: %q, want %q", text, remedy, want)
		}
	}
}

func TestParseKey_TakesThirtyTwoOctetsInBase64(t *testing.T) {
	octets := []byte(strings.Repeat("k", KeySize))
	key, remedy := ParseKey(Secret(base64.StdEncoding.EncodeToString(octets)))
	if string(key) != string(octets) || remedy != "" {
		t.Errorf("got %q, %q", key, remedy)
	}
	const end = "give 32 octets in base64; make one with: head -c 32 /dev/urandom | base64"
	for text, want := range map[Secret]string{
		"":                 "is missing: " + end,
		"not base64, this": "its 16 characters are not base64: " + end,
		"dG9vIHNob3J0":     "has 9 octets: " + end,
	} {
		if _, remedy := ParseKey(text); remedy != want {
			t.Errorf("%q: %q, want %q", text.Reveal(), remedy, want)
		}
	}
}

func TestLabelRemedy_BoundsNamesOfRegionsAndNodes(t *testing.T) {
	for name, want := range map[string]string{
		"eu-w_1.A": "", "": "is missing: give a name", "a b": "use letters, digits, hyphens, underscores and dots",
		"elevenchars": "the name has 11 octets, at most 10 are allowed", "ä": "use letters, digits, hyphens, " +
			"underscores and dots",
	} {
		if got := LabelRemedy(name, 10); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestDidYouMean_NamesTheNearestOrAll(t *testing.T) {
	for name, want := range map[string]string{
		"eu-wset": "did you mean eu-west?", "mars": "known are eu-west, us-east", "EU_WEST": "did you mean eu-west?",
	} {
		if got := DidYouMean(name, []string{"eu-west", "us-east"}); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := DidYouMean("x", nil); got != "none is known" {
		t.Errorf("got %q", got)
	}
	if got := DidYouMean("zzz", strings.Split("a1 b2 c3 d4 e5 f6 g7 h8 i9 j10 k11 l12 m13",
		" ")); !strings.HasSuffix(got, "l12 and others") {
		t.Errorf("got %q", got)
	}
}

// A canonical name is its own canonical form, and case has no effect.
func FuzzCanonicalName(f *testing.F) {
	for _, text := range []string{"app.example.com", "a", "a.", "a..b", "-a.b", "a-.b", "a.-b", "_a.b_c", "1.2.3.4",
		"9.a", "A.b", "a.b:c", "fe80::1%a", "", ".", strings.Repeat("a", 64), strings.Repeat("a.", 127)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, remedy := ParseName(text)
		if again, remedyAgain := ParseName(name); remedy == "" && (again != name || remedyAgain != "") {
			t.Errorf("%q became %q: %s", name, again, remedyAgain)
		}
		if upper := strings.ToUpper(text); ascii(text) && strings.ToLower(upper) != upper {
			if again, remedyAgain := ParseName(upper); again != name || (remedyAgain == "") != (remedy == "") {
				t.Errorf("%q became %q: %s; in upper case %q: %s", text, name, remedy, again, remedyAgain)
			}
		}
	})
}

func TestBoundsOf_ChecksNumbersWithoutASign(t *testing.T) {
	field, _ := reflect.TypeFor[struct {
		Port uint16 `min:"1" max:"60000"`
	}]().FieldByName("Port")
	check := BoundsOf(field)
	for port, want := range map[uint16]string{0: "give a number from 1 to 60000", 1: "", 60000: "",
		60001: "give a number from 1 to 60000"} {
		if got := check(reflect.ValueOf(port)); got != want {
			t.Errorf("%d: %q, want %q", port, got, want)
		}
	}
}
