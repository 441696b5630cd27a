package service // inside: it shares service_test.go

import (
	"net"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"
)

func TestKeep_TheManagerGetsTheSocketsThemselves(t *testing.T) {
	conn := manager(t)
	packets, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := Keep("dns", []syscall.Conn{packets.(*net.UDPConn)}); err != nil {
		t.Fatal(err)
	}
	_ = packets.Close()

	text, rights := make([]byte, 64), make([]byte, 64)
	n, r, _, _, err := conn.ReadMsgUnix(text, rights)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(text[:n]); got != "FDSTORE=1\nFDNAME=dns" {
		t.Errorf("told %q", got)
	}
	messages, err := syscall.ParseSocketControlMessage(rights[:r])
	if err != nil || len(messages) != 1 {
		t.Fatal(messages, err)
	}
	numbers, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(numbers) != 1 {
		t.Fatal(numbers, err)
	}
	kept := os.NewFile(uintptr(numbers[0]), "kept")
	defer kept.Close()
	same, err := net.FilePacketConn(kept)
	if err != nil {
		t.Fatal(err)
	}
	defer same.Close()
	if same.LocalAddr().String() != packets.LocalAddr().String() {
		t.Errorf("the manager got %s, want %s", same.LocalAddr(), packets.LocalAddr())
	}
	if err := Release("dns"); err != nil {
		t.Fatal(err)
	}
	if got := told(t, conn, 1e9); got != "FDSTOREREMOVE=1\nFDNAME=dns" {
		t.Errorf("told %q", got)
	}
}

// The kernel accepts at most 253 descriptors in a message.
func TestKeep_MoreThanOneMessageTakesAndAllOrNone(t *testing.T) {
	const many = 300
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if limit.Cur < 3*many { // sent copies, received copies, and other files
		t.Skipf("a process may have %d files only", limit.Cur)
	}
	conn := manager(t)
	packets, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer packets.Close()
	sockets := slices.Repeat([]syscall.Conn{packets.(*net.UDPConn)}, many)
	if err := Keep("x", sockets); err != nil {
		t.Fatal(err)
	}
	if got := keptIn(t, conn) + keptIn(t, conn); got != many {
		t.Errorf("the manager got %d descriptors, want %d", got, many)
	}

	closed, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	if Keep("x", append(sockets, closed.(*net.UDPConn))) == nil {
		t.Error("a closed socket was kept")
	}
	keptIn(t, conn)
	if got := told(t, conn, 30*time.Second); got != "FDSTOREREMOVE=1\nFDNAME=x" {
		t.Errorf("after a failure the manager is told %q", got)
	}
}

// keptIn reads a message to the manager, closes the descriptors in it and returns their number.
func keptIn(t *testing.T, conn *net.UnixConn) int {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	text, rights := make([]byte, 64), make([]byte, syscall.CmsgSpace(4*253))
	n, r, _, _, err := conn.ReadMsgUnix(text, rights)
	if err != nil || string(text[:n]) != "FDSTORE=1\nFDNAME=x" {
		t.Fatalf("told %q: %v", text[:n], err)
	}
	messages, err := syscall.ParseSocketControlMessage(rights[:r])
	if err != nil || len(messages) != 1 {
		t.Fatal(messages, err)
	}
	numbers, err := syscall.ParseUnixRights(&messages[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range numbers {
		_ = syscall.Close(fd)
	}
	return len(numbers)
}
