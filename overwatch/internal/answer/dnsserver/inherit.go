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
	firstInherited = 3    // number of the first socket from systemd (sd_listen_fds(3))
	maxInherited   = 1024 // value of FileDescriptorStoreMax= in the units
)

// Inherited returns the sockets that systemd, or a compatible service manager, opened for this process
// (sd_listen_fds(3)). These sockets outlive the process, so that queries wait in them during a restart. It returns nil
// if there are none. It unsets LISTEN_FDS, so that a second call returns nil: the first caller owns the sockets.
func Inherited() ([]*os.File, error) {
	if os.Getenv("LISTEN_PID") != strconv.Itoa(os.Getpid()) {
		return nil, nil
	}
	passed, ok := os.LookupEnv("LISTEN_FDS")
	if !ok {
		return nil, nil
	}
	count, err := strconv.Atoi(passed)
	if err != nil || count < 0 || count > maxInherited {
		return nil,
			fmt.Errorf("LISTEN_FDS=%q: want the number of passed sockets; start the service with its socket unit",
				passed)
	}
	if err := os.Unsetenv("LISTEN_FDS"); err != nil {
		return nil, fmt.Errorf("unset LISTEN_FDS: %w", err)
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

// StoreName is the name of sockets in the file descriptor store of the service manager.
const StoreName = "gslb-dns"

// StoreSockets adds the sockets to the file descriptor store of the service manager, which passes them to the next
// process. It replaces the stored sockets.
func StoreSockets(sockets []syscall.Conn) error {
	err := service.Release(StoreName)
	if len(sockets) > maxInherited {
		return errors.Join(err, fmt.Errorf("%d sockets: at most %d can be stored", len(sockets), maxInherited))
	}
	return errors.Join(err, service.Keep(StoreName, sockets))
}

// socketSet holds the sockets of one address.
type socketSet struct {
	tcp       net.Listener
	udp       []*net.UDPConn
	fromStore bool // the previous process opened them; false for sockets of a socket unit
}

// groupInherited returns the sockets of the files by address. It duplicates the sockets and closes the files.
func groupInherited(files []*os.File) (map[netip.AddrPort]*socketSet, error) {
	all := map[netip.AddrPort]*socketSet{}
	at := func(f *os.File, address netip.AddrPort) *socketSet {
		address = netip.AddrPortFrom(address.Addr().Unmap(), address.Port())
		if all[address] == nil {
			all[address] = &socketSet{fromStore: f.Name() == StoreName}
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
			closeSocketSets(all)
			return nil, err
		}
		_ = f.Close()
	}
	return all, nil
}

// inheritUDP returns the UDP socket of f, with the socket options of the server.
func inheritUDP(f *os.File) (*net.UDPConn, error) {
	conn, err := net.FilePacketConn(f)
	if err != nil {
		return nil, fmt.Errorf("socket %s: neither a TCP listener nor a UDP socket: %w", f.Name(), err)
	}
	udp, ok := conn.(*net.UDPConn)
	if !ok {
		_ = conn.Close()
		return nil, fmt.Errorf("socket %s: neither a TCP listener nor a UDP socket but %s", f.Name(),
			conn.LocalAddr().Network())
	}
	if control := socketOptions(udp.LocalAddr().(*net.UDPAddr).AddrPort(), true); control != nil {
		raw, err := udp.SyscallConn()
		if err == nil {
			err = control("", "", raw)
		}
		if err != nil {
			_ = udp.Close()
			return nil, fmt.Errorf("set options of socket %s: %w", f.Name(), err)
		}
	}
	return udp, nil
}

// duplicateSockets adds duplicates of sockets until each reader has one.
func duplicateSockets(sockets []*net.UDPConn, readers int) ([]*net.UDPConn, error) {
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

func closeSocketSets(all map[netip.AddrPort]*socketSet) {
	for _, p := range all {
		closeAll(p.tcp, p.udp)
	}
}
