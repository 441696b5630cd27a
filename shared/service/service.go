// Package service sends messages to the service manager, by the protocol of sd_notify(3): serving, reloading, stopping,
// alive. The programs call it. Without a manager (NOTIFY_SOCKET is unset) every call does nothing and succeeds.
//
// It starts no goroutine and has no state.
package service

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// Messages to the service manager.
const (
	ready     = "READY=1"
	reloading = "RELOADING=1"
	stopping  = "STOPPING=1"
	alive     = "WATCHDOG=1"
)

// Ready reports that the process serves, after its start and after a reload.
func Ready() error { return notifyManager(ready) }

// Reloading reports that the process reloads its configuration. Ready ends this state, even after a failed reload.
func Reloading() error { return notifyManager(reloading) }

// Stopping reports that the process has begun to stop.
func Stopping() error { return notifyManager(stopping) }

// Watch reports to the manager's watchdog that the process is alive, three times per watchdog period, as long as well
// returns nil. It returns nil when ctx ends, and immediately without a watchdog (WATCHDOG_USEC). If well fails or
// blocks, Watch reports nothing, and the manager restarts the process after its period. Watch returns an error for an
// invalid WATCHDOG_USEC and for a failed report.
func Watch(ctx context.Context, well func(context.Context) error) error {
	patience, err := watchdog()
	if patience == 0 || err != nil {
		return err
	}
	ticks := time.NewTicker(patience / 3)
	defer ticks.Stop()
	for {
		asked, done := context.WithTimeout(ctx, patience)
		if well(asked) == nil && ctx.Err() == nil {
			err = notifyManager(alive)
		}
		done()
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
	}
}

// watchdog returns the watchdog period of the manager, or 0.
func watchdog() (time.Duration, error) {
	text := os.Getenv("WATCHDOG_USEC")
	if pid := os.Getenv("WATCHDOG_PID"); text == "" || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return 0, nil
	}
	micro, err := strconv.ParseInt(text, 10, 64)
	if err != nil || micro <= 0 || micro > int64(365*24*time.Hour/time.Microsecond) {
		return 0, fmt.Errorf(
			"WATCHDOG_USEC=%q: want a number of microseconds; it is set by WatchdogSec= in the service's unit", text)
	}
	return time.Duration(micro) * time.Microsecond, nil
}

// dial connects to the manager's socket. It returns nil without a manager.
func dial() (*net.UnixConn, error) {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return nil, nil
	}
	if !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "@") {
		return nil, fmt.Errorf("NOTIFY_SOCKET=%q: want a path, or a name that begins with @", path)
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return nil, fmt.Errorf("telling the service manager (NOTIFY_SOCKET=%q): %w", path, err)
	}
	return conn, nil
}

func notifyManager(state string) error {
	conn, err := dial()
	if conn == nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte(state)); err != nil {
		return fmt.Errorf("telling the service manager: %w", err)
	}
	return nil
}
