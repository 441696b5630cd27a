package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"

	"gslb.internal/agent/internal/config"
	"gslb.internal/shared/wire"
)

// suffixDigits is how many hexadecimal digits tell the data directories of one host apart.
const suffixDigits = 8

// defaultAgentID is the name of an agent that was given none: region and host name, and, where the data directory is not
// the default one, a short hash of its path, so that two agents on one host differ. It consists of what an agent id may
// have; everything else becomes a hyphen.
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
