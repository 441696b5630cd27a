package trust_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"gslb.internal/integration/harness/agent"
)

// worstPart is the environment variable that makes the test program run the hostile agents instead of tests. In
// production, hostile agents have separate processors. This process therefore has the lowest priority.
const worstPart = "INTEGRATION_WORST"

// worstOrder is the first line of input of the process, in JSON. The process attacks until its input ends.
type worstOrder struct {
	Dir    string // of the agents' identities
	Key    string // of gossip
	Node   netip.AddrPort
	Tokens []string // of each service in turn
	Others []netip.AddrPort
	Seed   uint64
}

func playWorst() int {
	if err := worstOf(bufio.NewReader(os.Stdin)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func worstOf(in *bufio.Reader) error {
	text, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	var order worstOrder
	if err := json.Unmarshal(text, &order); err != nil {
		return err
	}
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, 19); err != nil {
		return err
	}
	cipher, err := agent.NewCipher(order.Key)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	for i, token := range order.Tokens {
		a, err := agent.New(agent.Options{
			Dir: order.Dir, Name: worstName(i), Cipher: cipher, Node: order.Node,
			Tokens: map[string]string{siegeService(i): token},
			Source: netip.AddrFrom4([4]byte{127, 85, 0, byte(1 + i)}),
		})
		if err != nil {
			return err
		}
		w := &worst{
			Agent: a, service: siegeService(i), others: order.Others, dir: order.Dir,
			random: rand.New(rand.NewPCG(order.Seed, uint64(i))),
		}
		group.Go(func() { w.run(ctx) })
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

func worstName(i int) string { return fmt.Sprintf("worst-%02d", i) }

// startWorst starts the hostile agents. They attack until the test ends or end is called.
func startWorst(t *testing.T, order *worstOrder) (end func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(order)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), worstPart+"=1")
	c.Stderr = t.Output()
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		in.Close()
		if err := c.Wait(); err != nil {
			t.Errorf("the hostile agents: %v", err)
		}
	})
	t.Cleanup(end)
	if _, err := in.Write(append(text, '\n')); err != nil {
		t.Fatal(err)
	}
	return end
}
