package wire // inside: it shares wire_test.go

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden frames of the present, unreleased version")

const goldenHead = "# payload of a %s, protocol %d.%d; made by: go test ./wire -run TestGolden -update\n"

// The frames of every released version must always decode to the same messages. Encoding must produce the frames of the
// current version.
func TestGolden_FramesStayAsTheyAre(t *testing.T) {
	dir := filepath.Join("testdata", fmt.Sprintf("v%d.%d", Major, Minor))
	for name, m := range samples() {
		path := filepath.Join(dir, name+".hex")
		if *update {
			writeGolden(t, path, name, encode(t, m))
		}
		frame := readGolden(t, path)
		if got := encode(t, m); !bytes.Equal(got, frame) {
			t.Errorf("%s is encoded differently:\ngot  %x\nwant %x", name, got, frame)
		}
		got := fresh(m)
		if err := got.UnmarshalBinary(frame); err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", path, err, got, m)
		}
	}
}

// The messages of protocol 1.1, which version 0.9.0 sends, have the same meaning. Their missing fields are zero.
func TestGolden_FramesOfVersion090MeanTheSame(t *testing.T) {
	for name, later := range samples() {
		path := filepath.Join("testdata", "v1.1", name+".hex")
		frame := readGolden(t, path)
		got := fresh(later)
		if err := got.UnmarshalBinary(frame); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if again := encode(t, got); !bytes.Equal(again, frame) {
			t.Errorf("%s: fields got lost:\ngot  %x\nwant %x", path, again, frame)
		}
		if diff := contradiction(name, reflect.ValueOf(got).Elem(), reflect.ValueOf(later).Elem()); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

// contradiction returns the name of a field with another value than in the full sample, except for missing fields.
func contradiction(path string, got, full reflect.Value) string {
	switch {
	case got.IsZero():
		return ""
	case got.Kind() == reflect.Slice && got.Type().Elem().Kind() == reflect.Struct:
		for i := range min(got.Len(), full.Len()) {
			if diff := contradiction(fmt.Sprintf("%s[%d]", path, i), got.Index(i), full.Index(i)); diff != "" {
				return diff
			}
		}
		return ""
	case got.Kind() == reflect.Struct && got.Type() != reflect.TypeFor[netip.Addr]():
		for i := range got.NumField() {
			if diff := contradiction(path+"."+got.Type().Field(i).Name, got.Field(i), full.Field(i)); diff != "" {
				return diff
			}
		}
		return ""
	case !reflect.DeepEqual(got.Interface(), full.Interface()):
		return fmt.Sprintf("%s is %v, was sent as %v", path, got, full)
	}
	return ""
}

func writeGolden(t *testing.T, path, name string, frame []byte) {
	t.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, goldenHead, name, Major, Minor)
	for len(frame) > 0 {
		n := min(32, len(frame))
		fmt.Fprintf(&text, "%x\n", frame[:n])
		frame = frame[n:]
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readGolden(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(text), "\n")
	frame, err := hex.DecodeString(strings.ReplaceAll(body, "\n", ""))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return frame
}
