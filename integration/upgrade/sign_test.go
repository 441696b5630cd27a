package upgrade_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gslb.internal/integration/harness/testbed"
)

// minisignKey creates a key pair with the program minisign, with or without a password, and returns the file of the
// secret key and the public key.
func minisignKey(t *testing.T, program, password string) (file, public string) {
	t.Helper()
	dir := t.TempDir()
	file = filepath.Join(dir, "secret.key")
	args := []string{"-G", "-p", filepath.Join(dir, "public.key"), "-s", file}
	if password == "" {
		args = append(args, "-W")
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Stdin = strings.NewReader(password + "\n" + password + "\n")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("minisign %v: %v\n%s", args, err, output)
	}
	text := testbed.Read(t, filepath.Join(dir, "public.key"))
	lines := strings.Fields(text)
	return file, lines[len(lines)-1]
}

// The program minisign verifies the signature of the checksums with the command of packaging/README.md.
func TestRelease_ChecksumsAreSignedForMinisign(t *testing.T) {
	t.Parallel()
	minisign := testbed.Judge(t, "minisign")
	for _, password := range []string{"", "a password"} {
		key, public := minisignKey(t, minisign, password)
		out := t.TempDir()
		said, err := releaseWith(t, out, "MINISIGN_KEY="+key, "MINISIGN_PASSWORD="+password)
		if err != nil || !strings.Contains(said, "minisign -Vm SHA256SUMS -P "+public) {
			t.Fatalf("password %q: %v, and it does not say how to verify:\n%s", password, err, said)
		}
		verify := func() error {
			cmd := exec.CommandContext(t.Context(), minisign, "-Vm", "SHA256SUMS", "-P", public)
			cmd.Dir = out
			return cmd.Run()
		}
		if err := verify(); err != nil {
			t.Errorf("password %q: minisign does not take the signature: %v", password, err)
		}
		testbed.RunIn(t, out, "sha256sum", "--check", "--quiet", "SHA256SUMS")
		sums := filepath.Join(out, "SHA256SUMS")
		text := testbed.Read(t, sums)
		if strings.Contains(text, "minisig") {
			t.Error("the signature is in the sums")
		}
		testbed.Write(t, sums, 0o644, text+"\n")
		if verify() == nil {
			t.Error("minisign takes the signature of other sums")
		}
		if password != "" { // each use of such a key takes seconds
			refusesKeys(t, key)
		}
	}
}

// refusesKeys checks that a release with an unusable key fails before its work. The key named locked has a password.
func refusesKeys(t *testing.T, locked string) {
	t.Helper()
	wrong := filepath.Join(t.TempDir(), "wrong.key")
	testbed.Write(t, wrong, 0o600, "no key\n")
	for want, env := range map[string][]string{
		"/nowhere/key: no such file":                   {"MINISIGN_KEY=/nowhere/key"},
		"is no secret key of minisign":                 {"MINISIGN_KEY=" + wrong},
		"give it in the variable MINISIGN_PASSWORD":    {"MINISIGN_KEY=" + locked},
		"with the password in MINISIGN_PASSWORD: mini": {"MINISIGN_KEY=" + locked, "MINISIGN_PASSWORD=another"},
	} {
		out := filepath.Join(t.TempDir(), "dist")
		said, err := releaseWith(t, out, env...)
		if err == nil || !strings.Contains(said, want) {
			t.Errorf("%v: %v, want %q in:\n%s", env, err, want, said)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%v: it worked before it looked at the key", env)
		}
	}
}

// A release without a key reports that it is unsigned.
func TestRelease_SaysThatItIsNotSigned(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	said, err := releaseWith(t, out, "MINISIGN_KEY=")
	if err != nil || !strings.Contains(said, "SHA256SUMS is not signed: MINISIGN_KEY") {
		t.Errorf("%v:\n%s", err, said)
	}
	if _, err := os.Stat(filepath.Join(out, "SHA256SUMS.minisig")); err == nil {
		t.Error("there is a signature")
	}
}

// releaseWith builds a release of the agent for Linux on amd64 with environment variables, and returns the output.
func releaseWith(t *testing.T, out string, env ...string) (string, error) {
	t.Helper()
	cmd := releaseCommand(t, "../..", out, "gslb-agent/linux/amd64", "1.2.3")
	cmd.Env = append(os.Environ(), env...)
	output, err := cmd.CombinedOutput()
	return string(output), err
}
