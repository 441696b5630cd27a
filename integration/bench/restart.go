//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/miekg/dns"
)

const (
	restartLength = 8 * time.Second
	restarts      = 2
)

// restart restarts a node while dnsperf sends queries at a steady rate. This process has the sockets open, like a
// service manager (sd_listen_fds(3)). restart prints the report of dnsperf, and returns an error if a query was lost.
func restart(ctx context.Context, o options, rate int) error {
	if _, err := exec.LookPath("dnsperf"); err != nil {
		return errors.New("dnsperf is not installed; run: apt-get install -y dnsperf")
	}
	dir, err := os.MkdirTemp("", "gslb-restart-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	port, err := freePort()
	if err != nil {
		return err
	}
	argv, err := gslb("weighted", nsec)(setup{dir, o.bin, port, 10, served})
	if err != nil {
		return err
	}
	sockets, err := openBoth(port)
	if err != nil {
		return err
	}
	node, err := startKept(argv, sockets)
	if err != nil {
		return err
	}
	defer func() { _ = node.Process.Kill() }()
	if err := answered(port); err != nil {
		return err
	}
	questions := &file{}
	for i := range 10 {
		questions.line("%s A", served.name(i))
	}
	list, err := questions.write(dir, "questions")
	if err != nil {
		return err
	}
	perf := exec.CommandContext(ctx, "dnsperf", "-s", "127.0.0.1", "-p", strconv.Itoa(port), "-d", list, "-l",
		fmt.Sprint(restartLength.Seconds()),
		"-Q", strconv.Itoa(rate), "-c", "8", "-b", "4096", "-q", "60000", "-t", "5")
	report := &strings.Builder{}
	perf.Stdout, perf.Stderr = report, report
	if err := perf.Start(); err != nil {
		return err
	}
	busy, began := machineBusy(), time.Now()
	inRestarts := 0
	for range restarts {
		time.Sleep(restartLength / (restarts + 1))
		before := dropped(port)
		began := time.Now()
		if err := node.Process.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		if err := node.Wait(); err != nil {
			return fmt.Errorf("the node ended with %w", err)
		}
		ended := time.Since(began)
		if node, err = startKept(argv, sockets); err != nil {
			return err
		}
		if err := answered(port); err != nil {
			return err
		}
		inRestarts += dropped(port) - before
		fmt.Printf("restarted: ended after %d ms, answering again after %d ms\n", ended.Milliseconds(),
			time.Since(began).Milliseconds())
	}
	if err := perf.Wait(); err != nil {
		return fmt.Errorf("dnsperf: %w: %s", err, report)
	}
	fmt.Printf("dropped for full buffers: %d queries while the node was restarted, %d before and after; "+
		"%.2f cores were busy\n", inRestarts, dropped(port)-inRestarts, (machineBusy()-busy)/time.Since(began).Seconds())
	for line := range strings.Lines(report.String()) {
		if strings.Contains(line, "Queries") || strings.Contains(line, "Latency") {
			fmt.Print(line)
		}
	}
	if !strings.Contains(report.String(), "Queries lost:         0 ") {
		return errors.New("queries were lost")
	}
	return nil
}

// openBoth opens a port over TCP and UDP and returns the sockets as files, TCP first.
func openBoth(port int) (files []*os.File, err error) {
	at := "127.0.0.1:" + strconv.Itoa(port)
	tcp, err := net.Listen("tcp4", at)
	if err != nil {
		return nil, err
	}
	udp, err := net.ListenPacket("udp4", at)
	if err != nil {
		return nil, err
	}
	for _, socket := range []interface{ File() (*os.File, error) }{tcp.(*net.TCPListener), udp.(*net.UDPConn)} {
		f, err := socket.File()
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	_ = udp.Close() // the copies stay open
	return files, tcp.Close()
}

// startKept starts the node with the sockets. A shell sets LISTEN_PID to its own process ID, which the node has after
// exec.
func startKept(argv []string, sockets []*os.File) (*exec.Cmd, error) {
	cmd := exec.Command("sh", append([]string{"-c", `LISTEN_PID=$$ LISTEN_FDS=2 exec "$0" "$@"`}, argv...)...)
	cmd.ExtraFiles = sockets
	out, err := os.OpenFile(filepath.Join(filepath.Dir(argv[len(argv)-1]), "output"), os.O_CREATE|os.O_APPEND|os.O_WRONLY,
		0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd, cmd.Start()
}

// answered sends a query and returns an error if no answer arrives.
func answered(port int) error {
	client := &dns.Client{Timeout: 10 * time.Second}
	_, _, err := client.Exchange(new(dns.Msg).SetQuestion(served.name(0)+".", dns.TypeA), "127.0.0.1:"+strconv.Itoa(port))
	return err
}
