package harness // inside: it uses firstPort, lastPort and localhost

import (
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"testing"
)

// heirPart makes this test binary the child with a reserved socket.
const heirPart = "HARNESS_TEST_HEIR"

// A child that is forked while a port is reserved has the socket until its exec. This child has the socket until a
// client connects.
func TestRelease_WaitsForAChildThatStillHasThePort(t *testing.T) {
	if os.Getenv(heirPart) != "" {
		l, err := net.FileListener(os.NewFile(3, "inherited"))
		if err == nil {
			_, err = l.Accept()
		}
		if err != nil {
			t.Fatal(err)
		}
		os.Exit(0) // resets the connection
	}
	r, err := Reserve([]netip.Addr{localhost}, "tcp")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	inherited, err := r.held[0].(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	heir := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	heir.Env, heir.ExtraFiles = append(os.Environ(), heirPart+"=1"), []*os.File{inherited}
	ended, err := StartTied(heir, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = inherited.Close()
	r.Release()
	if c, err := net.Dial("tcp", r.On(localhost).String()); err == nil {
		_ = c.Close()
		t.Error("something still listens on the port that was released")
	}
	<-ended
}

// A port belongs to a run as long as the run's cluster may start a program on it, even if no program listens on it.
func TestReserve_APortIsNobodyElsesUntilTheClusterIsOver(t *testing.T) {
	r, err := Reserve([]netip.Addr{localhost}, "tcp")
	if err != nil {
		t.Fatal(err)
	}
	r.Release()
	if claim(r.port) {
		t.Errorf("port %d is reserved twice in this process", r.port)
	}
	if runtime.GOOS != "linux" {
		return
	}
	if l, err := net.Listen("unix", claimOf(r.port)); err == nil {
		_ = l.Close()
		t.Errorf("another process may take port %d while its program is stopped", r.port)
	}
	unclaim(r.port)
	theirs, err := net.Listen("unix", claimOf(r.port))
	if err != nil {
		t.Fatalf("port %d is still claimed: %v", r.port, err)
	}
	defer theirs.Close()
	other := r.port ^ 1
	if their, err := net.Listen("unix", claimOf(other)); err == nil {
		defer their.Close()
		if claim(other) {
			t.Errorf("port %d is another process's, and claimed here too", other)
		}
	}
}

// The ports of the harness are outside the system's range for outgoing connections, if enough ports exist.
func TestPorts_AreBesideTheEphemeralOnes(t *testing.T) {
	for ephemeral, want := range map[[2]int][2]int{
		{32768, 60999}: {firstPort, lastPort},
		{1024, 14999}:  {firstPort, lastPort},
		{1024, 15000}:  {15001, 65536},
		{15000, 65535}: {1024, 15000},
		{31999, 32001}: {1024, 31999},
		{2048, 32767}:  {32768, 65536},
		{1024, 65535}:  {firstPort, lastPort},
		{0, 70000}:     {firstPort, lastPort},
	} {
		first, end := portsBeside(ephemeral[0], ephemeral[1])
		if got := [2]int{first, end}; got != want {
			t.Errorf("ephemeral ports are %v, ours %v, want %v", ephemeral, got, want)
		}
	}
}
