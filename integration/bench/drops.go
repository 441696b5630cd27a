//go:build linux

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// dropped returns the number of queries that the kernel has dropped because the buffer of a socket at a port was full.
// It is the last column in the table of UDP sockets (proc(5)).
func dropped(port int) (queries int) {
	text, _ := os.ReadFile("/proc/net/udp")
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 12 && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", port)) {
			n, _ := strconv.Atoi(f[12])
			queries += n
		}
	}
	return queries
}
