package check

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"gslb.internal/shared/readlimit"
)

// grpcPath is the method of grpc.health.v1, the standard health protocol of gRPC.
const grpcPath = "/grpc.health.v1.Health/Check"

// maxGRPCAnswer is the maximum length of an answer message in octets. A HealthCheckResponse has two octets.
const maxGRPCAnswer = 1 << 10

// maxGRPCOctets bounds the octets read from a server: a chain of certificates, the header, the answer, and the frames
// of HTTP/2 around them. net/http itself accepts any number of frames.
const maxGRPCOctets = MaxHeader + 32<<10

// serving is the healthy value of HealthCheckResponse.status.
const serving = 1

var servingStatus = map[uint64]string{0: "UNKNOWN", 2: "NOT_SERVING", 3: "SERVICE_UNKNOWN"}

// grpc makes the checks of types grpc and grpcs: a unary call over HTTP/2.
type grpc struct {
	transport *http.Transport
	request   http.Request
	message   []byte
}

func prepareGRPC(t target) func(*attempt) error {
	spec, connect := t.spec, t.connect
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(spec.Type == GRPC)
	protocols.SetHTTP2(spec.Type == GRPCS)
	location := &url.URL{Scheme: "http", Host: t.host(), Path: grpcPath}
	g := &grpc{
		message: grpcRequest(spec.Detail.Detail().GRPCService),
		transport: &http.Transport{
			Protocols: protocols, DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: MaxHeader,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				a := attemptOf(ctx)
				conn, err := connect(a)
				if err != nil {
					return nil, err
				}
				a.enter(responding)
				return readlimit.Conn(conn, maxGRPCOctets), nil
			},
		},
		request: http.Request{
			Method: http.MethodPost, URL: location,
			Header: http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}, "User-Agent": {t.userAgent}},
		},
	}
	if spec.Type == GRPCS {
		location.Scheme = "https"
		config := tlsConfig(spec, location.Hostname())
		config.NextProtos = []string{"h2"}
		g.transport.DialTLSContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialHTTP2(attemptOf(ctx), config, connect)
		}
	}
	return g.ask
}

// errNoHTTP2 means that the server did not agree to HTTP/2 in the TLS handshake. gRPC needs HTTP/2.
var errNoHTTP2 = errors.New("the server does not offer HTTP/2 (ALPN h2)")

func dialHTTP2(a *attempt, config *tls.Config, connect func(*attempt) (net.Conn, error)) (net.Conn, error) {
	conn, err := connect(a)
	if err != nil {
		return nil, err
	}
	secured, err := secure(a, readlimit.Conn(conn, maxGRPCOctets), config)
	if err != nil {
		return nil, err
	}
	if secured.ConnectionState().NegotiatedProtocol != "h2" {
		_ = secured.Close() // errNoHTTP2 is the more useful error
		return nil, tlsError{errNoHTTP2}
	}
	return secured, nil
}

// grpcRequest returns a framed HealthCheckRequest: no compression, length, and field 1, the
// service's name.
func grpcRequest(service string) []byte {
	var body []byte
	if service != "" {
		body = append(body, 1<<3|2)
		body = binary.AppendUvarint(body, uint64(len(service)))
		body = append(body, service...)
	}
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body))), body...)
}

// ask sends the request and returns an error unless the response reports a serving service.
func (g *grpc) ask(a *attempt) error {
	defer g.transport.CloseIdleConnections()
	request := g.request.WithContext(a.context())
	request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(g.message)), int64(len(g.message))
	res, err := g.transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return statusError(res.StatusCode)
	}
	a.enter(reading)
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxGRPCAnswer+1))
	if err != nil {
		return err
	}
	if len(answer) > maxGRPCAnswer {
		return fmt.Errorf("grpc answer larger than %d octets", maxGRPCAnswer)
	}
	code, text := res.Trailer.Get("Grpc-Status"), res.Trailer.Get("Grpc-Message")
	if code == "" { // an answer without a message has its status in the header
		code, text = res.Header.Get("Grpc-Status"), res.Header.Get("Grpc-Message")
	}
	if code != "0" {
		return grpcError(code, text)
	}
	return grpcVerdict(answer)
}

func grpcError(code, text string) error {
	switch code {
	case "":
		return errors.New("the answer is not grpc")
	case "5":
		return errors.New("grpc status 5: the server does not know the service")
	case "12":
		return errors.New("grpc status 12: the server does not have grpc.health.v1")
	}
	return fmt.Errorf("grpc status %s %s", code, text)
}

// grpcVerdict reads a framed HealthCheckResponse. Its field 1 is the status.
func grpcVerdict(answer []byte) error {
	malformed := errors.New("malformed grpc answer")
	if len(answer) < 5 || answer[0] != 0 || uint64(binary.BigEndian.Uint32(answer[1:])) != uint64(len(answer)-5) {
		return malformed
	}
	var status uint64
	for body := answer[5:]; len(body) > 0; {
		key, n := binary.Uvarint(body)
		if n <= 0 {
			return malformed
		}
		body = body[n:]
		value, n := binary.Uvarint(body)
		if n <= 0 {
			return malformed
		}
		body = body[n:]
		switch key & 7 {
		case 0:
			if key>>3 == 1 {
				status = value
			}
		case 2: // a field that a later version may have
			if value > uint64(len(body)) {
				return malformed
			}
			body = body[value:]
		default:
			return malformed
		}
	}
	if status == serving {
		return nil
	}
	if name := servingStatus[status]; name != "" {
		return errors.New("grpc health: " + name)
	}
	return fmt.Errorf("grpc health: status %d", status)
}
