package service

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"syscall"
)

// keptAtOnce is the number of sockets in one message, of which the kernel takes at most 253 (SCM_MAX_FD).
const keptAtOnce = 250

// Keep gives the service manager copies of the process's sockets. The manager hands them to the
// next process of the same service (LISTEN_FDS, with name in LISTEN_FDNAMES), so that data arriving
// in between waits in them. The manager keeps at most FileDescriptorStoreMax= sockets and drops all
// when the service is stopped instead of restarted. The sockets stay the caller's. After an error
// the manager keeps none under name.
func Keep(name string, sockets []syscall.Conn) error {
	conn, err := dial()
	if conn == nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	for some := range slices.Chunk(sockets, keptAtOnce) {
		if err := keep(conn, name, some); err != nil {
			return errors.Join(err, Release(name)) // a part would be taken for all
		}
	}
	return nil
}

// keep sends copies of the sockets in one message.
func keep(conn *net.UnixConn, name string, sockets []syscall.Conn) error {
	// Not through os.File, whose Fd makes the socket blocking for everybody who has it.
	var copies []int
	defer func() {
		for _, fd := range copies {
			_ = syscall.Close(fd)
		}
	}()
	for _, s := range sockets {
		fd, err := duplicate(s)
		if err != nil {
			return fmt.Errorf("copying a socket for the service manager: %w", err)
		}
		copies = append(copies, fd)
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	err = raw.Write(func(fd uintptr) bool {
		sent = syscall.Sendmsg(int(fd), []byte("FDSTORE=1\nFDNAME="+name), syscall.UnixRights(copies...), nil, 0)
		return sent != syscall.EAGAIN
	})
	if err == nil {
		err = sent
	}
	if err != nil {
		return fmt.Errorf("giving the service manager %d sockets to keep: %w", len(sockets), err)
	}
	return nil
}

func duplicate(s syscall.Conn) (fd int, err error) {
	raw, err := s.SyscallConn()
	if err != nil {
		return 0, err
	}
	// Of no use to a program that this one starts in between, and closed within the call that made it.
	if failed := raw.Control(func(original uintptr) {
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
		if fd, err = syscall.Dup(int(original)); err == nil {
			syscall.CloseOnExec(fd)
		}
	}); failed != nil {
		return 0, failed
	}
	return fd, err
}

// Release makes the manager drop the sockets kept under name.
func Release(name string) error { return tell("FDSTOREREMOVE=1\nFDNAME=" + name) }
