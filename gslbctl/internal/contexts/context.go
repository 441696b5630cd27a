package contexts

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"

	"gslb.internal/shared/api"
)

// Context is one cluster: its nodes, and what it takes to be let in.
type Context struct {
	Nodes      []Node `yaml:"nodes" json:"nodes"`
	CA         string `yaml:"ca,omitempty" json:"ca,omitempty"`                   // file of certificates, PEM, that are trusted in place of the system's
	ClientCert string `yaml:"client_cert,omitempty" json:"client_cert,omitempty"` // file of the certificate to show, PEM
	ClientKey  string `yaml:"client_key,omitempty" json:"client_key,omitempty"`   // file of its key, PEM
	ServerName string `yaml:"server_name,omitempty" json:"server_name,omitempty"` // the name the nodes' certificates must have; empty: the host in their address
	Token      string `yaml:"token,omitempty" json:"-"`                           // secret
	TokenFile  string `yaml:"token_file,omitempty" json:"token_file,omitempty"`   // file of the token
}

// Node is where one node is reached.
type Node struct {
	API string `yaml:"api" json:"api"`                     // as api.ParseNode takes it
	DNS string `yaml:"dns,omitempty" json:"dns,omitempty"` // host:port; empty: port 53 of the API's host
}

// nameForm is what a context may be called: short, and safe in a shell.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// CheckName refuses what is not the name of a context.
func CheckName(name string) error {
	if !nameForm.MatchString(name) {
		return fmt.Errorf("%q is not the name of a context: letters, digits, dots, hyphens and underscores, at most 64", name)
	}
	return nil
}

// Check refuses what no request could be made with.
func (c Context) Check() error {
	if len(c.Nodes) == 0 {
		return errors.New("it names no node: give --api host:port")
	}
	for _, n := range c.Nodes {
		base, err := api.ParseNode(n.API)
		if err != nil {
			return err
		}
		if _, err := n.DNSAddress(); err != nil {
			return err
		}
		if (c.Token != "" || c.TokenFile != "") && !Private(base) {
			return fmt.Errorf("a token for %s would cross the network unencrypted: write https://", base)
		}
	}
	switch {
	case (c.ClientCert == "") != (c.ClientKey == ""):
		return errors.New("client_cert and client_key come together, and one of them is missing")
	case c.Token != "" && c.TokenFile != "":
		return errors.New("token and token_file are both set, and only one of them may be")
	}
	return nil
}

// Private says whether what goes to a node, as api.ParseNode takes it, stays on
// this machine or is encrypted on the way.
func Private(node string) bool {
	base, err := api.ParseNode(node)
	if err != nil {
		return false
	}
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	if u.Scheme == "https" || u.Hostname() == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return err == nil && addr.Unmap().IsLoopback()
}

// dnsPort is where a node answers DNS unless its context says otherwise.
const dnsPort = "53"

// DNSAddress is where the node answers DNS, as host:port.
func (n Node) DNSAddress() (string, error) {
	if n.DNS == "" {
		base, err := api.ParseNode(n.API)
		if err != nil {
			return "", err
		}
		u, err := url.Parse(base)
		if err != nil {
			return "", err
		}
		return net.JoinHostPort(u.Hostname(), dnsPort), nil
	}
	if addr, err := netip.ParseAddr(n.DNS); err == nil {
		return net.JoinHostPort(addr.String(), dnsPort), nil
	}
	host, port, err := net.SplitHostPort(n.DNS)
	if err != nil || host == "" {
		return "", fmt.Errorf("%q is not where a node answers DNS: give host:port, such as 192.0.2.1:53", n.DNS)
	}
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
		return "", fmt.Errorf("%q is not where a node answers DNS: the port is %q and must be a number from 1 to 65535", n.DNS, port)
	}
	return n.DNS, nil
}
