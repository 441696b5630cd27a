package predict

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// The control group of a container limits its share of the host. In both versions of control groups, a container finds
// its own group at the root of the mounted file system. On the host, the files with limits are missing or have no
// limit.

// unlimited is a lower bound of the value that means "no memory limit" in version 1: the largest multiple of the page
// size.
const unlimited = 1 << 60

// errNoLimit means that the control group has no limit, so that the figures of the host apply.
var errNoLimit = errors.New("the control group sets no limit")

// cgroup reads the control group that is mounted at root, usually /sys/fs/cgroup.
type cgroup struct{ root fs.FS }

// processor returns the total processor time and the number of processors that the group may use.
func (c cgroup) processor() (used time.Duration, processors float64, err error) {
	if text, err := c.read("cpu.max"); err == nil {
		quota, period, _ := strings.Cut(text, " ")
		if processors, err = ratio(quota, period); err != nil {
			return 0, 0, err
		}
		micros, err := c.field("cpu.stat", "usage_usec")
		return time.Duration(micros) * time.Microsecond, processors, err
	}
	quota, err := c.read("cpu/cpu.cfs_quota_us")
	if err != nil {
		return 0, 0, errNoLimit
	}
	period, err := c.read("cpu/cpu.cfs_period_us")
	if err != nil {
		return 0, 0, err
	}
	if processors, err = ratio(quota, period); err != nil {
		return 0, 0, err
	}
	nanos, err := c.number("cpuacct/cpuacct.usage")
	return time.Duration(nanos), processors, err
}

// memory returns the memory that the group uses, excluding memory that the kernel can reclaim immediately, and the
// limit of the group, both in bytes.
func (c cgroup) memory() (used, limit uint64, err error) {
	current, reclaimable, statistics := "memory.current", "inactive_file", "memory.stat"
	text, err := c.read("memory.max")
	if err != nil {
		current, reclaimable, statistics = "memory/memory.usage_in_bytes", "total_inactive_file", "memory/memory.stat"
		text, err = c.read("memory/memory.limit_in_bytes")
	}
	if err != nil || text == "max" {
		return 0, 0, errNoLimit
	}
	if limit, err = strconv.ParseUint(text, 10, 64); err != nil {
		return 0, 0, err
	}
	if limit == 0 || limit >= unlimited {
		return 0, 0, errNoLimit
	}
	if used, err = c.number(current); err != nil {
		return 0, 0, err
	}
	inactive, err := c.field(statistics, reclaimable)
	if err != nil {
		return 0, 0, err
	}
	return used - min(inactive, used), limit, nil
}

// ratio returns quota divided by period, which is a number of processors.
func ratio(quota, period string) (float64, error) {
	if quota == "max" || quota == "-1" {
		return 0, errNoLimit
	}
	q, err := strconv.ParseUint(quota, 10, 63)
	if err != nil {
		return 0, err
	}
	p, err := strconv.ParseUint(period, 10, 63)
	if err != nil {
		return 0, err
	}
	if q == 0 || p == 0 {
		return 0, errNoLimit
	}
	return float64(q) / float64(p), nil
}

func (c cgroup) read(name string) (string, error) {
	b, err := fs.ReadFile(c.root, name)
	return strings.TrimSpace(string(b)), err
}

func (c cgroup) number(name string) (uint64, error) {
	text, err := c.read(name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(text, 10, 64)
}

// field returns the number of a key in a file with lines of the form "key number".
func (c cgroup) field(name, key string) (uint64, error) {
	text, err := c.read(name)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		if value, found := strings.CutPrefix(line, key+" "); found {
			return strconv.ParseUint(strings.TrimSpace(value), 10, 64)
		}
	}
	return 0, errors.New(name + " has no " + key)
}
