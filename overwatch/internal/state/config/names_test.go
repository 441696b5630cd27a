package config_test

import (
	"testing"

	"gslb.internal/overwatch/internal/state/config"
)

// A domain's TTL lies within the bounds, and that of negative answers follows the default unless it is set.
func TestDNS_TTLs(t *testing.T) {
	for _, c := range []struct {
		name                string
		dns                 config.DNS
		own, want, negative int
	}{
		{"the domain's", config.DNS{DefaultTTL: 30}, 10, 10, 30},
		{"the default", config.DNS{DefaultTTL: 30}, 0, 30, 30},
		{"a long default", config.DNS{DefaultTTL: 3000}, 0, 3000, 300},
		{"at least", config.DNS{DefaultTTL: 30, MinTTL: 60}, 10, 60, 60},
		{"at most", config.DNS{DefaultTTL: 30, MaxTTL: 20}, 3600, 20, 20},
		{"within", config.DNS{DefaultTTL: 30, MinTTL: 5, MaxTTL: 60}, 40, 40, 30},
		{"a negative one of its own", config.DNS{DefaultTTL: 30, MinTTL: 60, NegativeTTL: new(5)}, 0, 60, 5},
		{"none for negative ones", config.DNS{DefaultTTL: 30, NegativeTTL: new(0)}, 0, 30, 0},
	} {
		if ttl, negative := c.dns.TTL(c.own), c.dns.Negative(); ttl != c.want || negative != c.negative {
			t.Errorf("%s: %d and %d, want %d and %d", c.name, ttl, negative, c.want, c.negative)
		}
	}
}
