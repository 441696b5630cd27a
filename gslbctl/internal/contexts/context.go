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

// Context is a cluster: its nodes and the credentials for them.
type Context struct {
	Nodes []Node `yaml:"nodes" json:"nodes"`
	// CA is the path of a PEM file with trusted certificates. They replace the certificates of the system.
	CA         string `yaml:"ca,omitempty" json:"ca,omitempty"`
	ClientCert string `yaml:"client_cert,omitempty" json:"client_cert,omitempty"` // path of the client certificate (PEM)
	ClientKey  string `yaml:"client_key,omitempty" json:"client_key,omitempty"`   // path of its private key (PEM)
	// ServerName is the name in the certificates of the nodes; empty: the host of their address.
	ServerName string `yaml:"server_name,omitempty" json:"server_name,omitempty"`
	Token      string `yaml:"token,omitempty" json:"-"`                         // secret
	TokenFile  string `yaml:"token_file,omitempty" json:"token_file,omitempty"` // path of the token file
}

// Node holds the addresses of a node.
type Node struct {
	API string `yaml:"api" json:"api"`                     // in a form that api.ParseNode accepts
	DNS string `yaml:"dns,omitempty" json:"dns,omitempty"` // host:port; empty: port 53 of the API's host
}

// nameForm matches the name of a context: short, and without special characters of shells.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// CheckName returns an error for a text that is not a valid context name.
func CheckName(name string) error {
	if !nameForm.MatchString(name) {
		return fmt.Errorf("%q is not the name of a context: letters, digits, dots, hyphens and underscores, at most 64",
			name)
	}
	return nil
}

// Check returns an error for an invalid context.
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

// Private reports whether requests to a node stay on this machine or are encrypted. The node is in a form that
// api.ParseNode accepts.
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

// dnsPort is a node's default DNS port.
const dnsPort = "53"

// DNSAddress returns the node's DNS address, as host:port.
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
		return "", fmt.Errorf("%q is not where a node answers DNS: the port is %q and must be a number from 1 to 65535",
			n.DNS, port)
	}
	return n.DNS, nil
}
