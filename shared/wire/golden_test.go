package wire

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden frames of the present, unreleased version")

const goldenHead = "# payload of a %s, protocol %d.%d; made by: go test ./wire -run TestGolden -update\n"

// The frames of every released version must decode to the same messages for ever; those of the present one must also be what is
// encoded.
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
