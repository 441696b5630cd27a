package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/agent/internal/config"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// loadIdentity returns the agent's certificate and key. The first start creates them. Without agent_id, the name in the
// certificate is the agent id, so that the agent id is independent of the host name.
func loadIdentity(cfg *config.Config, logger zerolog.Logger) (*identity.Identity, error) {
	certificate, key := filepath.Join(cfg.DataDir, certificateFile), filepath.Join(cfg.DataDir, keyFile)
	name := cfg.Agent.Identity.AgentID
	if name == "" {
		host, err := os.Hostname()
		if err != nil {
			return nil,
				fmt.Errorf("the agent's name would contain the host's, which is not known (%w): set agent.identity.agent_id", err)
		}
		dataDir, err := filepath.Abs(cfg.DataDir)
		if err != nil {
			return nil, fmt.Errorf("data_dir %s: %w", cfg.DataDir, err)
		}
		name = defaultAgentID(cfg.Agent.Identity.Region, host, dataDir)
	}
	id, created, err := identity.LoadOrCreate(certificate, key, name, time.Now())
	if err != nil {
		return nil, err
	}
	if wanted := cfg.Agent.Identity.AgentID; wanted != "" && wanted != id.CommonName {
		return nil,
			fmt.Errorf("agent.identity.agent_id is %s, but %s was made for %s: set agent_id back, or delete %s and %s "+
				"(and the old agent's pin on every overwatch node)", wanted, certificate, id.CommonName, certificate, key)
	}
	if created {
		logger.Info().Str("agent_id", id.CommonName).Str("fingerprint",
			id.KeyID.Fingerprint()).Msg("made a certificate and key for this agent")
	}
	return id, nil
}

// suffixDigits is the number of hexadecimal digits of the hash that distinguishes the data directories of a host.
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
	if base == "" || base == "expiring" { // not a valid id, because the API has a path with this name
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

// Warnings about the certificate begin expiryWarning before its end and repeat every expiryEvery.
const (
	expiryWarning = 60 * 24 * time.Hour
	expiryEvery   = 24 * time.Hour
)

// watchExpiry warns each day before the agent's certificate expires, until ctx ends.
func watchExpiry(ctx context.Context, ends time.Time, logger zerolog.Logger) error {
	ticker := time.NewTicker(expiryEvery)
	defer ticker.Stop()
	for {
		tellExpiry(ends.Round(0), time.Now().Round(0), logger) // validity uses wall clocks
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func tellExpiry(ends, now time.Time, logger zerolog.Logger) {
	const remedy = "stop the agent, run gslb-agent --reset-identity, delete the agent's pin on every overwatch node, " +
		"start it again"
	switch left := ends.Sub(now); {
	case left <= 0:
		logger.Error().Time("not_after", ends).Msg("the agent's certificate has expired, overwatch nodes refuse it: " +
			remedy)
	case left < expiryWarning:
		logger.Warn().Time("not_after", ends).Int("days", int(left.Hours()/24)).
			Msg("the agent's certificate expires soon, then overwatch nodes refuse it: " + remedy)
	}
}
