package soak_test

import (
	"fmt"
	"net/netip"
	"os/exec"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
)

// auditIsWhole verifies the audit log of a node with gslbctl, on the machine of the node.
func (k *soak) auditIsWhole(t *testing.T, n *harness.Node) {
	t.Helper()
	c := exec.CommandContext(t.Context(), testbed.Binaries(t).Control, "--api", n.API.String(), "audit", "verify")
	var out []byte
	err := signed.OnMachineOf(n, func() (err error) { out, err = c.CombinedOutput(); return err })
	if err != nil {
		t.Errorf("the audit log of %s: %v: %s", n.Name, err, out)
	}
}

// judge checks the invariants for all answers that clients received since the last call.
func (k *soak) judge(t *testing.T) {
	for _, n := range k.Nodes {
		up, running := k.up[n]
		if !running {
			continue
		}
		answers := k.watchOf(n).Since(n, testbed.AppName, k.judged[n])
		last := k.judged[n]
		for _, a := range answers {
			last = a.At.Add(1)
			if a.Asked().Before(serves(up)) {
				continue // it was starting when it was asked
			}
			k.answers++
			if !a.Good() { // two backends are always well
				t.Errorf("I1: %s failed a lookup at %s: %+v", n.Name, a.At.Format("15:04:05.000"), a)
				continue
			}
			for _, addr := range a.Addrs {
				k.judgeAddress(t, n, a, addr)
			}
		}
		k.judged[n] = last
	}
	k.verify(t)
}

// judgeAddress checks I2 and I3 for one address of one answer.
func (k *soak) judgeAddress(t *testing.T, n *harness.Node, a harness.Answer, addr netip.Addr) {
	for i, b := range k.Backends {
		if b.At.Addr() != addr {
			continue
		}
		l := k.lives[i]
		from := l.since
		if up := serves(k.up[n]); up.After(from) {
			from = up // after a restart, the node must detect the death again
		}
		if k.ways != nil && k.ways.changed.After(from) {
			from = k.ways.changed // after a link has failed or returned, the node must also detect it again
		}
		if l.dead && a.At.Sub(from) > soakPatience+k.bound() {
			t.Errorf("I3: %s answered %s at %s, %s after its death, allowed are %s", n.Name, b.Name, a.At.Format("15:04:05.000"),
				a.At.Sub(l.since), k.bound())
		}
		return
	}
	t.Errorf("I2: %s answered %s, which no backend has", n.Name, addr)
}

// verify queries each running node for an existing and a missing name, and verifies all signatures (I4).
func (k *soak) verify(t *testing.T) {
	for i, n := range k.Nodes {
		if now := time.Now(); now.Before(serves(k.up[n])) {
			continue
		}
		for _, name := range []string{testbed.AppName, fmt.Sprintf("nx-%d.test.gslb.test", k.random.IntN(1000))} {
			q := new(dns.Msg).SetQuestion(dns.Fqdn(name), dns.TypeA)
			q.SetEdns0(1232, true)
			r, err := signed.Asked(q, n)
			if err != nil {
				t.Errorf("I1: %s over TCP: %v", n.Name, err)
				continue
			}
			count, err := signed.Verify(r, k.keys[i], time.Now())
			if err != nil {
				t.Errorf("%s: %v", n.Name, err)
			}
			k.verified += count
		}
	}
}
