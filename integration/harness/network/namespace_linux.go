package network

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrMissing is wrapped by errors that describe a missing requirement for networks on this machine, with the remedy.
var ErrMissing = errors.New("no networks can be made here")

// namespace is an open network namespace.
type namespace struct {
	file *os.File
}

// newNamespace creates a network namespace with a loopback interface. Its addresses are usable immediately, without
// duplicate address detection, because they are unique.
func newNamespace() (*namespace, error) {
	n := &namespace{}
	made := make(chan error)
	go func() {
		runtime.LockOSThread() // permanently: the thread ends with the goroutine
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			n.file, err = os.Open("/proc/thread-self/ns/net")
		}
		made <- err
	}()
	if err := <-made; err != nil {
		return nil,
			fmt.Errorf(
				"%w: making a network namespace: %w; run as root, or allow user namespaces (sysctl user.max_user_namespaces and, "+
					"on Ubuntu, kernel.apparmor_restrict_unprivileged_userns=0)", ErrMissing, err)
	}
	err := errors.Join(
		n.set("ipv6/conf/all/accept_dad", "0"), n.set("ipv6/conf/default/accept_dad", "0"),
		n.set("ipv6/conf/default/accept_ra", "0"),
		n.run("", "ip", "link", "set", "lo", "up"),
	)
	if err != nil {
		n.close()
		return nil, err
	}
	return n, nil
}

// inside calls f on a thread that enters the namespace and ends with f. Sockets that f opens and programs that it
// starts stay in the namespace. Other goroutines that f starts run outside the namespace.
func (n *namespace) inside(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // permanently
		err := unix.Setns(int(n.file.Fd()), unix.CLONE_NEWNET)
		if err == nil {
			err = f()
		}
		done <- err
	}()
	return <-done
}

// run runs a program in the namespace with a text as its standard input.
func (n *namespace) run(input string, argv ...string) error {
	return n.inside(func() error {
		path, err := tool(argv[0])
		if err != nil {
			return err
		}
		c := exec.Command(path, argv[1:]...)
		c.Stdin = strings.NewReader(input)
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s%s", strings.Join(argv, " "), err, bytes.TrimSpace(out), input)
		}
		return nil
	})
}

// set writes a kernel setting of the namespace, below /proc/sys/net.
func (n *namespace) set(name, value string) error {
	return n.inside(func() error { return os.WriteFile("/proc/sys/net/"+name, []byte(value), 0o600) })
}

// dial opens a connection in the namespace, from the given address if it is valid.
func (n *namespace) dial(ctx context.Context, from netip.Addr, network, at string) (conn net.Conn, err error) {
	if _, err := netip.ParseAddrPort(at); err != nil {
		return nil, err
	}
	var d net.Dialer
	switch local := netip.AddrPortFrom(from, 0); {
	case !from.IsValid():
	case strings.HasPrefix(network, "udp"):
		d.LocalAddr = net.UDPAddrFromAddrPort(local)
	default:
		d.LocalAddr = net.TCPAddrFromAddrPort(local)
	}
	err = n.inside(func() (err error) {
		conn, err = d.DialContext(ctx, network, at)
		return err
	})
	return conn, err
}

// packages are the Debian packages of the programs.
var packages = map[string]string{"ip": "iproute2", "nft": "nftables"}

// tool returns the path of a program. It also searches the sbin directories.
func tool(name string) (string, error) {
	for _, dir := range []string{"", "/usr/sbin/", "/sbin/"} {
		if path, err := exec.LookPath(dir + name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: %s is not installed; run: apt-get install -y %s", ErrMissing, name, packages[name])
}

// Allowed returns nil if this process may create networks. Otherwise the error names the missing package or right.
func Allowed() error {
	n, err := newNamespace()
	if err != nil {
		return err
	}
	defer n.close()
	for _, name := range []string{"ip", "nft"} {
		if _, err := tool(name); err != nil {
			return err
		}
	}
	return nil
}

// Enter makes a program, before its start, root of a new user namespace with the right to create networks. Outside the
// namespace the program has only the rights of its user.
func Enter(program *exec.Cmd) {
	program.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
}

func (n *namespace) close() { _ = n.file.Close() }
