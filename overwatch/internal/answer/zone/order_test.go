package zone // inside: it uses appendKey and canonicalName

import (
	"bytes"
	"cmp"
	"testing"

	"github.com/miekg/dns"
)

// The order is the canonical order of RFC 4034 section 6.1. The cases include octets that could be confused with a
// separator.
func TestAppendKey_OrdersNamesCanonically(t *testing.T) {
	ordered := []string{
		".", "example.", "a.example.", "yljkjljk.a.example.", "z.a.example.", "zabc.a.example.", "z.example.",
		"\\001.z.example.", "*.z.example.",
		"\\200.z.example.", "z\\000.example.", "b.z\\000.example.", "z\\000\\000.example.", "z\\000\\001.example.",
		"z\\001.example.", "z\\002.example.", "zz.example.",
	}
	for i, a := range ordered {
		for j, b := range ordered {
			if got := compareKeys(t, a, b); got != cmp.Compare(i, j) || got != cmp.Compare(canonicalCompare(a, b), 0) {
				t.Errorf("%s and %s: %d", a, b, got)
			}
		}
	}
}

func compareKeys(t testing.TB, a, b string) int {
	t.Helper()
	x, errX := canonicalName(a)
	y, errY := canonicalName(b)
	if errX != nil || errY != nil {
		t.Fatal(errX, errY)
	}
	return bytes.Compare(appendKey(nil, []byte(x)), appendKey(nil, []byte(y)))
}

func FuzzAppendKey(f *testing.F) {
	f.Add([]byte("\x01a\x00"), []byte("\x02a\x00\x01b\x00"))
	f.Add([]byte("\x01\x01\x00"), []byte("\x02\x00\x02\x00"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var names [2]string
		for i, wire := range [][]byte{a, b} {
			name, end, err := dns.UnpackDomainName(wire, 0)
			if err != nil || end != len(wire) {
				t.Skip()
			}
			names[i] = name
		}
		if got, want := compareKeys(t, names[0], names[1]),
			cmp.Compare(canonicalCompare(names[0], names[1]), 0); got != want {
			t.Errorf("%s and %s: %d, want %d", names[0], names[1], got, want)
		}
	})
}
