//go:build !unix

package agent

import "os"

// handovers returns nil: this system has no signal for a handover.
func handovers() (requests <-chan os.Signal, stop func()) { return nil, func() {} }
