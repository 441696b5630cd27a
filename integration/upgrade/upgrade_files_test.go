package upgrade_test

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// earlierFiles is an archive of the data directories of a node and an agent of the baseline: a store of schema 1 with a
// domain, a server and an override that the API made, a DNSSEC key, identities, and what each knew of the other.
const earlierFiles = "testdata/earlier.tar.gz"

// makeVariable names a commit whose programs are to make earlierFiles anew.
const makeVariable = "GSLB_UPGRADE_MAKE"

// Their configuration had these secrets, which are of no use elsewhere, and its node this gossip address, by which the
// agent knew it.
const (
	earlierToken  = "the token of the directories that were made for a test"
	earlierGossip = "earlier-gossip-address"
)

var earlierKey = base64.StdEncoding.EncodeToString([]byte("the gossip key of a test's files"))

// The programs take over the directories of before, whatever this clone has of the history: nothing that a node knew is
// lost, the agent is the one that was pinned, and what was converted is kept beside.
func TestUpgrade_DirectoriesOfBeforeAreTakenOver(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1, 1)
	n, a := s.Nodes[0], s.Agents[0]
	n.File.Overwatch.Gossip.EncryptionKey, a.File.Agent.Gossip.EncryptionKey = earlierKey, earlierKey
	n.File.Overwatch.AgentTokens[testbed.AppName], a.File.Agent.Identity.ServiceTokens[testbed.AppName] = earlierToken,
		earlierToken
	if commit := os.Getenv(makeVariable); commit != "" {
		s.makeEarlier(t, buildOf(t, commit))
		return
	}
	testbed.RunIn(t, s.Dir, "tar", "-xzf", testbed.Absolute(t, earlierFiles))
	s.renamePins(t, earlierGossip, n.Gossip.String())
	certificate, keys := certificateOf(t, a), privateKeys(t, n)

	testbed.Start(t, s.Backends[0])
	testbed.Start(t, n)
	s.Ready(t, n)
	s.asBefore(t, n, "")
	if now := privateKeys(t, n); !maps.Equal(keys, now) {
		t.Errorf("there are other keys than before: %d files, %d before", len(now), len(keys))
	}
	before, err := n.Client.Agent(t.Context(), a.Name)
	if err != nil {
		t.Fatal(err)
	}
	testbed.Start(t, a)
	if time.Now().Before(certificate.NotAfter) {
		s.Status(t, n, s.Backends[0], testbed.StartBound, testbed.WantSound)
	} else { // these files are more than a year old
		testbed.Until(t, testbed.StartBound, "the agent to say that its certificate has expired",
			func(context.Context) error { return testbed.Said(a.Unit, "expired") })
	}
	if !certificateOf(t, a).Equal(certificate) {
		t.Error("the agent has made itself another certificate")
	}
	if now, err := n.Client.Agent(t.Context(), a.Name); err != nil || now.Fingerprint != before.Fingerprint {
		t.Errorf("the pin was %s, and is %+v (%v)", before.Fingerprint, now, err)
	}
	if _, err := os.Stat(filepath.Join(n.File.DataDir, "gslb.db.schema-1")); err != nil {
		t.Errorf("the store of before: %v", err)
	}
}

// makeEarlier has programs of before make their directories, and packs them.
func (s *site) makeEarlier(t *testing.T, before harness.Binaries) {
	n, a, ctx, yes := s.Nodes[0], s.Agents[0], t.Context(), true
	n.Use(before.Overwatch)
	a.Use(before.Agent)
	s.StartAll(t)
	_, domainErr := n.Client.CreateDomain(ctx, api.DomainChange{"name": keptDomain})
	_, serverErr := n.Client.CreateServer(ctx, api.ServerCreate{Service: keptDomain, Address: "192.0.2.9", Port: 80,
		Region: "eu"})
	_, overrideErr := n.Client.SetOverride(ctx, keptDomain, "192.0.2.9",
		api.OverrideRequest{Healthy: &yes, Reason: "kept over the upgrade"})
	if err := errors.Join(domainErr, serverErr, overrideErr); err != nil {
		t.Fatal(err)
	}
	testbed.Saved()
	if err := errors.Join(a.Stop(), n.Stop()); err != nil {
		t.Fatal(err)
	}
	s.renamePins(t, n.Gossip.String(), earlierGossip)
	testbed.RunIn(t, s.Dir, "tar", "--owner=0", "--group=0", "-czf", testbed.Absolute(t, earlierFiles), n.Name+"/data",
		a.Name+"/data")
}

// renamePins makes the agent know the node by another gossip address, since it is at another each time.
func (s *site) renamePins(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(s.Agents[0].File.DataDir, func(path string, _ os.DirEntry, err error) error {
		if name := filepath.Base(path); err == nil && strings.Contains(name, from) {
			err = os.Rename(path, filepath.Join(filepath.Dir(path), strings.ReplaceAll(name, from, to)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func certificateOf(t *testing.T, a *harness.Agent) *x509.Certificate {
	t.Helper()
	text := testbed.Read(t, filepath.Join(a.File.DataDir, "agent.crt"))
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		t.Fatalf("no certificate: %s", text)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

// privateKeys returns the private DNSSEC keys of a node, by file.
func privateKeys(t *testing.T, n *harness.Node) map[string]string {
	t.Helper()
	keys := map[string]string{}
	for _, path := range testbed.KeyFilesOf(t, n) {
		keys[filepath.Base(path)] = testbed.Read(t, path)
	}
	return keys
}
