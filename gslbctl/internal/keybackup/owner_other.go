//go:build !windows

package keybackup

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// giveTo changes the owner and group of the file at path to those of owner. If this process runs as that user and not
// as root, it does nothing.
func giveTo(path string, owner fs.FileInfo) error {
	of, known := owner.Sys().(*syscall.Stat_t)
	if !known || int(of.Uid) == os.Geteuid() && os.Geteuid() != 0 {
		return nil
	}
	if err := os.Chown(path, int(of.Uid), int(of.Gid)); err != nil {
		return fmt.Errorf("%w: run this as the node's user or as root", err)
	}
	return nil
}
