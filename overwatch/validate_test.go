package overwatch

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/store"
	"gslb.internal/shared/settings"
)

// sample writes a configuration whose metrics listener is at an address.
func sample(t *testing.T, dataDir, metrics string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "overwatch.yaml")
	text := fmt.Sprintf(`
mode: overwatch
data_dir: %q
overwatch:
  identity: {node_id: ns1, region: eu}
  gossip: {bind_address: "127.0.0.1:0", encryption_key: %q}
dns: {listen_address: "127.0.0.1:0", zones: [gslb.test]}
metrics: {enabled: true, address: %q}
`, dataDir, base64.StdEncoding.EncodeToString(make([]byte, 32)), metrics)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestValidate_FindsAPortInUseUnlessTheNodeItselfHasIt(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := t.TempDir()
	path := sample(t, dir, taken.Addr().String())
	problems, ok := errors.AsType[settings.Problems](Validate(path))
	if !ok || len(problems) != 1 || problems[0].Key != "metrics.address" || !strings.Contains(problems[0].Message, "another process has tcp port") {
		t.Errorf("found %v, want the port that is in use", problems)
	}
	running, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer running.Close()
	if err := Validate(path); err != nil {
		t.Errorf("a node that runs disturbs the validation of its own configuration: %v", err)
	}
}

func TestValidate_FindsAnAddressOfAnotherMachineAndAFileInPlaceOfTheDirectory(t *testing.T) {
	path := sample(t, os.Args[0], "192.0.2.7:9090")
	problems, ok := errors.AsType[settings.Problems](Validate(path))
	if !ok || len(problems) != 2 || problems[0].Key != "data_dir" || !strings.Contains(problems[1].Message, "does not have the address") {
		t.Errorf("found %v", problems)
	}
}
