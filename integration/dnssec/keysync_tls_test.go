package dnssec_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// Nodes exchange keys over https with a private certificate authority and client certificates. A node that does not
// trust the authority, or has no client certificate, receives no keys and reports the reason. An unusable file prevents
// the start.
func TestKeySync_OverHTTPSWithAPrivateAuthorityAndClientCertificates(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 3, 0)
	dir := t.TempDir()
	authority, files := testbed.SelfSigned(t, dir)
	pair, err := tls.LoadX509KeyPair(files[0], files[1])
	if err != nil {
		t.Fatal(err)
	}
	trusting := &tls.Config{RootCAs: authority, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	for i, n := range s.Nodes {
		n.File.API.More = map[string]any{"tls": map[string]any{"certificate": files[0], "key": files[1],
			"client_ca": files[0]}}
		sync := &harness.KeySync{
			PollInterval: testbed.SyncPoll, Timeout: 2 * time.Second,
			Secret: "a secret of the nodes, in more than 32 characters",
			CA:     files[0], Certificate: files[0], Key: files[1],
		}
		for k, other := range s.Nodes {
			if k != i {
				sync.Peers = append(sync.Peers, "https://"+other.API.String())
			}
		}
		n.File.Overwatch.DNSSEC.KeySync = sync
		if n.Client, err = api.NewClient(api.ClientOptions{Node: "https://" + n.API.String(), Timeout: testbed.Patience,
			TLS: trusting}); err != nil {
			t.Fatal(err)
		}
	}
	s.StartNodes(t, s.Nodes...)
	first := signed.SameKeys(t, 1, s.Nodes...)

	stranger := s.Nodes[2]
	for _, bad := range []struct {
		promise string
		change  func(*harness.KeySync)
		want    string
	}{
		{"a node that does not know the authority", func(k *harness.KeySync) { k.CA = "" },
			"its certificate is not accepted"},
		{"a node that shows no certificate", func(k *harness.KeySync) { k.Certificate, k.Key = "", "" },
			"certificate required"},
	} {
		t.Run(bad.promise, func(t *testing.T) {
			good := *stranger.File.Overwatch.DNSSEC.KeySync
			defer func() { stranger.File.Overwatch.DNSSEC.KeySync = &good }()
			changed := good
			bad.change(&changed)
			stranger.File.Overwatch.DNSSEC.KeySync = &changed
			testbed.Stop(t, stranger)
			s.StartNodes(t, stranger)
			testbed.Until(t, testbed.KeyBound, "the reason", func(ctx context.Context) error {
				status, err := stranger.Client.DNSSECStatus(ctx)
				if err != nil {
					return err
				}
				for _, p := range status.Sync.Peers {
					if p.OK || p.Error == nil || !strings.Contains(*p.Error, bad.want) {
						return fmt.Errorf("peer %+v", p)
					}
				}
				return nil
			})
		})
	}
	testbed.Stop(t, stranger)
	s.StartNodes(t, stranger)
	if got := signed.SameKeys(t, 1, s.Nodes...); !slices.Equal(got, first) {
		t.Errorf("keys %v, before %v", got, first)
	}

	testbed.Stop(t, stranger)
	stranger.File.Overwatch.DNSSEC.KeySync.CA = files[1] // a key, and no certificate
	testbed.Start(t, stranger)
	testbed.Ends(t, stranger, testbed.StartBound)
	said := fmt.Sprint(stranger.Output())
	if !strings.Contains(said, "overwatch.dnssec.key_sync.ca") || !strings.Contains(said, files[1]) {
		t.Errorf("it says %s", said)
	}
}
