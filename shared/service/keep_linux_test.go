package service // inside: it shares service_test.go

import (
	"net"
	"os"
	"syscall"
	"testing"
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
