package pair

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Joined describes a new node of an existing cluster: its file, and the changes for the other machines. Each list is
// complete and replaces the list in a configuration.
type Joined struct {
	Node     string   `json:"node"`
	File     string   `json:"file"`     // the configuration of the new node
	Existing string   `json:"existing"` // the node whose configuration was read
	Secrets  []string `json:"secrets"`  // secret files of the configuration, to copy unchanged
	// NewSecret reports that the cluster had no key exchange, and that key_sync.secret in File is new.
	NewSecret bool         `json:"new_secret"`
	API       string       `json:"api,omitempty"` // api.address of the existing node; "" if it stays
	Peers     []string     `json:"peers"`         // key_sync.peers of all nodes
	Networks  []string     `json:"allowed_networks"`
	Agents    []string     `json:"overwatch_nodes"` // of all agents
	Zones     []JoinedZone `json:"zones"`
	Parent    []string     `json:"parent"` // the new records for the parent zones
}

// JoinedZone has the name servers of a zone with the new node, and the new records.
type JoinedZone struct {
	Name        string   `json:"name"`
	Nameservers []string `json:"nameservers"`
	Records     []string `json:"records"`
}

// joiner edits the configuration of an existing node.
type joiner struct {
	document *yaml.Node
	node     Node
	existing string       // node_id
	address  []netip.Addr // of the existing node
	result   Joined
}

// Join writes the configuration of a new node into a directory. It copies the configuration of an existing node and
// replaces the name and the addresses. It replaces the region unless region is "". It overwrites no file.
func Join(dir, file string, node Node, region string) (*Joined, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--join: %w: name the configuration of an existing node", err)
	}
	j := &joiner{document: &yaml.Node{}, node: node}
	if err := yaml.Unmarshal(text, j.document); err != nil {
		return nil, fmt.Errorf("--join %s: %w", file, err)
	}
	if err := j.edit(region); err != nil {
		return nil, fmt.Errorf("--join %s: %w", file, err)
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(j.document), encoder.Close()); err != nil {
		return nil, fmt.Errorf("configuration of %s: %w", node.Name, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("directory of the configuration: %w", err)
	}
	j.result.File = filepath.Join(dir, "overwatch-"+node.Name+".yaml")
	return &j.result, create(j.result.File, out.Bytes())
}

// edit changes the document and sets the fields of the result.
func (j *joiner) edit(region string) error {
	j.existing = j.text("overwatch", "identity", "node_id")
	if j.existing == "" {
		return errors.New("overwatch.identity.node_id is missing: name the overwatch.yaml of a node")
	}
	if strings.EqualFold(j.existing, j.node.Name) {
		return fmt.Errorf("--node %s is the name of the existing node: give the new node another name", j.node.Name)
	}
	if len(j.node.Addresses) == 0 {
		return fmt.Errorf("--node %s has no address: it must be name=ip, such as %[1]s=203.0.113.10", j.node.Name)
	}
	j.result.Node, j.result.Existing = j.node.Name, j.existing
	if err := j.joinZones(); err != nil {
		return err
	}
	if len(j.address) == 0 {
		return fmt.Errorf("no zone has an address record of %s: add its name to nameservers and its address to records "+
			"of the zone", j.existing)
	}
	if err := j.checkAddresses(); err != nil {
		return err
	}
	j.set(scalar(j.node.Name), "overwatch", "identity", "node_id")
	if region != "" {
		j.set(scalar(region), "overwatch", "identity", "region")
	}
	if err := j.joinPeers(); err != nil {
		return err
	}
	for _, path := range [][]string{{"dns", "listen_address"}, {"overwatch", "gossip", "bind_address"},
		{"api", "address"}, {"metrics", "address"}} {
		j.moveListener(find(j.root(), path...))
	}
	walk(j.root(), func(key string, value *yaml.Node) {
		if strings.HasSuffix(key, "_file") && value.Kind == yaml.ScalarNode && value.Value != "" {
			j.result.Secrets = append(j.result.Secrets, value.Value)
		}
	})
	return nil
}

// checkAddresses returns an error if the existing node has a loopback address, or if the new node has an address of the
// existing node or of a peer. The listeners of several nodes on one machine require different ports.
func (j *joiner) checkAddresses() error {
	for _, address := range j.address {
		if address.IsLoopback() {
			return fmt.Errorf("the cluster runs on one machine (%s), and no other machine can join it: create it again "+
				"without --local, or with all nodes: gslbctl init DIRECTORY --local --node a --node b", address)
		}
	}
	used := slices.Clone(j.address)
	for _, peer := range values(find(j.root(), "overwatch", "dnssec", "key_sync", "peers")) {
		if at, err := url.Parse(peer); err == nil {
			if address, err := netip.ParseAddr(at.Hostname()); err == nil {
				used = append(used, address)
			}
		}
	}
	for _, address := range j.node.Addresses {
		if slices.Contains(used, address) {
			return fmt.Errorf("--node %s=%s: another node of the cluster has this address: give the new node another "+
				"address", j.node.Name, address)
		}
	}
	return nil
}

// joinZones adds the new node to the zones that have the existing node as a name server. The first label of a name
// server's name is the id of the node. joinZones returns an error if another node has the name of the new node.
func (j *joiner) joinZones() error {
	zones := find(j.root(), "dns", "zones")
	if zones == nil {
		return nil
	}
	for _, zone := range zones.Content {
		name := textOf(zone, "name")
		servers, records := find(zone, "nameservers"), find(zone, "records")
		if servers == nil {
			continue
		}
		old := slices.IndexFunc(servers.Content, func(s *yaml.Node) bool {
			label, _, _ := strings.Cut(plain(s.Value), ".")
			return label == strings.ToLower(j.existing)
		})
		if old < 0 {
			continue
		}
		owner := plain(servers.Content[old].Value)
		_, rest, _ := strings.Cut(owner, ".")
		added := JoinedZone{Name: name}
		server := j.node.Name + "." + rest
		if list := usesOf(server, values(servers), values(records)); list != "" {
			return fmt.Errorf("--node %s: another node of the cluster has this name: %s of the zone %s has %s: give the "+
				"new node another name, or delete the name of a removed node from the zone", j.node.Name, list,
				plain(name), plain(server))
		}
		servers.Content = append(servers.Content, scalar(server))
		added.Nameservers = values(servers)
		j.result.Parent = append(j.result.Parent, fmt.Sprintf("%s. 3600 IN NS %s.", plain(name), server))
		if addresses := addressesOf(owner, values(records)); len(addresses) > 0 {
			j.address = addresses
			added.Records = glue(server, j.node.Addresses)
			for _, record := range added.Records {
				records.Content = append(records.Content, scalar(record))
			}
			j.result.Parent = append(j.result.Parent, added.Records...)
		}
		j.result.Zones = append(j.result.Zones, added)
	}
	return nil
}

// usesOf returns the list of a zone that has the name of a server: "nameservers", "records", or "" for neither list.
func usesOf(server string, nameservers, records []string) string {
	same := func(name string) bool { return plain(name) == plain(server) }
	if slices.ContainsFunc(nameservers, same) {
		return "nameservers"
	}
	if slices.ContainsFunc(records, func(record string) bool {
		fields := strings.Fields(record)
		return len(fields) > 0 && same(fields[0])
	}) {
		return "records"
	}
	return ""
}

// joinPeers sets the peers, the secret and the allowed networks of the new node.
func (j *joiner) joinPeers() error {
	listen := j.text("api", "address")
	if listen == "" {
		listen = apiListener(1)
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("api.address is %q: it must be an address and a port, such as :%d", listen, apiPort)
	}
	if address, err := netip.ParseAddr(host); err == nil && address.IsLoopback() && !j.node.Addresses[0].IsLoopback() {
		j.result.API = ":" + port // the other nodes send requests to it
		j.set(scalar(j.result.API), "api", "address")
	}
	scheme := "http://"
	if find(j.root(), "api", "tls") != nil {
		scheme = "https://"
	}
	others := values(find(j.root(), "overwatch", "dnssec", "key_sync", "peers"))
	if own := scheme + net.JoinHostPort(j.address[0].String(), port); !slices.Contains(others, own) {
		others = append(others, own)
	}
	j.result.Peers = append(slices.Clone(others), scheme+net.JoinHostPort(j.node.Addresses[0].String(), port))
	j.set(list(others), "overwatch", "dnssec", "key_sync", "peers")
	keys := find(j.root(), "overwatch", "dnssec", "key_sync")
	if textOf(keys, "secret") == "" && textOf(keys, "secret_file") == "" {
		j.result.NewSecret = true
		j.set(scalar(Token()), "overwatch", "dnssec", "key_sync", "secret")
	}
	_, gossip, err := net.SplitHostPort(j.text("overwatch", "gossip", "bind_address"))
	if err != nil {
		gossip = fmt.Sprint(gossipPort)
	}
	networks := values(find(j.root(), "api", "allowed_networks"))
	if len(networks) == 0 {
		networks = []string{"127.0.0.1/32", "::1/128"}
	}
	for _, peer := range j.result.Peers {
		at, err := url.Parse(peer)
		if err != nil || at.Hostname() == "" {
			return fmt.Errorf("overwatch.dnssec.key_sync.peers has %q: it must be a URL such as http://203.0.113.10:8080", peer)
		}
		j.result.Agents = append(j.result.Agents, net.JoinHostPort(at.Hostname(), gossip))
		if address, err := netip.ParseAddr(at.Hostname()); err == nil {
			networks = appendNetwork(networks, address)
		}
	}
	for _, address := range append(slices.Clone(j.address), j.node.Addresses...) {
		networks = appendNetwork(networks, address)
	}
	j.result.Networks = networks
	j.set(list(networks), "api", "allowed_networks")
	return nil
}

// appendNetwork appends the network of an address unless networks contain the address.
func appendNetwork(networks []string, address netip.Addr) []string {
	for _, text := range networks {
		if network, err := netip.ParsePrefix(text); err == nil && network.Contains(address) {
			return networks
		}
	}
	return append(networks, netip.PrefixFrom(address, address.BitLen()).String())
}

// moveListener replaces the address of the existing node in a listener or a list of listeners. The replacement is the
// address of the new node at the same position.
func (j *joiner) moveListener(listener *yaml.Node) {
	if listener == nil {
		return
	}
	for _, one := range append([]*yaml.Node{listener}, listener.Content...) {
		host, port, err := net.SplitHostPort(one.Value)
		address, parseErr := netip.ParseAddr(host)
		if at := slices.Index(j.address, address); err == nil && parseErr == nil && at >= 0 {
			one.Value = net.JoinHostPort(j.node.Addresses[min(at, len(j.node.Addresses)-1)].String(), port)
		}
	}
}

// addressesOf returns the addresses of a name in the records of a zone file.
func addressesOf(name string, records []string) (list []netip.Addr) {
	for _, record := range records {
		fields := strings.Fields(record)
		if len(fields) < 3 || plain(fields[0]) != name {
			continue
		}
		if kind := strings.ToUpper(fields[len(fields)-2]); kind == "A" || kind == "AAAA" {
			if address, err := netip.ParseAddr(fields[len(fields)-1]); err == nil {
				list = append(list, address)
			}
		}
	}
	return list
}
