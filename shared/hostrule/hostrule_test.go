package hostrule_test

import (
	"testing"

	"gslb.internal/shared/hostrule"
)

func TestRule_AcceptsAddressesAndItsNamesOnly(t *testing.T) {
	rule := hostrule.New("Node-1", "gslb.Example.", "lb.example:8080")
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST:8080": true, "localhost.": true, "127.0.0.1": true, "127.0.0.1:80": true,
		"[::1]:80": true, "[::1]": true, "192.0.2.7": true,
		"node-1": true, "NODE-1.": true, "node-1:80": true, "gslb.example": true, "gslb.example.:80": true,
		"lb.example": true,
		"":           false, ":80": false, "evil.example": false, "evil.example:8080": false,
		"localhost.evil.example": false, "node-1.evil.example": false, "127.0.0.1.evil.example": false,
		"0x7f000001": false, "127.1": false,
	} {
		if got := rule.Allows(host); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}
