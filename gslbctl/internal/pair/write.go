package pair

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"text/template"
)

//go:embed overwatch.yaml.tmpl
var overwatchText string

//go:embed agent.yaml.tmpl
var agentText string

// TokenFile is the name of the file with the administrator's token.
const TokenFile = "admin.token"

// Files are the paths of the written configurations.
type Files struct {
	Overwatch []string `json:"overwatch"` // in the order of the nodes
	Agent     string   `json:"agent"`
	Token     string   `json:"admin_token"` // file of the token with all rights
}

// facts are the values that the templates show.
type facts struct {
	Plan
	GossipKey  string
	SyncSecret string
	AdminToken string
	Tokens     map[string]string
	Kind       string // of the health check
	Path       string
}

// nodeFacts are the values for the template of a node.
type nodeFacts struct {
	facts
	Node  Node
	Data  string   // data directory; empty: the default
	Peers []string // API addresses of the other nodes
}

// Write creates all files in a directory, with mode 0600, or none of them. An existing file is an error and stays
// unchanged.
func Write(dir string, plan Plan) (Files, Plan, error) {
	plan, err := plan.Complete()
	if err != nil {
		return Files{}, plan, err
	}
	f := plan.facts()
	files := Files{Agent: filepath.Join(dir, "agent.yaml"), Token: filepath.Join(dir, TokenFile)}
	texts := map[string][]byte{files.Token: []byte(f.AdminToken + "\n")}
	for i := range plan.Nodes {
		base := plan.base(i)
		path := filepath.Join(dir, base+".yaml")
		if texts[path], err = fill(path, overwatchText, f.node(i, base)); err != nil {
			return Files{}, plan, err
		}
		files.Overwatch = append(files.Overwatch, path)
	}
	if texts[files.Agent], err = fill(files.Agent, agentText, f); err != nil {
		return Files{}, plan, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Files{}, plan, fmt.Errorf("making the directory of the configurations: %w", err)
	}
	var made []string
	for _, path := range append(slices.Clone(files.Overwatch), files.Agent, files.Token) {
		if err := create(path, texts[path]); err != nil {
			for _, path := range made {
				os.Remove(path)
			}
			return Files{}, plan, err
		}
		made = append(made, path)
	}
	return files, plan, nil
}

// base returns the base name of a node's file and directory.
func (p *Plan) base(i int) string {
	if len(p.Nodes) == 1 {
		return "overwatch"
	}
	return "overwatch-" + p.Nodes[i].Name
}

// facts returns the template values, with new secrets.
func (p *Plan) facts() facts {
	f := facts{Plan: *p, GossipKey: GossipKey(), SyncSecret: Token(), AdminToken: Token(),
		Tokens: map[string]string{}}
	f.Kind, f.Path, _ = p.check()
	for _, s := range p.Services {
		f.Tokens[s.Name] = Token()
	}
	return f
}

func (f facts) node(i int, base string) nodeFacts {
	n := nodeFacts{facts: f, Node: f.Nodes[i]}
	if f.DataDir != "" {
		n.Data = f.DataDir + "/" + base
	}
	for k := range f.Nodes {
		if other := &f.Nodes[k]; k != i {
			n.Peers = append(n.Peers, "http://"+other.reach(other.API))
		}
	}
	return n
}

// AgentsReach returns the addresses of the nodes for agents.
func (f facts) AgentsReach() (list []string) {
	for i := range f.Nodes {
		list = append(list, f.Nodes[i].reach(f.Nodes[i].Gossip))
	}
	return list
}

// Networks returns the networks that the API accepts if nodes send requests to each other.
func (f facts) Networks() []string {
	list := []string{"127.0.0.1/32", "::1/128"}
	for _, n := range f.Nodes {
		for _, address := range n.Addresses {
			if network := netip.PrefixFrom(address, address.BitLen()).String(); !slices.Contains(list, network) {
				list = append(list, network)
			}
		}
	}
	return list
}

// Nameservers returns the nodes' names in the zone.
func (p Plan) Nameservers() (list []string) {
	for _, n := range p.Nodes {
		list = append(list, n.Name+"."+p.Zone)
	}
	return list
}

// Glue returns the address records of the nodes' names.
func (p Plan) Glue() (list []string) {
	for i, name := range p.Nameservers() {
		list = append(list, glue(name, p.Nodes[i].Addresses)...)
	}
	return list
}

// glue returns the address records of a name.
func glue(name string, addresses []netip.Addr) (list []string) {
	for _, address := range addresses {
		kind := "A"
		if address.Is6() {
			kind = "AAAA"
		}
		list = append(list, fmt.Sprintf("%s. 3600 IN %s %s", name, kind, address))
	}
	return list
}

// Delegation returns the records for the parent zone, without the DS records.
func (p Plan) Delegation() (list []string) {
	for _, name := range p.Nameservers() {
		list = append(list, fmt.Sprintf("%s. 3600 IN NS %s.", p.Zone, name))
	}
	return append(list, p.Glue()...)
}

func fill(name, text string, with any) ([]byte, error) {
	quoted := template.FuncMap{"quote": func(v any) (string, error) {
		encoded, err := json.Marshal(v) // JSON texts are valid YAML
		return string(encoded), err
	}}
	t, err := template.New(name).Funcs(quoted).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("template of %s: %w", name, err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, with); err != nil {
		return nil, fmt.Errorf("template of %s: %w", name, err)
	}
	return out.Bytes(), nil
}

func create(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: name another directory, or move it away", path)
	}
	if err != nil {
		return fmt.Errorf("writing the configuration: %w", err)
	}
	_, err = file.Write(text)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		os.Remove(path)
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// gossipKeySize is the size of a gossip key in octets: AES-256.
const gossipKeySize = 32

// GossipKey returns a random gossip key in the form of encryption_key.
func GossipKey() string {
	key := make([]byte, gossipKeySize)
	_, _ = rand.Read(key) // never fails
	return base64.StdEncoding.EncodeToString(key)
}

// Token returns a random service token: 52 characters of 5 random bits each, which need no quotes in any format. The
// recommended minimum is 32 characters.
func Token() string { return rand.Text() + rand.Text() }
