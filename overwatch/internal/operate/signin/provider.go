package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Limits of the requests to the provider.
const (
	providerTimeout = 10 * time.Second // of one request, with its response
	maxResponse     = 256 << 10        // bytes of a response
	maxHeader       = 32 << 10         // bytes of the header of a response
	maxRedirects    = 3
	firstRetry      = time.Second // after the first failure; doubles up to maxRetry
	maxRetry        = time.Minute
	refreshInterval = time.Hour // between two requests for the endpoints of the provider
	maxSecret       = 4096      // bytes of the client secret
)

// discovered is the provider with its endpoints. It is immutable.
type discovered struct {
	oauth    oauth2.Config
	verifier *oidc.IDTokenVerifier
}

// transport limits the size of responses.
type transport struct{ next http.RoundTripper }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(r)
	if err == nil {
		resp.Body = http.MaxBytesReader(nil, resp.Body, maxResponse)
	}
	return resp, err
}

// newClient returns the client for all requests to the provider. It follows redirects only to the same host, because a
// redirected request can contain the client secret.
func newClient() *http.Client {
	next := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // the type in the standard library
	next.MaxResponseHeaderBytes = maxHeader
	return &http.Client{Transport: transport{next}, Timeout: providerTimeout,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects || r.URL.Host != via[0].URL.Host || r.URL.Scheme != via[0].URL.Scheme {
				return fmt.Errorf("the provider redirects to %.260q, which is another host, or redirects too often", r.URL.Host)
			}
			return nil
		}}
}

// readSecret returns the content of the file of the client secret. It rejects a file that others can read.
func readSecret(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	const key = "api.oidc.client_secret_file"
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", key, err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return "", fmt.Errorf("%s: %s is open to group or others (mode %04o): chmod 600 %s", key, path, mode, path)
	}
	if info.Size() > maxSecret {
		return "", fmt.Errorf("%s: %s has %d bytes: at most %d are allowed", key, path, info.Size(), maxSecret)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", key, err)
	}
	secret := strings.TrimSpace(string(text))
	if secret == "" {
		return "", fmt.Errorf("%s: %s is empty: write the client secret to it, or remove the key for a public client", key,
			path)
	}
	return secret, nil
}

// Run requests the endpoints of the provider until it succeeds, and then each refreshInterval, until ctx ends. After a
// failure, the previous endpoints stay in use.
func (m *Manager) Run(ctx context.Context) {
	retry := firstRetry
	for {
		wait := refreshInterval
		found, err := m.discover(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			m.failure.Store(&err)
			m.o.Logger.Warn().Str("issuer", m.o.Config.Issuer).Dur("retry_in_ms", retry).Str("cause", bounded(err)).
				Msg("the OIDC provider cannot be used: tokens of the API and existing sessions stay valid")
			wait, retry = retry, min(2*retry, maxRetry)
		default:
			m.found.Store(found)
			m.failure.Store(nil)
			retry = firstRetry
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// discover requests the endpoints of the provider.
func (m *Manager) discover(ctx context.Context) (*discovered, error) {
	cfg := &m.o.Config
	p, err := oidc.NewProvider(oidc.ClientContext(ctx, m.client), cfg.Issuer)
	if err != nil {
		return nil, err
	}
	var keys struct {
		URL string `json:"jwks_uri"`
	}
	if err := p.Claims(&keys); err != nil {
		return nil, err
	}
	endpoint := p.Endpoint()
	for name, text := range map[string]string{"authorization_endpoint": endpoint.AuthURL,
		"token_endpoint": endpoint.TokenURL, "jwks_uri": keys.URL} {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "https" && !strings.HasPrefix(cfg.Issuer, "http://") {
			return nil, fmt.Errorf("the provider has the %s %.260q: it must be an https URL", name, text)
		}
	}
	return &discovered{
		oauth: oauth2.Config{ClientID: cfg.ClientID, ClientSecret: m.secret, Endpoint: endpoint,
			RedirectURL: cfg.RedirectURL, Scopes: cfg.Scopes},
		verifier: p.Verifier(&oidc.Config{ClientID: cfg.ClientID, Now: m.o.Now}),
	}, nil
}

// provider returns the endpoints of the provider, or an error before the first success of discover.
func (m *Manager) provider() (*discovered, error) {
	if found := m.found.Load(); found != nil {
		return found, nil
	}
	cause := "no answer yet"
	if err := m.failure.Load(); err != nil {
		cause = bounded(*err)
	}
	return nil, &Refusal{http.StatusServiceUnavailable, fmt.Sprintf("the OIDC provider %s cannot be used: %s. Try again "+
		"later, or use a token.", m.o.Config.Issuer, cause)}
}

// bounded returns the text of an error of a request to the provider. It omits responses of the token endpoint.
func bounded(err error) string {
	var rejected *oauth2.RetrieveError
	if errors.As(err, &rejected) {
		return fmt.Sprintf("status %d, error %.64q", rejected.Response.StatusCode, rejected.ErrorCode)
	}
	return fmt.Sprintf("%.300s", strings.ToValidUTF8(err.Error(), "?"))
}
