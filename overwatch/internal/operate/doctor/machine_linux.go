package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	wantFiles  = 65536   // half of the files may be TCP connections
	wantBuffer = 4 << 20 // requested buffer size of a DNS socket
	wantDisk   = 1 << 30
	needDisk   = 16 << 20
	// perName and perSignedName are the memory per name with four backends, in octets (overwatch/docs/capacity.md).
	perName, perSignedName = 9 << 10, 16 << 10
)

// clock checks whether the kernel synchronizes the clock, because the validity of signatures depends on the clock.
func clock(context.Context, Node) []Finding {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	if err != nil {
		return advice("clock", fmt.Sprintf("the kernel does not report whether the clock is synchronized: %v", err), "")
	}
	if t.Status&unix.STA_UNSYNC != 0 || state == unix.TIME_ERROR {
		return trouble("clock", "the clock is not synchronized",
			"run chrony or systemd-timesyncd; a clock that is days off makes signatures invalid for resolvers")
	}
	return fine("clock", fmt.Sprintf("synchronised, within %s",
		(time.Duration(t.Maxerror)*time.Microsecond).Round(time.Millisecond)))
}

// limits checks the maximum number of open files and connections of a process.
func limits(context.Context, Node) []Finding {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return advice("open files", err.Error(), "")
	}
	// Go programs raise the soft limit to the hard one.
	if l.Max < wantFiles {
		return advice("open files", fmt.Sprintf("at most %d, so at most %d TCP clients", l.Max, l.Max/2),
			fmt.Sprintf("set LimitNOFILE=%d or more in the unit; this is the limit of this shell", wantFiles))
	}
	return fine("open files", fmt.Sprintf("at most %d", l.Max))
}

// buffers checks the maximum buffer size of a socket. The kernel doubles the size that a socket requests, and charges
// some 768 octets for a small query.
func buffers(context.Context, Node) []Finding {
	const path = "/proc/sys/net/core/rmem_max"
	text, err := os.ReadFile(path)
	if err != nil {
		return nil // a container may lack the file
	}
	size, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return advice("socket buffers", fmt.Sprintf("%s: %v", path, err), "")
	}
	if size < wantBuffer {
		return advice("socket buffers", fmt.Sprintf(
			"net.core.rmem_max is %d: some %d queries can wait during a restart or a burst", size, 2*size/768),
			"sysctl -w net.core.rmem_max=16777216, and the same in /etc/sysctl.d (the package brings it)")
	}
	return fine("socket buffers", fmt.Sprintf("net.core.rmem_max is %d", size))
}

// memory compares the memory required for the names with the memory of the machine.
func memory(_ context.Context, p Node) []Finding {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return nil
	}
	total := uint64(info.Totalram) * uint64(info.Unit) //nolint:unconvert // other architectures have other types
	need := uint64(64<<20) + uint64(p.Names)*perName
	if p.Signed {
		need = uint64(64<<20) + uint64(p.Names)*perSignedName
	}
	text := fmt.Sprintf("with its names (%d) the node takes about %d MiB, the machine has %d MiB", p.Names, need>>20,
		total>>20)
	if need > total/2 {
		return trouble("memory", text, "use a larger machine, or serve fewer names with one node")
	}
	return fine("memory", text)
}

// disk checks the permissions and the free space of the data directory.
func disk(_ context.Context, p Node) []Finding {
	info, err := os.Stat(p.DataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return advice("data_dir", p.DataDir+" does not exist",
			"the node makes it at its start, if its user may; systemd does with StateDirectory=")
	} else if err != nil {
		return trouble("data_dir", err.Error(), "run the doctor as the user of the service, or as root")
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return trouble("data_dir", fmt.Sprintf("%s has mode %04o: others can look for keys in it", p.DataDir, mode),
			"chmod 700 "+p.DataDir)
	}
	var s unix.Statfs_t
	if err := unix.Statfs(p.DataDir, &s); err != nil {
		return trouble("data_dir", err.Error(), "")
	}
	return freeSpace(p.DataDir, s)
}

// freeSpace checks the free space of the file system with the data directory.
func freeSpace(dir string, s unix.Statfs_t) []Finding {
	if s.Flags&unix.ST_RDONLY != 0 {
		return trouble("data_dir", dir+" is on a disk that is mounted read-only: the node does not start",
			"mount it for writing, or name another data_dir")
	}
	free := s.Bavail * uint64(s.Bsize)
	text := fmt.Sprintf("%s has %d MiB free", dir, free>>20)
	if free < needDisk {
		return trouble("data_dir", text+": the disk is full",
			"make room there: until then changes by the API and new agents are refused, and a new node does not start")
	}
	if free < wantDisk {
		return advice("data_dir", text, "give it 1 GiB: on a full disk changes by the API are refused")
	}
	return fine("data_dir", text)
}
