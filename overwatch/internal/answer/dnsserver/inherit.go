package dnsserver

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"

	"gslb.internal/shared/service"
)

const (
	firstInherited = 3    // the number of the first socket that systemd passes (sd_listen_fds(3))
	mostInherited  = 1024 // as FileDescriptorStoreMax= of the units
)

// Inherited returns the sockets that systemd, or another service manager with its protocol, has opened for this process
// (sd_listen_fds(3)). They outlive the process, so that queries wait in them during a restart. Without any it returns
// nil. It unsets LISTEN_FDS, so that a second call returns nil: the first caller owns the sockets.
func Inherited() ([]*os.File, error) {
	if os.Getenv("LISTEN_PID") != strconv.Itoa(os.Getpid()) {
		return nil, nil
	}
	passed, ok := os.LookupEnv("LISTEN_FDS")
	if !ok {
		return nil, nil
	}
	count, err := strconv.Atoi(passed)
	if err != nil || count < 0 || count > mostInherited {
		return nil,
			fmt.Errorf("LISTEN_FDS=%q: want the number of sockets that are passed; start the service through its socket unit",
				passed)
	}
	if err := os.Unsetenv("LISTEN_FDS"); err != nil {
		return nil, fmt.Errorf("unsetting LISTEN_FDS: %w", err)
	}
	names := strings.Split(os.Getenv("LISTEN_FDNAMES"), ":")
	var files []*os.File
	for i := range count {
		name := strconv.Itoa(firstInherited + i)
		if len(names) == count && names[i] != "" {
			name = names[i]
		}
		files = append(files, os.NewFile(uintptr(firstInherited+i), name))
	}
	return files, nil
}

// KeptName is the name of the sockets that the service manager keeps for the next process of this service.
const KeptName = "gslb-dns"

// KeepSockets gives the sockets to the service manager, which passes them to the next process in place of all that were
// given before.
func KeepSockets(sockets []syscall.Conn) error {
	err := service.Release(KeptName)
	if len(sockets) > mostInherited {
		return errors.Join(err, fmt.Errorf("%d sockets: at most %d can be kept", len(sockets), mostInherited))
	}
	return errors.Join(err, service.Keep(KeptName, sockets))
}

// passed holds the sockets of one address that another process has opened.
type passed struct {
	tcp  net.Listener
	udp  []*net.UDPConn
	kept bool // they are those of the process before, rather than of a socket unit
}

// sortPassed returns the sockets in the files by address. They are copies, and the files are closed.
func sortPassed(files []*os.File) (map[netip.AddrPort]*passed, error) {
	all := map[netip.AddrPort]*passed{}
	at := func(f *os.File, address netip.AddrPort) *passed {
		address = netip.AddrPortFrom(address.Addr().Unmap(), address.Port())
		if all[address] == nil {
			all[address] = &passed{kept: f.Name() == KeptName}
		}
		return all[address]
	}
	for _, f := range files {
		if l, err := net.FileListener(f); err == nil {
			if address, ok := l.Addr().(*net.TCPAddr); ok {
				at(f, address.AddrPort()).tcp = l
			} else {
				_ = l.Close()
			}
		} else if udp, err := inheritUDP(f); err == nil {
			p := at(f, udp.LocalAddr().(*net.UDPAddr).AddrPort())
			p.udp = append(p.udp, udp)
		} else {
			closePassed(all)
			return nil, err
		}
		_ = f.Close()
	}
	return all, nil
}

// inheritUDP returns the UDP socket in f, with the options of our own sockets.
func inheritUDP(f *os.File) (*net.UDPConn, error) {
	conn, err := net.FilePacketConn(f)
	if err != nil {
		return nil, fmt.Errorf("the socket passed as %s is neither a TCP listener nor a UDP socket: %w", f.Name(), err)
	}
	udp, ok := conn.(*net.UDPConn)
	if !ok {
		_ = conn.Close()
		return nil, fmt.Errorf("the socket passed as %s is neither a TCP listener nor a UDP socket but %s", f.Name(),
			conn.LocalAddr().Network())
	}
	if control := socketOptions(udp.LocalAddr().(*net.UDPAddr).AddrPort(), true); control != nil {
		raw, err := udp.SyscallConn()
		if err == nil {
			err = control("", "", raw)
		}
		if err != nil {
			_ = udp.Close()
			return nil, fmt.Errorf("preparing the socket passed as %s: %w", f.Name(), err)
		}
	}
	return udp, nil
}

// share adds duplicates of sockets until there are as many as readers.
func share(sockets []*net.UDPConn, readers int) ([]*net.UDPConn, error) {
	for i := 0; len(sockets) < readers; i++ {
		f, err := sockets[i].File()
		if err != nil {
			return sockets, err
		}
		conn, err := net.FilePacketConn(f)
		_ = f.Close()
		if err != nil {
			return sockets, err
		}
		sockets = append(sockets, conn.(*net.UDPConn))
	}
	return sockets, nil
}

func closePassed(all map[netip.AddrPort]*passed) {
	for _, p := range all {
		closeAll(p.tcp, p.udp)
	}
}
