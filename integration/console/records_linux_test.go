package console_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gslb.internal/integration/harness/testbed"
)

// A browser that queries HTTPS records uses TLS immediately for a name with such a record, even for an http:// URL, and
// not for other names. The node is the resolver of the browser, in a namespace with free addresses and ports.
func TestHTTPS_ChromiumGoesByTheRecord(t *testing.T) {
	const inside = "GSLB_CHROMIUM_INSIDE"
	testbed.OnlyInFull(t)
	if os.Getenv(inside) != "" {
		goesByTheRecord(t)
		return
	}
	again := exec.CommandContext(t.Context(), testbed.Judge(t, "unshare"), "-rmnpf", "--mount-proc", os.Args[0],
		"-test.run", "^"+t.Name()+"$", "-test.v", "-test.timeout", "3m")
	again.Env = append(os.Environ(), inside+"=1")
	if out, err := again.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Fatalf("%v\n%s", err, out)
	}
}

const recordsNode = `mode: overwatch
data_dir: %s
overwatch:
  identity: {node_id: ow-1, region: eu}
  gossip: {encryption_key: "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=", bind_address: "127.0.0.1:7946"}
  validation: {enabled: false}
  dnssec: {enabled: false, security_acknowledgment: in a namespace of its own}
dns: {listen_address: "127.0.0.1:53", zones: [{name: gslb.test, nameservers: [ow-1.gslb.test]}]}
api: {enabled: false}
metrics: {enabled: false}
regions:
  - name: eu
    servers:
      - {service: with.gslb.test, address: 10.9.9.1, port: 443}
      - {service: without.gslb.test, address: 10.9.9.1, port: 443}
domains:
  - {name: with.gslb.test, https: {alpn: [h2]}}
  - {name: without.gslb.test}
`

func goesByTheRecord(t *testing.T) {
	chromium, dir := testbed.Judge(t, "chromium"), t.TempDir()
	testbed.Write(t, filepath.Join(dir, "resolv.conf"), 0o644, "nameserver 127.0.0.1\n")
	for _, line := range []string{"ip link set lo up", "ip address add 10.9.9.1/32 dev lo",
		"mount --bind " + dir + "/resolv.conf /etc/resolv.conf",
		"mount -t tmpfs none /mnt"} { // for the browser, whose sockets have short names

		words := strings.Fields(line)
		if out, err := exec.CommandContext(t.Context(), words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	file := filepath.Join(dir, "overwatch.yaml")
	testbed.Write(t, file, 0o600, fmt.Sprintf(recordsNode, dir+"/data"))
	node := exec.CommandContext(t.Context(), testbed.Binaries(t).Overwatch, "--config", file)
	node.Stdout, node.Stderr = t.Output(), t.Output()
	testbed.Start(t, node)
	t.Cleanup(func() {
		_ = node.Process.Kill()
		_ = node.Wait()
	})
	for at, start := range map[string]func(*httptest.Server){
		"10.9.9.1:80": (*httptest.Server).Start, "10.9.9.1:443": (*httptest.Server).StartTLS,
	} {
		var err error
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, "<p>TLS: %t</p>", r.TLS != nil)
		}))
		if server.Listener, err = new(net.ListenConfig).Listen(t.Context(), "tcp", at); err != nil {
			t.Fatal(err)
		}
		start(server)
		t.Cleanup(server.Close)
	}
	for name, want := range map[string]string{"without.gslb.test": "TLS: false", "with.gslb.test": "TLS: true"} {
		// A busy browser continues without the record if the record arrives after the address.
		testbed.Until(t, testbed.Hang, name+": "+want, func(ctx context.Context) error {
			page := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu",
				"--ignore-certificate-errors", "--user-data-dir=/mnt/"+name, "--dump-dom", "http://"+name+"/")
			page.Env = append(os.Environ(), "TMPDIR=/mnt", "HOME=/mnt")
			page.Stderr, page.WaitDelay = io.Discard, time.Second
			out, err := page.Output()
			if err != nil || !strings.Contains(string(out), want) {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		})
	}
}
