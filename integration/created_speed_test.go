package integration_test

import (
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/shared/api"
)

const (
	// creators is how many clients create at the same time.
	creators = 64
	// creations is how many servers, and a fifth of it how many domains, they create together.
	creations = 2500
	// slowCreations is what a machine that others use as well must still reach, per second; the promise is 500.
	slowCreations = 100
)

// Many clients at once create servers and domains, each with its entry in the audit log, on disk and in the answers when the
// call returns.
func TestCreated_ManyClientsAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	s := newSite(t, 1, 1)
	n := s.nodes[0]
	n.File.Overwatch.Validation.CheckInterval = time.Hour // thousands of checks are another matter
	s.startAll(t)
	speed := func(what string, count int, create func(i int) error) {
		var next atomic.Int64
		var all sync.WaitGroup
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
		rate := float64(count) / time.Since(began).Seconds()
		t.Logf("%d %s by %d clients: %.0f a second", count, what, creators, rate)
		if rate < slowCreations {
			t.Errorf("%s: %.0f a second", what, rate)
		}
	}
	speed("domains", creations/5, func(i int) error {
		name := fmt.Sprintf("d%d.test.gslb.test", i)
		if _, err := n.Client.CreateDomain(t.Context(), api.DomainChange{Name: name}); err != nil {
			return err
		}
		if i%50 == 0 && exchange(t, "udp", n, name, dns.TypeA).Rcode == dns.RcodeNameError {
			return fmt.Errorf("%s is not answered when the call returns", name)
		}
		return nil
	})
	speed("servers", creations, func(i int) error {
		address := netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)})
		service := fmt.Sprintf("d%d.test.gslb.test", 1+i%(creations/5))
		_, err := n.Client.CreateServer(t.Context(), api.ServerCreate{Service: service, Address: address.String(), Port: 80, Region: "eu"})
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
