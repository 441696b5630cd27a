package replication_test

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// nsupdate sends commands to a node by the program nsupdate (bind9-dnsutils) with a TSIG key, and returns its output.
func nsupdate(ctx context.Context, n *harness.Node, key, secret string, tcp bool, commands ...string) (string, error) {
	script := []string{fmt.Sprintf("server %s %d", n.DNS.Addr(), n.DNS.Port()), "zone test.gslb.test"}
	if secret != "" {
		script = append(script, fmt.Sprintf("key hmac-sha256:%s %s", key, secret))
	}
	script = append(append(script, commands...), "send", "")
	args := []string{"-t", "10"}
	if tcp {
		args = append(args, "-v")
	}
	cmd := exec.CommandContext(ctx, "nsupdate", args...)
	cmd.Stdin = strings.NewReader(strings.Join(script, "\n"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return strings.TrimSpace(out.String()), err
}

// nsupdate adds, replaces and deletes records of challenges through any node over both transports. The records
// replicate, are signed and have audit entries with the name of the key. A key changes only the names of its scope.
func TestUpdate_Nsupdate(t *testing.T) {
	t.Parallel()
	testbed.Judge(t, "nsupdate")
	s := guarded(t, harness.NewToken())
	first, second := s.Nodes[0], s.Nodes[1]
	s.StartNodes(t, s.Nodes...)
	key := "acme.gslb.test"
	made, err := first.Client.CreateToken(t.Context(), api.TokenChange{"name": key, "type": "tsig",
		"algorithm": "hmac-sha256",
		"scope":     map[string]any{"names": []string{challenge, "app.test.gslb.test"}, "owners": []string{"certs"}}})
	if err != nil {
		t.Fatal(err)
	}
	send := func(n *harness.Node, tcp bool, commands ...string) string {
		t.Helper()
		out, err := nsupdate(t.Context(), n, key, made.Secret, tcp, commands...)
		if err != nil && out == "" {
			t.Fatal(err)
		}
		return out
	}
	if out := send(first, false, "update add "+challenge+" 5 TXT one"); out != "" {
		t.Errorf("over UDP: %s", out)
	}
	answersTexts(t, challenge, []string{"one"}, first, second)
	testbed.Until(t, reachBound, "the key to reach the second node", func(ctx context.Context) error {
		out, err := nsupdate(ctx, second, key, made.Secret, true, "update add "+challenge+" 5 TXT two")
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	})
	answersTexts(t, challenge, []string{"one", "two"}, first, second)
	records, err := second.Client.Records(t.Context(), challenge)
	if err != nil || len(records.Records) != 1 || records.Records[0].Owner != "certs" ||
		time.Until(records.Records[0].Records[0].ExpiresAt) < 23*time.Hour {
		t.Errorf("%+v, %v", records, err)
	}
	for _, tc := range []struct{ name, want, command string }{
		{"another name", "REFUSED", "update add a.test.gslb.test 5 TXT x"},
		{"a prerequisite", "YXRRSET", "prereq nxrrset " + challenge + " TXT\nupdate add " + challenge + " 5 TXT three"},
		{"an alias of a load-balanced name", "REFUSED", "update add app.test.gslb.test 5 CNAME a.example.net"},
		{"a zone of others", "NOTZONE", "update add a.example.net 5 TXT x"},
	} {
		if out := send(first, false, strings.Split(tc.command, "\n")...); !strings.Contains(out, tc.want) {
			t.Errorf("%s: %q, want %s", tc.name, out, tc.want)
		}
	}
	if out, _ := nsupdate(t.Context(), first, key, "", false, "update add "+challenge+" 5 TXT x"); !strings.Contains(out,
		"REFUSED") {
		t.Errorf("unsigned: %q", out)
	}
	if out := send(second, false, "update delete "+challenge+" TXT one"); out != "" {
		t.Errorf("delete: %s", out)
	}
	answersTexts(t, challenge, []string{"two"}, first, second)
	log, err := second.Client.AuditLog(t.Context(), map[string][]string{"actions": {api.AuditDelete}})
	if err != nil || len(log.Entries) != 1 || log.Entries[0].Actor != key {
		t.Fatalf("%+v, %v", log.Entries, err)
	}
	if _, err := second.Client.Undo(t.Context(), fmt.Sprint(log.Entries[0].ID)); err != nil {
		t.Errorf("undo: %v", err)
	}
	answersTexts(t, challenge, []string{"one", "two"}, first, second)
	if err := first.Client.RevokeToken(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if out := send(first, false, "update delete "+challenge+" TXT"); !strings.Contains(out, "NOTAUTH") &&
		!strings.Contains(out, "NOTIMP") {
		t.Errorf("after the revocation: %q", out)
	}
}
