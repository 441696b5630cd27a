package control

import (
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/identity"
)

// Files of the identity of the node in the data directory.
const (
	CertificateFile = "overwatch.crt"
	KeyFile         = "overwatch.key"
)

// OpenIdentity loads the identity of the node from the data directory. At the first start, it creates the identity.
func OpenIdentity(cfg *config.Config, logger zerolog.Logger) (*identity.Identity, error) {
	own, created, err := identity.LoadOrCreate(filepath.Join(cfg.DataDir, CertificateFile),
		filepath.Join(cfg.DataDir, KeyFile), cfg.Overwatch.Identity.NodeID, time.Now())
	if err == nil && created {
		logger.Info().Str("fingerprint", own.KeyID.Fingerprint()).Msg(
			"created the identity of this node: agents pin it at the first contact")
	}
	return own, err
}

// identityWaits returns the certificate file of the node if it differs from the identity in use, which agents have
// pinned. Otherwise it returns nil.
func (p *Plane) identityWaits() (restart []string) {
	dir := p.Config().DataDir
	certificate := filepath.Join(dir, CertificateFile)
	next, err := identity.Load(certificate, filepath.Join(dir, KeyFile))
	switch {
	case err != nil:
		p.log.Warn().Err(err).Msg("the files of the identity of this node cannot be used: this process uses its " +
			"present identity, and the next start will fail")
	case next.KeyID != p.o.Identity.KeyID:
		p.log.Warn().Str("fingerprint", next.KeyID.Fingerprint()).Msg("the files of the identity of this node have " +
			"changed: agents that have pinned the present identity will refuse the node after the next start")
	default:
		return nil
	}
	return []string{certificate}
}
