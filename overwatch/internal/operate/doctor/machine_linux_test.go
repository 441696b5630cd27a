package doctor // inside: it uses freeSpace, needDisk and wantDisk

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestRoom(t *testing.T) {
	const blocks = 4096
	for _, tc := range []struct {
		name  string
		s     unix.Statfs_t
		grade Grade
		words string
	}{
		{"plenty", unix.Statfs_t{Bavail: 2 * wantDisk / blocks, Bsize: blocks}, Fine, "2048 MiB free"},
		{"little", unix.Statfs_t{Bavail: wantDisk/blocks - 1, Bsize: blocks}, Advice, "1023 MiB free"},
		{"full", unix.Statfs_t{Bavail: needDisk/blocks - 1, Bsize: blocks}, Trouble, "the disk is full"},
		{"read-only", unix.Statfs_t{Bavail: 2 * wantDisk / blocks, Bsize: blocks, Flags: unix.ST_RDONLY}, Trouble,
			"mounted read-only"},
	} {
		got := freeSpace("/d", tc.s)
		if len(got) != 1 || got[0].Grade != tc.grade || !strings.Contains(got[0].Text, tc.words) {
			t.Errorf("%s: %+v", tc.name, got)
		}
	}
}
