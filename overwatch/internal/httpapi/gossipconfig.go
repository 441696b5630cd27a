package httpapi

import (
	"fmt"
	"net/netip"

	"github.com/gin-gonic/gin"

	"gslb.internal/shared/api"
)

// getGossipConfig answers GET /gossip/config. A node gossips always, and
// never unencrypted.
func (s *Server) getGossipConfig(*gin.Context) (answer, error) {
	cfg, _ := s.o.Config()
	g := cfg.Overwatch.Gossip
	bind, err := netip.ParseAddrPort(g.BindAddress)
	if err != nil {
		return answer{}, fmt.Errorf("overwatch.gossip.bind_address: %w", err)
	}
	return ok(api.GossipSettings{Config: api.GossipConfig{
		Enabled: true, BindAddress: bind.Addr().String(), BindPort: int(bind.Port()), EncryptionEnabled: true,
		GossipIntervalMS: int(g.GossipInterval.Milliseconds()), ProbeIntervalMS: int(g.ProbeInterval.Milliseconds()),
		ProbeTimeoutMS: int(g.ProbeTimeout.Milliseconds()), Seeds: append([]string{}, g.Seeds...),
	}}), nil
}
