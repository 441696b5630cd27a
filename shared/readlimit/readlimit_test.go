package readlimit_test

import (
	"io"
	"net"
	"strings"
	"testing"

	"gslb.internal/shared/readlimit"
)

func TestConn_ReadsSoManyOctets(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	go func() {
		_, _ = io.WriteString(far, "0123456789")
		_ = far.Close()
	}()
	got, err := io.ReadAll(readlimit.Conn(near, 7))
	if string(got) != "0123456" || err == nil || !strings.Contains(err.Error(), "more than 7 octets") {
		t.Errorf("%q, %v", got, err)
	}
}
