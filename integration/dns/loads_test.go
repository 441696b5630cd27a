package dns_test

import (
	"fmt"
	"net/netip"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
)

// Queries of the load generators: kinds of answers by their response code, and the number of repetitions of the list.
const (
	loadList  = 600
	loadTimes = 5
)

// loadFile writes a list of queries, a third of each kind, and returns it with the expected number of each response
// code.
func loadFile(t *testing.T) (path string, codes map[string]int) {
	t.Helper()
	var b strings.Builder
	codes = map[string]int{}
	for i := range loadList / 6 {
		for _, q := range []struct{ text, code string }{
			{testbed.AppName + " A", "NOERROR"}, {testbed.AppName + " AAAA", "NOERROR"}, // which has none
			{fmt.Sprintf("nx%d.%s A", i, testbed.ZoneName), "NXDOMAIN"}, {testbed.ZoneName + " DNSKEY", "NOERROR"},
			{fmt.Sprintf("x%d.elsewhere.example A", i), "REFUSED"}, {strings.ToUpper(testbed.AppName) + " TXT", "NOERROR"},
		} {
			b.WriteString(q.text + "\n")
			codes[q.code]++
		}
	}
	path = filepath.Join(t.TempDir(), "questions")
	testbed.Write(t, path, 0o600, b.String())
	return path, codes
}

// figure returns the number after a label in the output of a load generator, or 0 without the label.
func figure(said, label string) int {
	found := regexp.MustCompile(regexp.QuoteMeta(label) + `\s+(\d+)`).FindStringSubmatch(said)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1])
	return n
}

// generate runs a load generator against an address.
func generate(t *testing.T, program string, at netip.AddrPort, args ...string) string {
	t.Helper()
	args = append([]string{"-s", at.Addr().String(), "-p", fmt.Sprint(at.Port())}, args...)
	out, err := exec.CommandContext(t.Context(), testbed.Judge(t, program), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// dnsperf loses no query, over UDP and TCP, with and without EDNS and DO, and receives exactly the expected response
// codes.
func TestLoad_DnsperfLosesNothingAndEveryCodeIsRight(t *testing.T) {
	_, n := signed.Site(t, "nsec")
	path, codes := loadFile(t)
	for name, args := range map[string][]string{"UDP": nil, "UDP with DO": {"-e", "-D"}, "TCP": {"-m", "tcp", "-c", "4"}} {
		t.Run(name, func(t *testing.T) {
			// The number of concurrent queries fits into the kernel's smallest buffers, and the timeout is long enough for a
			// busy machine.
			said := generate(t, "dnsperf", n.DNS, append([]string{"-d", path, "-n", fmt.Sprint(loadTimes), "-q", "50", "-t",
				"10"}, args...)...)
			if sent := figure(said, "Queries sent:"); sent != loadList*loadTimes || figure(said, "Queries completed:") != sent ||
				figure(said, "Queries lost:") != 0 {
				t.Errorf("%d queries should be sent and completed:\n%s", loadList*loadTimes, said)
			}
			for code, each := range codes {
				if got := figure(said, code); got != each*loadTimes {
					t.Errorf("%s: %d, want %d:\n%s", code, got, each*loadTimes, said)
				}
			}
		})
	}
}

// resperf, which increases its rate without waiting for answers, loses no query up to a rate that any machine supports,
// and receives only the expected response codes.
func TestLoad_ResperfLosesNothing(t *testing.T) {
	_, n := signed.Site(t, "nsec")
	path, codes := loadFile(t)
	// After a pause of the machine, resperf sends all delayed queries in a burst. Its buffer of 32 KiB would be too small
	// for the answers.
	said := generate(t, "resperf", n.DNS, "-d", path, "-m", "150", "-r", "2", "-c", "1", "-i", "0.5", "-b", "1024", "-P",
		filepath.Join(t.TempDir(), "plot"))
	sent := figure(said, "Queries sent:")
	if sent < 100 || figure(said, "Queries completed:") != sent || figure(said, "Queries lost:") != 0 {
		t.Errorf("queries were lost:\n%s", said)
	}
	sum := 0
	for code := range codes {
		sum += figure(said, code)
	}
	if sum != sent {
		t.Errorf("%d of %d responses have a code that is right:\n%s", sum, sent, said)
	}
}

// curl can use the standard HTTP features of the API: JSON by default or compressed, an ETag that avoids a second
// answer, HEAD, OPTIONS, rejected ranges, HTTP/1.0 and 1.1, and errors as JSON with their code.
func TestAPI_ServesCurl(t *testing.T) {
	s := testbed.StartSite(t, 1, 1)
	base := "http://" + s.Nodes[0].API.String()
	for _, c := range []struct {
		name  string
		args  []string
		wants string
	}{
		{"plain", []string{"/api/v1/domains"}, `(?s)HTTP/1.1 200 .*Content-Type: application/json.*"name":\s*"` +
			testbed.AppName},
		{"HTTP/1.0", []string{"--http1.0", "/api/v1/version"}, `(?s)HTTP/1\.[01] 200 .*"version"`},
		{"compressed", []string{"--compressed", "/api/v1/domains"}, `(?s) 200 .*"name":\s*"` + testbed.AppName},
		{"HEAD", []string{"--head", "/api/v1/live"}, `(?s) 200 .*Content-Type: application/json`},
		{"keeps its connection", []string{"/api/v1/live", base + "/api/v1/live"}, `(?s)"alive".*"alive"`},
		{"creates", []string{"--json", `{"name":"curled.` + testbed.ZoneName + `"}`, "/api/v1/domains"}, `(?s) 201 .*curled`},
		{"expects to be told to go on", []string{"--expect100-timeout", "5", "-H", "Expect: 100-continue", "--json",
			`{"name":"curled2.` + testbed.ZoneName + `"}`, "/api/v1/domains"}, `(?s) 100 Continue.* 201 .*curled2`},
		{"sends in chunks", []string{"-H", "Transfer-Encoding: chunked", "--json",
			`{"name":"curled3.` + testbed.ZoneName + `"}`, "/api/v1/domains"}, `(?s) 201 .*curled3`},
		{"not JSON", []string{"--data", "name=x", "/api/v1/domains"},
			`(?s) 4\d\d .*Content-Type: application/.*json.*"error"`},
		{"nothing there", []string{"/api/v1/nothing"}, `(?s) 404 .*"error"`},
		{"wrong method", []string{"-X", "BREW", "/api/v1/domains"}, `(?s) 40[45] .*"error"`},
		{"dots in its path", []string{"--path-as-is", "/api/v1/../../etc/passwd"}, `(?s) (301|400|404) `},
		{"deletes", []string{"-X", "DELETE", "/api/v1/domains/curled." + testbed.ZoneName}, ` 204 `},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append([]string{"--silent", "--show-error", "--include", "--max-time", "20"}, c.args...)
			for i, arg := range args {
				if strings.HasPrefix(arg, "/api/") {
					args[i] = base + arg
				}
			}
			out, err := exec.CommandContext(t.Context(), testbed.Judge(t, "curl"), args...).CombinedOutput()
			if err != nil || !regexp.MustCompile(c.wants).Match(out) {
				t.Errorf("curl %s: %v, want %s:\n%s", strings.Join(args, " "), err, c.wants, out)
			}
		})
	}
}
