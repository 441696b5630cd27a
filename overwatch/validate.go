package overwatch

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/keysync"
	"gslb.internal/overwatch/internal/control"
	"gslb.internal/overwatch/internal/leaf/httpserve"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/settings"
)

// Validate returns everything that would keep a node with this configuration from starting, as settings.Problems; nil
// if nothing would. It changes nothing, and a node that runs with the same data directory does not disturb it: its own
// listeners are not held against it.
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
		if _, err := keysync.SettingsOf(cfg).TLS.Config(); err != nil {
			found = append(found, settings.Problem{File: path, Key: "overwatch.dnssec.key_sync", Message: err.Error()})
		}
	}
	found = append(found, checkKeyFiles(path, cfg)...)
	if !store.InUse(cfg.DataDir) {
		found = append(found, tryListeners(path, cfg)...)
	}
	if len(found) > 0 {
		return found
	}
	return nil
}

// Cautions returns what works in a configuration but deserves a word, one sentence each: what the start logs and the
// doctor tells. It is nil for one that cannot be read.
func Cautions(path string) []string {
	cfg, err := control.Load(path)
	if err != nil {
		return nil
	}
	cautions := cfg.Warnings()
	if off := keysNotExchanged(cfg); off != nil {
		cautions = append(cautions, "signing keys are not exchanged with the other nodes: "+off.Error())
	}
	return cautions
}

// keysNotExchanged says why a node with this configuration does not exchange keys with its peers, by what its data
// directory remembers of agents; nil if it does, or has none.
func keysNotExchanged(cfg *config.Config) error {
	if !cfg.Overwatch.DNSSEC.Enabled || len(cfg.Overwatch.DNSSEC.KeySync.Peers) == 0 {
		return nil
	}
	return keysync.SecretOf(cfg).Usable(keysync.OpenHolders(filepath.Join(cfg.DataDir, holdersFile)))
}

// checkKeyFiles finds files of signing keys that a start, or a reload, would refuse.
func checkKeyFiles(path string, cfg *config.Config) (found settings.Problems) {
	if !cfg.Overwatch.DNSSEC.Enabled {
		return nil
	}
	refused, damage := dnssec.Inspect(dnssec.Directory(cfg.DataDir))
	askable := len(cfg.Overwatch.DNSSEC.KeySync.Peers) > 0 && keysNotExchanged(cfg) == nil
	if refused == nil && !askable { // else one of them may have a copy
		refused = damage
	}
	if refused == nil {
		return nil
	}
	return settings.Problems{{File: path, Key: "data_dir", Value: cfg.DataDir, Message: refused.Error()}}
}

// listener is an address that the configuration has the node listen on.
type listener struct {
	key, address string
	networks     []string
	network      func(protocol, address string) string
}

func listeners(cfg *config.Config) []listener {
	both, stream := []string{"tcp", "udp"}, []string{"tcp"}
	list := []listener{{"overwatch.gossip.bind_address", cfg.Overwatch.Gossip.BindAddress, both, settings.ListenNetwork}}
	for _, address := range cfg.DNS.ListenAddress {
		list = append(list, listener{"dns.listen_address", address, both, settings.FamilyNetwork})
	}
	if cfg.API.Enabled {
		list = append(list, listener{"api.address", cfg.API.Address, stream, settings.ListenNetwork})
	}
	if cfg.Metrics.Enabled {
		list = append(list, listener{"metrics.address", cfg.Metrics.Address, stream, settings.ListenNetwork})
	}
	return list
}

// tryListeners opens and closes each listener.
func tryListeners(path string, cfg *config.Config) (found settings.Problems) {
	for _, l := range listeners(cfg) {
		for _, network := range l.networks {
			if err := tryListener(l.network(network, l.address), l.address); err != nil {
				found = append(found, settings.Problem{File: path, Key: l.key, Value: l.address,
					Message: cannotListen(network, l.address, err)})
				break
			}
		}
	}
	return found
}

func tryListener(network, address string) error {
	if strings.HasPrefix(network, "tcp") {
		l, err := net.Listen(network, address)
		if err != nil {
			return err
		}
		return l.Close()
	}
	c, err := net.ListenPacket(network, address)
	if err != nil {
		return err
	}
	return c.Close()
}

// withoutRoom says of a disk that is full what to do; other errors stay as they are.
func withoutRoom(dir string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: the disk of data_dir %s is full: free some room there, or give another data_dir", err, dir)
	}
	return err
}

// remedied says of a listener that could not be opened why, and what to do; other errors stay as they are.
func remedied(key, address string, err error) error {
	if failed, ok := errors.AsType[*net.OpError](err); ok && failed.Op == "listen" {
		return fmt.Errorf("%s: %s: %s (%w)", key, address, cannotListen("tcp", address, err), failed.Err)
	}
	return err
}

// cannotListen says why, and what to do.
func cannotListen(network, address string, err error) string {
	port := address[strings.LastIndexByte(address, ':')+1:]
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Sprintf(
			"another process has %s port %s: `ss -lnp --%s 'sport = :%s'` shows which; stop it or give another port", network,
			port, network, port)
	case errors.Is(err, syscall.EACCES):
		return fmt.Sprintf(
			"this user may not listen on port %s: give the program CAP_NET_BIND_SERVICE, start it as root, or give a port "+
				"above 1023", port)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "this machine does not have the address: give one that `ip address` shows"
	}
	return err.Error()
}
