package metrics_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/agent/internal/metrics"
)

// serve runs a server with one metric until the caller calls stop, which returns the result of Run.
func serve(t *testing.T) (address string, stop func() error) {
	t.Helper()
	figures := prometheus.NewRegistry()
	figures.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "gslb_test"}, func() float64 { return 7 }))
	s, err := metrics.Listen("127.0.0.1:0", figures, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	return s.Addr().String(), func() error {
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(30 * time.Second):
			return fmt.Errorf("still running")
		}
	}
}

func TestServer_AnswersWithTheFigures(t *testing.T) {
	address, stop := serve(t)
	for path, want := range map[string]struct {
		status int
		text   string
	}{"/metrics": {200, "gslb_test 7"}, "/": {404, ""}, "/debug/pprof/": {404, ""}} {
		res, err := http.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != want.status || !strings.Contains(string(body), want.text) {
			t.Errorf("GET %s: %d, %v, %q", path, res.StatusCode, err, body)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestRun_EndsInTimeAlthoughARequestIsHalfSent(t *testing.T) {
	address, stop := serve(t)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "GET /metrics HTTP/1.1\r\nHost:")
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestListen_NamesKeyAddressAndRemedy(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	_, err = metrics.Listen(address, prometheus.NewRegistry(), zerolog.Nop())
	if err == nil || !strings.Contains(err.Error(), "metrics.address "+address) ||
		!strings.Contains(err.Error(), "choose another") {
		t.Errorf("%v", err)
	}
}
