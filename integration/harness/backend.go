package harness

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
)

// Backend is a small HTTP server that represents an application.
type Backend struct {
	*Unit
	At netip.AddrPort
}

// AddBackends prepares one backend per address, all on the same port, like replicas of an application: DNS answers
// contain only addresses, so the addresses must differ. On Linux all of 127.0.0.0/8 is loopback. On other systems, each
// address must first be added to the loopback interface.
func (c *Cluster) AddBackends(addrs map[string]netip.Addr) (map[string]*Backend, error) {
	names := sortedKeys(addrs)
	all := make([]netip.Addr, len(names))
	for i, name := range names {
		all[i] = addrs[name]
	}
	held, err := Reserve(all, "tcp")
	if err != nil {
		return nil, fmt.Errorf("port of the backends: %w", err)
	}
	backends := map[string]*Backend{}
	for i, name := range names {
		b := c.AddBackendAt(name, held.On(all[i]))
		// Each has a separate socket of the reservation, so that the start of a backend does not release the port of the
		// others.
		b.ports = []*Reservation{{port: held.port, held: held.held[i : i+1]}}
		backends[name] = b
	}
	return backends, nil
}

// AddBackendAt prepares a backend at a unique address and port.
func (c *Cluster) AddBackendAt(name string, at netip.AddrPort) *Backend {
	return &Backend{Unit: c.newUnit(name, []string{c.binaries.Backend, "-name", name, "-listen", at.String()}), At: at}
}

// Serving waits until the backend answers requests. It returns an error when ctx ends or the program has ended.
func (b *Backend) Serving(ctx context.Context) error {
	return Until(ctx, b.Name+" to serve", func(ctx context.Context) error {
		if err := b.alive(); err != nil {
			return err
		}
		return b.ask(ctx)
	})
}

// ask sends a health request. It returns an error unless the status is 200.
func (b *Backend) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askBound)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.At.String()+"/health", nil)
	if err != nil {
		return fmt.Errorf("asking %s: %w", b.Name, err)
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("asking %s: %w", b.Name, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", b.Name, resp.Status)
	}
	return nil
}
