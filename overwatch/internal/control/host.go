package control

import (
	"context"
	"net/netip"
	"sync/atomic"
	"time"

	"gslb.internal/overwatch/internal/answer/publish"
)

// hostPace is the interval at which the node reads the addresses of its interfaces, which change with leases and
// failovers.
const hostPace = time.Minute

// OwnAddresses stores the latest addresses of this machine's interfaces.
type OwnAddresses struct{ list atomic.Pointer[[]netip.Addr] }

// Read reads the addresses. After an error, the previous addresses stay.
func (o *OwnAddresses) Read() error {
	found, err := publish.InterfaceAddresses()
	if err == nil {
		o.list.Store(&found)
	}
	return err
}

// All returns the addresses. The caller must not change the slice.
func (o *OwnAddresses) All() []netip.Addr {
	if list := o.list.Load(); list != nil {
		return *list
	}
	return nil
}

// Watch reads the addresses every minute until ctx ends. It returns nil.
func (o *OwnAddresses) Watch(ctx context.Context) error {
	ticker := time.NewTicker(hostPace)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			_ = o.Read() // after an error, the previous addresses stay
		}
	}
}
