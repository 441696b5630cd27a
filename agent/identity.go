package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/agent/internal/config"
	"gslb.internal/shared/identity"
)

// loadIdentity returns the agent's certificate and key. The first start creates them. Without
// agent_id the agent keeps the name in its certificate, so a host may be renamed.
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
