package doctor

import (
	"errors"
	"os"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/cluster/keysync"
	"gslb.internal/overwatch/internal/cluster/peerauth"
	"gslb.internal/overwatch/internal/control"
	"gslb.internal/overwatch/internal/leaf/httpserve"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/settings"
)

// Validate returns all problems that would prevent a node from starting with this configuration, as settings.Problems;
// nil if there are no problems. It changes nothing. Listeners of a running node with the same data directory are
// treated as free.
func Validate(path string) error {
	cfg, err := control.Load(path)
	if err != nil {
		return err
	}
	var found settings.Problems
	if info, err := os.Stat(cfg.DataDir); err == nil && !info.IsDir() {
		found = append(found, settings.Problem{File: path, Key: "data_dir", Value: cfg.DataDir,
			Message: "is a file: name a directory"})
	}
	if err := store.CheckSchema(cfg.DataDir); err != nil {
		found = append(found, settings.Problem{File: path, Key: "data_dir", Value: cfg.DataDir, Message: err.Error()})
	}
	if t := cfg.API.TLS; cfg.API.Enabled && t.Certificate != "" {
		if _, err := httpserve.LoadCertificates(httpserve.TLSFiles{Certificate: t.Certificate, Key: t.Key,
			ClientCA: t.ClientCA}, func(error) {}); err != nil {
			found = append(found, settings.Problem{File: path, Key: "api.tls", Value: t.Certificate, Message: err.Error()})
		}
	}
	if cfg.Overwatch.DNSSEC.Enabled {
		if _, err := peerauth.TLSFilesOf(cfg).Config(); err != nil {
			found = append(found, settings.Problem{File: path, Key: "overwatch.dnssec.key_sync", Message: err.Error()})
		}
	}
	found = append(found, checkKeyFiles(path, cfg)...)
	if err := databaseFault(cfg); errors.Is(err, geo.ErrNoLocations) {
		found = append(found, settings.Problem{File: path, Key: databaseKey,
			Value: cfg.Overwatch.Geolocation.DatabasePath, Message: err.Error()})
	}
	if !store.InUse(cfg.DataDir) {
		found = append(found, tryListeners(path, cfg)...)
	}
	if len(found) > 0 {
		return found
	}
	return nil
}

// Cautions returns the configuration warnings that a start logs and the doctor reports, one sentence each. It returns
// nil if the file is unreadable.
func Cautions(path string) []string {
	cfg, err := control.Load(path)
	if err != nil {
		return nil
	}
	cautions := cfg.Warnings()
	if off := keysNotExchanged(cfg); off != nil {
		cautions = append(cautions, "signing keys are not exchanged with the other nodes: "+off.Error())
	}
	if err := databaseFault(cfg); err != nil && !errors.Is(err, geo.ErrNoLocations) {
		cautions = append(cautions, databaseKey+": the file cannot be used, until another takes its place: "+err.Error())
	}
	return cautions
}

// databaseKey is the key of the geolocation database.
const databaseKey = "overwatch.geolocation.database_path"

// databaseFault returns the reason why the geolocation database of a configuration is unusable; nil if it is usable or
// not configured.
func databaseFault(cfg *config.Config) error {
	path := cfg.Overwatch.Geolocation.DatabasePath
	if path == "" {
		return nil
	}
	_, err := geo.ReadDatabase(path)
	return err
}

// keysNotExchanged returns the reason why a node with this configuration does not exchange keys with its peers, from
// the agents that its data directory knows; nil if it does, or has no peers.
func keysNotExchanged(cfg *config.Config) error {
	if !cfg.Overwatch.DNSSEC.Enabled || len(cfg.Overwatch.DNSSEC.KeySync.Peers) == 0 {
		return nil
	}
	return keysync.SecretOf(cfg).Usable(keysync.OpenHolders(keysync.HoldersFile(cfg.DataDir)))
}

// checkKeyFiles finds signing key files that a start or a reload would reject.
func checkKeyFiles(path string, cfg *config.Config) (found settings.Problems) {
	if !cfg.Overwatch.DNSSEC.Enabled {
		return nil
	}
	refused, damage := dnssec.Inspect(dnssec.Directory(cfg.DataDir))
	askable := len(cfg.Overwatch.DNSSEC.KeySync.Peers) > 0 && keysNotExchanged(cfg) == nil
	if refused == nil && !askable { // otherwise a peer may have a copy
		refused = damage
	}
	if refused == nil {
		return nil
	}
	return settings.Problems{{File: path, Key: "data_dir", Value: cfg.DataDir, Message: refused.Error()}}
}
