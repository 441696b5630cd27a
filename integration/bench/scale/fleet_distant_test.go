package scale_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gslb.internal/integration/harness/agent"
	"gslb.internal/integration/harness/fleet"
)

// fleetPart is the environment variable that makes a second process of these tests a fleet of agents without tests. The
// agents of three nodes need more open files than a process may have.
const fleetPart = "INTEGRATION_FLEET"

// fleetOrder is the first line of input of such a process, in JSON.
type fleetOrder struct {
	Dir    string // directory of the agents' identities
	Key    string // gossip key
	Node   netip.AddrPort
	Tokens map[string]string // by service; the shared services of the agents begin with s
	Count  int
}

// playFleet creates the agents of an order, prints "made", runs them from the second line of the input on, and prints
// the number of registered agents, until the end of the input.
func playFleet() int {
	if err := fleetOf(bufio.NewReader(os.Stdin)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func fleetOf(in *bufio.Reader) error {
	text, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	var order fleetOrder
	if err := json.Unmarshal(text, &order); err != nil {
		return err
	}
	cipher, err := agent.NewCipher(order.Key)
	if err != nil {
		return err
	}
	agents := make([]*fleet.Agent, order.Count)
	for i := range agents {
		service := fmt.Sprintf("s%d.test.gslb.test", i%fleetServices)
		if agents[i], err = fleet.New(order.Dir, i, cipher, order.Node, service, order.Tokens[service], nil); err != nil {
			return err
		}
	}
	fmt.Println("made")
	if _, err := in.ReadString('\n'); err != nil {
		return err
	}
	f := &fleetRun{}
	end := f.begin(agents)
	defer end()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, in)
	}()
	for {
		fmt.Println(f.registered.Load())
		select {
		case <-ended:
			return nil
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// distantFleet is a fleet in a separate process, which ends with the test.
type distantFleet struct {
	registered atomic.Int64
	in         io.Writer
}

// newDistantFleet starts a fleet in a separate process, and returns after the creation of its agents.
func newDistantFleet(t *testing.T, order *fleetOrder) *distantFleet {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), fleetPart+"=1")
	c.Stderr = t.Output()
	in, inErr := c.StdinPipe()
	out, outErr := c.StdoutPipe()
	if err := errors.Join(inErr, outErr, c.Start()); err != nil {
		t.Fatal(err)
	}
	f, lines, ended := &distantFleet{in: in}, bufio.NewScanner(out), make(chan struct{})
	t.Cleanup(func() {
		in.Close()
		<-ended
		if err := c.Wait(); err != nil {
			t.Errorf("the process of a fleet: %v", err)
		}
	})
	text, err := json.Marshal(order)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write(append(text, '\n')); err != nil {
		t.Fatal(err)
	}
	made := lines.Scan() && lines.Text() == "made"
	go func() {
		defer close(ended)
		for lines.Scan() {
			if n, err := strconv.ParseInt(strings.TrimSpace(lines.Text()), 10, 64); err == nil {
				f.registered.Store(n)
			}
		}
	}()
	if !made {
		t.Fatal("the process of a fleet made no agents")
	}
	return f
}

// begin starts the agents.
func (f *distantFleet) begin(t *testing.T) {
	t.Helper()
	if _, err := f.in.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
}
