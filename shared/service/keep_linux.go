package service

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"syscall"
)

// keptAtOnce is the number of sockets in a message. The maximum of the kernel is 253 (SCM_MAX_FD).
const keptAtOnce = 250

// Keep sends copies of the process's sockets to the service manager. The manager passes them to the next process of the
// same service (LISTEN_FDS, with name in LISTEN_FDNAMES), so that data that arrives in between waits in the sockets.
// The manager stores at most FileDescriptorStoreMax= sockets and drops all when the service stops without a restart.
// The sockets still belong to the caller. After an error the manager stores no sockets under name.
func Keep(name string, sockets []syscall.Conn) error {
	conn, err := dial()
	if conn == nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	for some := range slices.Chunk(sockets, keptAtOnce) {
		if err := sendSockets(conn, name, some); err != nil {
			return errors.Join(err, Release(name)) // the next process would treat a subset as complete
		}
	}
	return nil
}

// sendSockets sends copies of the sockets in one message.
func sendSockets(conn *net.UnixConn, name string, sockets []syscall.Conn) error {
	// os.File is unsuitable: its Fd makes the socket blocking for all its users.
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
	// The lock and the flag prevent a child process from inheriting the copy. keep closes the copy.
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

// Release makes the manager drop the sockets under name.
func Release(name string) error { return notifyManager("FDSTOREREMOVE=1\nFDNAME=" + name) }
