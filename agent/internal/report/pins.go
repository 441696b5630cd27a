package report

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gslb.internal/shared/durable"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// pinsDir is the directory under data_dir with a file per address of an overwatch node.
const pinsDir = "overwatch_pins"

// pins stores the first certificate of each overwatch node. After the setup of a new node under the same address, the
// operator deletes the file named in the error; the next attempt pins the new certificate.
type pins struct {
	dir string

	mu     sync.Mutex
	unkept map[string]identity.KeyID // pins that are not stored yet because of a write error
}

// openPins creates the directory of pins.
func openPins(dataDir string) (*pins, error) {
	dir := filepath.Join(dataDir, pinsDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("agent.data_dir: %w; it must be writable for this user", err)
	}
	return &pins{dir: dir, unkept: make(map[string]identity.KeyID)}, nil
}

// errOtherCertificate means that a node's certificate differs from the pinned certificate.
var errOtherCertificate = errors.New("another certificate than the pinned one")

// check compares the certificate of the node at address with its pin, or pins it. It stores the node id of an accepted
// certificate. An error that wraps errNotKept means that the certificate is accepted and its pin is only in memory.
func (p *pins) check(address string, shown identity.KeyID, nodeID string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	path := filepath.Join(p.dir, address)
	pinned, text, err := readPin(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p.first(path, address, shown, nodeID)
	}
	if err != nil {
		return err
	}
	if pinned != shown {
		return fmt.Errorf("%w: it shows %s, pinned was %s; if the node was set up anew, delete %s",
			errOtherCertificate, shown.Fingerprint(), pinned.Fingerprint(), path)
	}
	if nodeOf(text) != nodeID { // pinned by version 0.9.0, or the node was renamed
		if changed := withNode(text, nodeID); changed != text && len(changed) <= maxPin {
			_ = durable.WriteFile(path, []byte(changed), 0o600) // the next Hello retries it
		}
	}
	return nil
}

// nodeLine is the prefix of the line with the node id in a pin file. Version 0.9.0 treats the line as a comment.
const nodeLine = "# node_id: "

// nodeOf returns the node id in the text of a pin file, or "".
func nodeOf(text string) string {
	for line := range strings.Lines(text) {
		if id, found := strings.CutPrefix(line, nodeLine); found {
			return strings.TrimSpace(id)
		}
	}
	return ""
}

// withNode returns the text of a pin file with another node id.
func withNode(text, nodeID string) string {
	lines := slices.DeleteFunc(strings.SplitAfter(text, "\n"), func(line string) bool {
		return strings.HasPrefix(line, nodeLine)
	})
	if identity.ValidateID(nodeID) == nil {
		lines = slices.Insert(lines, 0, nodeLine+nodeID+"\n")
	}
	return strings.Join(lines, "")
}

// node returns the id of the node with the pinned certificate at an address, or "" if it is unknown.
func (p *pins) node(address string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, text, _ := readPin(filepath.Join(p.dir, address)) // check reports the error
	return nodeOf(text)
}

// errNotKept means that a pin could not be written. The pin is valid for this process.
var errNotKept = errors.New("the pin of the node's certificate could not be stored")

func (p *pins) first(path, address string, shown identity.KeyID, nodeID string) error {
	if before, ok := p.unkept[address]; ok && before != shown {
		return fmt.Errorf("%w: it shows %s, at first use it showed %s; if the node was set up anew, restart the agent",
			errOtherCertificate, shown.Fingerprint(), before.Fingerprint())
	}
	text := fmt.Sprintf(
		"# Certificate of the overwatch node at %s, pinned at first use.\n# Delete this file to let the agent accept "+
			"another one.\n%s\n",
		address, shown.Fingerprint())
	if err := durable.WriteFile(path, []byte(withNode(text, nodeID)), 0o600); err != nil {
		p.unkept[address] = shown
		return fmt.Errorf("%w: %w", errNotKept, err)
	}
	delete(p.unkept, address)
	return nil
}

// replace replaces the pinned certificate of the node at address. by is the node that introduced the new certificate.
func (p *pins) replace(address string, introduced wire.NodeCertificate, by string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	fingerprint := identity.KeyID(introduced.KeyID).Fingerprint()
	text := withNode(fmt.Sprintf("# Certificate of the overwatch node at %s, introduced by the overwatch node %s.\n"+
		"# Delete this file to let the agent accept another one.\n%s\n", address, by, fingerprint), introduced.NodeID)
	if err := durable.WriteFile(filepath.Join(p.dir, address), []byte(text), 0o600); err != nil {
		return err
	}
	delete(p.unkept, address)
	return nil
}

// maxPin is the maximum size of a pin file in bytes.
const maxPin = 1024

// readPin returns the text of a pin file and the key in the only line that is not a comment.
func readPin(path string) (key identity.KeyID, text string, err error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return key, "", err
	}
	text = string(content)
	if len(text) <= maxPin {
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			digits, found := strings.CutPrefix(line, "sha256:")
			n, err := hex.Decode(key[:], []byte(digits[:min(len(digits), 2*len(key))]))
			if found && err == nil && n == len(key) && len(digits) == 2*len(key) {
				return key, text, nil
			}
			break
		}
	}
	return key, "",
		fmt.Errorf(
			"%s is damaged: it must hold sha256:<64 hexadecimal digits>; restore it, or delete it to pin the node's "+
				"certificate anew", path)
}
