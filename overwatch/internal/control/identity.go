package control

import (
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/identity"
)

// Files of the node's own identity in the data directory.
const (
	CertificateFile = "overwatch.crt"
	KeyFile         = "overwatch.key"
)

// OpenIdentity loads the node's identity from the data directory. The first start makes it.
func OpenIdentity(cfg *config.Config, logger zerolog.Logger) (*identity.Identity, error) {
	own, created, err := identity.LoadOrCreate(filepath.Join(cfg.DataDir, CertificateFile),
		filepath.Join(cfg.DataDir, KeyFile), cfg.Overwatch.Identity.NodeID, time.Now())
	if err == nil && created {
		logger.Info().Str("fingerprint", own.KeyID.Fingerprint()).Msg(
			"made this node's identity; agents pin it when they first see it")
	}
	return own, err
}

// identityWaits returns the node's certificate file if the next start would not find the identity there that is in
// force and that agents have pinned; else nil.
func (p *Plane) identityWaits() (restart []string) {
	dir := p.Config().DataDir
	certificate := filepath.Join(dir, CertificateFile)
	next, err := identity.Load(certificate, filepath.Join(dir, KeyFile))
	switch {
	case err != nil:
		p.log.Warn().Err(err).Msg("the files of this node's identity cannot be used: this process goes on with the " +
			"identity it has, the next start will not")
	case next.KeyID != p.o.Identity.KeyID:
		p.log.Warn().Str("fingerprint", next.KeyID.Fingerprint()).Msg("the files of this node's identity have another " +
			"one, from the next start on: agents that have pinned the one in force refuse it")
	default:
		return nil
	}
	return []string{certificate}
}
