package dnsserver

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
)

// firstInherited is the number of the first socket that systemd passes (sd_listen_fds(3)).
const firstInherited = 3

// Inherited is the sockets that systemd, or whoever follows its protocol, has opened for this process: they outlive it, so that queries
// wait in them while it is restarted. It is nil where there are none. It must be called once, since a file is closed
// by its finalizer.
func Inherited() ([]*os.File, error) {
	if os.Getenv("LISTEN_PID") != strconv.Itoa(os.Getpid()) {
		return nil, nil
	}
	count, err := strconv.Atoi(os.Getenv("LISTEN_FDS"))
	if err != nil || count < 0 || count > 1024 {
		return nil, fmt.Errorf("LISTEN_FDS=%q: want the number of sockets that are passed; start the service through its socket unit", os.Getenv("LISTEN_FDS"))
	}
	var files []*os.File
	for i := range count {
		files = append(files, os.NewFile(uintptr(firstInherited+i), "socket passed as "+strconv.Itoa(firstInherited+i)))
	}
	return files, nil
}

// passed is the sockets of one address that were opened by somebody else.
type passed struct {
	tcp net.Listener
	udp []*net.UDPConn
}

// sortPassed takes the files for what they are, by address. It closes them, as what it returns are copies.
func sortPassed(files []*os.File, readers int) (map[netip.AddrPort]*passed, error) {
	all := map[netip.AddrPort]*passed{}
	at := func(address netip.AddrPort) *passed {
		address = netip.AddrPortFrom(address.Addr().Unmap(), address.Port())
		if all[address] == nil {
			all[address] = &passed{}
		}
		return all[address]
	}
	for _, f := range files {
		if l, err := net.FileListener(f); err == nil {
			if address, ok := l.Addr().(*net.TCPAddr); ok {
				at(address.AddrPort()).tcp = l
			} else {
				_ = l.Close()
			}
		} else if err := inheritUDP(f, readers, at); err != nil {
			closePassed(all)
			return nil, err
		}
		_ = f.Close()
	}
	return all, nil
}

// inheritUDP makes as many readers of a UDP socket as there are cores, since one socket is all that there is.
func inheritUDP(f *os.File, readers int, at func(netip.AddrPort) *passed) error {
	for range readers {
		conn, err := net.FilePacketConn(f)
		if err != nil {
			return fmt.Errorf("%s is neither a TCP listener nor a UDP socket: %w", f.Name(), err)
		}
		udp, ok := conn.(*net.UDPConn)
		if !ok {
			_ = conn.Close()
			return fmt.Errorf("%s is neither a TCP listener nor a UDP socket but %s", f.Name(), conn.LocalAddr().Network())
		}
		address := udp.LocalAddr().(*net.UDPAddr).AddrPort()
		at(address).udp = append(at(address).udp, udp)
		if control := socketOptions(address); control != nil {
			raw, err := udp.SyscallConn()
			if err == nil {
				err = control("", "", raw)
			}
			if err != nil {
				return fmt.Errorf("preparing %s: %w", f.Name(), err)
			}
		}
	}
	return nil
}

func closePassed(all map[netip.AddrPort]*passed) {
	for _, p := range all {
		closeAll(p.tcp, p.udp)
	}
}
