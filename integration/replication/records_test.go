package replication_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// challenge is a name for challenges of ACME.
const challenge = "_acme-challenge.test.gslb.test"

// texts returns the TXT data that a node answers for a name, in order. The answer must have a valid signature.
func texts(t *testing.T, n *harness.Node, name string) ([]string, error) {
	t.Helper()
	reply := testbed.AskNode(t, n, "tcp", name, dns.TypeTXT, 4096, true)
	var set []dns.RR
	var list []string
	var sig *dns.RRSIG
	for _, rr := range reply.Answer {
		switch rr := rr.(type) {
		case *dns.TXT:
			set, list = append(set, rr), append(list, strings.Join(rr.Txt, ""))
		case *dns.RRSIG:
			sig = rr
		}
	}
	slices.Sort(list)
	if len(set) == 0 {
		return nil, nil
	}
	if sig == nil {
		return list, errors.New("the answer has no signature")
	}
	for _, rr := range testbed.AskNode(t, n, "tcp", sig.SignerName, dns.TypeDNSKEY, 4096, true).Answer {
		if key, is := rr.(*dns.DNSKEY); is && key.KeyTag() == sig.KeyTag {
			return list, sig.Verify(key, set)
		}
	}
	return list, fmt.Errorf("no key %d", sig.KeyTag)
}

// answersTexts waits until nodes answer a name with TXT data.
func answersTexts(t *testing.T, name string, want []string, nodes ...*harness.Node) {
	t.Helper()
	for _, n := range nodes {
		testbed.Until(t, reachBound, fmt.Sprintf("%s to answer %s with %v", n.Name, name, want),
			func(context.Context) error {
				got, err := texts(t, n, name)
				if err == nil && !slices.Equal(got, want) {
					err = fmt.Errorf("it answers %v", got)
				}
				return err
			})
	}
}

func txt(name, data string, more ...any) api.RecordSetChange {
	req := api.RecordSetChange{"name": name, "type": "TXT", "ttl": 5, "data": []string{data}}
	for i := 0; i < len(more); i += 2 {
		req[more[i].(string)] = more[i+1]
	}
	return req
}

// Records that two nodes receive at the same time both stay on all nodes, with valid signatures, also after a kill. A
// record is in the answers when the call returns, and disappears from all nodes at its end. An undo restores it.
func TestReplication_RecordsOfAllNodesStay(t *testing.T) {
	t.Parallel()
	s := site(t)
	a, b, c := s.Nodes[0], s.Nodes[1], s.Nodes[2]
	s.StartNodes(t, s.Nodes...)
	var both sync.WaitGroup
	for i, n := range []*harness.Node{a, b} {
		both.Go(func() {
			data := []string{`"one"`, `"two"`}[i]
			if _, err := n.Client.AddRecords(t.Context(), txt(challenge, data)); err != nil {
				t.Error(err)
			}
			if got, err := texts(t, n, challenge); err != nil || !slices.Contains(got, strings.Trim(data, `"`)) {
				t.Errorf("%s answers %v, %v after the call", n.Name, got, err)
			}
		})
	}
	both.Wait()
	answersTexts(t, challenge, []string{"one", "two"}, s.Nodes...)

	ends := time.Now().Add(4 * time.Second)
	if _, err := c.Client.AddRecords(t.Context(), txt(challenge, "three", "expires_at", ends)); err != nil {
		t.Fatal(err)
	}
	answersTexts(t, challenge, []string{"one", "three", "two"}, s.Nodes...)
	testbed.Kill(t, b)
	testbed.Until(t, reachBound, "the end of a record", func(context.Context) error {
		got, err := texts(t, a, challenge)
		if err == nil && len(got) == 3 {
			err = errors.New("it is there")
		}
		return err
	})
	if early := time.Until(ends); early > 0 {
		t.Errorf("the record ended %s early", early)
	}
	s.StartNodes(t, b)
	answersTexts(t, challenge, []string{"one", "two"}, s.Nodes...)
	testbed.Until(t, reachBound, "the audit entry", func(ctx context.Context) error {
		list, err := a.Client.AuditLog(ctx, map[string][]string{"actions": {"expire"}})
		if err == nil && (len(list.Entries) != 1 || list.Entries[0].ResourceID != challenge+" TXT") {
			err = fmt.Errorf("%+v", list.Entries)
		}
		return err
	})

	if err := a.Client.DeleteRecords(t.Context(), challenge, "TXT", "two"); err != nil {
		t.Fatal(err)
	}
	answersTexts(t, challenge, []string{"one"}, s.Nodes...)
	if undone, err := a.Client.Undo(t.Context(), "last"); err != nil {
		t.Errorf("%+v, %v", undone, err)
	}
	answersTexts(t, challenge, []string{"one", "two"}, s.Nodes...)
	alike(t, a, c)

	_, err := a.Client.AddRecords(t.Context(), api.RecordSetChange{"name": testbed.AppName, "type": "A",
		"data": []string{"192.0.2.1"}})
	if err == nil || !strings.Contains(err.Error(), testbed.AppName+". is a load-balanced domain") {
		t.Errorf("an address of a load-balanced name: %v", err)
	}
}

// An alias and a text that two separated nodes add at the same name have the same outcome on both nodes: the text is
// served, and the alias is reported as without effect.
func TestReplication_ConflictingRecordsHaveOneOutcome(t *testing.T) {
	t.Parallel()
	s := site(t)
	a, b := s.Nodes[0], s.Nodes[1]
	s.StartNodes(t, a, b)
	name := "both.test.gslb.test"
	testbed.Kill(t, b)
	if _, err := a.Client.AddRecords(t.Context(), api.RecordSetChange{"name": name, "type": "CNAME",
		"data": []string{testbed.AppName}}); err != nil {
		t.Fatal(err)
	}
	testbed.Kill(t, a)
	s.StartNodes(t, b)
	if _, err := b.Client.PutRecords(t.Context(), name, "TXT", api.RecordSetChange{"ttl": 5,
		"data": []string{"text"}}); err != nil {
		t.Fatal(err)
	}
	s.StartNodes(t, a)
	answersTexts(t, name, []string{"text"}, a, b)
	for _, n := range []*harness.Node{a, b} {
		testbed.Until(t, reachBound, "the report of the alias", func(ctx context.Context) error {
			list, err := n.Client.Records(ctx, name)
			if err == nil && (len(list.Records) != 2 || !strings.Contains(list.Records[0].Records[0].Omitted, "TXT")) {
				err = fmt.Errorf("%+v", list.Records)
			}
			return err
		})
	}
}
