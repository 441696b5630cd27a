package doctor

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/settings"
)

// tryListeners opens and closes each listener. It returns the problems of the listeners that cannot be opened.
func tryListeners(path string, cfg *config.Config) (found settings.Problems) {
	for _, l := range cfg.Listeners() {
		for _, network := range l.Protocols {
			if err := tryListener(l.Network(network, l.Address), l.Address); err != nil {
				found = append(found, settings.Problem{File: path, Key: l.Key, Value: l.Address,
					Message: cannotListen(network, l.Address, err)})
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

// WithoutRoom adds the remedy to the error of a full disk. It returns other errors unchanged.
func WithoutRoom(dir string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: the disk of data_dir %s is full: free some room there, or give another data_dir", err, dir)
	}
	return err
}

// Remedied adds the reason and the remedy to the error of a failed listener. It returns other errors unchanged.
func Remedied(key, address string, err error) error {
	if failed, ok := errors.AsType[*net.OpError](err); ok && failed.Op == "listen" {
		return fmt.Errorf("%s: %s: %s (%w)", key, address, cannotListen("tcp", address, err), failed.Err)
	}
	return err
}

// cannotListen returns the reason and the remedy as a sentence.
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
		return "this machine does not have the address: configure an address of `ip address`"
	}
	return err.Error()
}
