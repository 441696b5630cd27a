package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"

	"gslb.internal/agent/internal/config"
	"gslb.internal/shared/wire"
)

// suffixDigits is the number of hexadecimal digits of the hash that distinguishes data directories
// of one host.
const suffixDigits = 8

// defaultAgentID returns the name of an agent without agent_id: region and host name. A data
// directory other than the default adds a short hash of its path, so that two agents on one host
// differ. Characters that an agent id may not have become hyphens.
func defaultAgentID(region, host, dataDir string) string {
	base := strings.Trim(region+"-"+host, "-")
	suffix := ""
	if filepath.Clean(dataDir) != filepath.Clean(config.DefaultDataDir) {
		sum := sha256.Sum256([]byte(filepath.Clean(dataDir)))
		suffix = "-" + hex.EncodeToString(sum[:])[:suffixDigits]
	}
	base = strings.Map(idRune, base)
	base = strings.TrimLeft(base, "-._")
	if base == "" || base == "expiring" { // the one word that is no id: the API has a path of that name
		base = "agent"
	}
	return base[:min(len(base), wire.MaxID-len(suffix))] + suffix
}

func idRune(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_', r == '.':
		return r
	default:
		return '-'
	}
}
