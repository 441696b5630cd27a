package faults_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// hangAtMost is the time after which a hanging disk automatically continues, even if the test has failed. Until then, a
// process that waits for the disk cannot be killed.
const hangAtMost = 60 * time.Second

// hangingDisk mounts a disk that can hang, which makes every write wait. It requires root.
func hangingDisk(t *testing.T) (disk string, hang func() (goOn func())) {
	t.Helper()
	image, disk := filepath.Join(t.TempDir(), "image"), t.TempDir()
	for _, command := range [][]string{
		{"truncate", "-s", "64M", image}, {"mkfs.ext4", "-q", "-O", "^has_journal", image},
		{"mount", "-o", "loop", image, disk},
	} {
		if output, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("a disk that can hang needs root and a loop device: %v: %v: %s", command, err, output)
		}
	}
	t.Cleanup(func() { _ = exec.Command("umount", "--lazy", disk).Run() })
	return disk, func() func() {
		t.Helper()
		thaw := exec.Command("sh", "-c", fmt.Sprintf("read _; fsfreeze --unfreeze %q", disk)) // even when the test dies
		wake, err := thaw.StdinPipe()
		if err == nil {
			err = thaw.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if output, err := exec.Command("fsfreeze", "--freeze", disk).CombinedOutput(); err != nil {
			t.Fatalf("a disk that can hang needs root and a loop device: %v: %s", err, output)
		}
		late := time.AfterFunc(hangAtMost, func() { _ = wake.Close() })
		return func() {
			late.Stop()
			_ = wake.Close()
			_ = thaw.Wait()
		}
	}
}

// While a disk hangs, full or not, only durable writes wait: DNS, health, agents and API reads continue, and an API
// change receives an error within a bounded time. When the disk continues, all functions recover.
//
// Fault 13.
func TestDiskHangs_AnswersGoOnAndChangesAreToldInTime(t *testing.T) {
	testbed.OnlyInFull(t) // until the disk resumes, every sync(2) on this machine waits for it
	t.Parallel()
	disk, hang := hangingDisk(t)
	s := testbed.NewSite(t, 1, 2)
	n := s.Nodes[0]
	n.File.DataDir = filepath.Join(disk, "data")
	s.StartAll(t)
	if _, err := n.Client.CreateDomain(t.Context(), newDomain(0)); err != nil {
		t.Fatal(err)
	}
	patient, err := api.NewClient(api.ClientOptions{Node: "http://" + n.API.String(), Timeout: hangAtMost / 2})
	if err != nil {
		t.Fatal(err)
	}
	goOn := hang()
	defer goOn()
	began := time.Now()
	written := make(chan error, 1)
	go func() {
		_, err := patient.CreateDomain(t.Context(), newDomain(1))
		written <- err
	}()
	killed, err := s.Backends[0].Kill()
	if err != nil {
		t.Fatal(err)
	}
	s.Gone(t, n, s.Backends[0].At.Addr(), killed, s.Timing.Detection())
	testbed.Start(t, s.Backends[0])
	s.Answered(t, n, s.Backends[0].At.Addr(), time.Now(), s.Timing.Recovery()+5*time.Second)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for what, read := range map[string]func() error{
		"domains":   func() error { _, err := n.Client.Domains(ctx); return err },
		"backends":  func() error { _, err := n.Client.Backends(ctx, api.BackendFilter{}); return err },
		"audit log": func() error { _, err := n.Client.AuditLog(ctx, nil); return err },
		"health":    func() error { _, err := n.Client.Health(ctx); return err },
	} {
		if err := read(); err != nil {
			t.Errorf("%s while the disk hangs: %v", what, err)
		}
	}
	err = <-written
	var told *api.Error
	if !errors.As(err, &told) || told.Status != http.StatusServiceUnavailable {
		t.Errorf("creating a domain while the disk hangs: %v, want 503", err)
	}
	t.Logf("told after %v: %v", time.Since(began), err)
	goOn()
	testbed.Until(t, 30*time.Second, "the change that waited is made", func(ctx context.Context) error {
		_, err := n.Client.Domain(ctx, newDomain(1).Text("name"))
		return err
	})
	testbed.Until(t, 30*time.Second, "a change goes through again", func(ctx context.Context) error {
		_, err := n.Client.CreateDomain(ctx, newDomain(2))
		return err
	})
	s.NoFailures(t, n, s.Began)

	// SIGTERM while the disk hangs: DNS continues until the timeout of the shutdown. The node then logs the unfinished
	// parts and exits.
	goOn = hang()
	defer goOn()
	go func() { _, _ = patient.CreateDomain(t.Context(), newDomain(3)) }()
	testbed.Pause(t.Context(), time.Second) // until something waits for the disk, which nothing shows
	testbed.Signal(t, n, syscall.SIGTERM)
	asked := time.Now()
	testbed.During(t, 5*time.Second, 100*time.Millisecond,
		func() { testbed.Exchange(t, "udp", n, testbed.AppName, dns.TypeA) })
	testbed.Until(t, 20*time.Second, "the node to give the disk up",
		func(context.Context) error { return testbed.Said(n.Unit, "takes too long") })
	t.Logf("it gave the disk up after %v", time.Since(asked))
	goOn()
	testbed.Ends(t, n, 10*time.Second)
}
