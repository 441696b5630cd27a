package manifest

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// place is the place of an object: a file and the node of the object in it.
type place struct {
	file string
	node *yaml.Node
}

// problemKey matches a key at the start of a problem, such as health_check.type.
var problemKey = regexp.MustCompile(`^[a-z_]+(\.[a-z_]+)*`)

// Place returns an object of a problem with its file, line and column, such as "shop.yaml:12:5: domains[3]". If the
// problem begins with a key of the object, the line is that of the value. Nodes name an object by its index in a list,
// or by kind and name, as in "domain shop.example.com".
func (m *Manifest) Place(object, problem string) string {
	at, known := m.places[object]
	if !known {
		at, known = m.places[strings.ToLower(object)]
	}
	if !known {
		return object
	}
	key := problemKey.FindString(problem)
	n := valueOf(at.node, key)
	if n == at.node {
		n = valueOf(at.node, key+"s") // a problem of an element of a list, such as regions
	}
	return fmt.Sprintf("%s:%d:%d: %s", at.file, n.Line, n.Column, object)
}

// remember stores the place of an object under its index in a list and under its kind and name.
func (m *Manifest) remember(key string, index int, file string, n *yaml.Node) {
	at := place{file, n}
	m.places[fmt.Sprintf("%s[%d]", key, index)] = at
	kind := strings.TrimSuffix(key, "s")
	for _, name := range namesOf(n) {
		m.places[kind+" "+strings.ToLower(name)] = at
	}
}

// namesOf returns the names by which problem messages of nodes can refer to an object: its name, code, id, network, or
// the id of a server.
func namesOf(n *yaml.Node) (names []string) {
	text := func(key string) string {
		if v := valueOf(n, key); v != n && v.Kind == yaml.ScalarNode {
			return v.Value
		}
		return ""
	}
	for _, key := range []string{"name", "code", "id"} {
		if name := strings.TrimSuffix(text(key), "."); name != "" {
			names = append(names, name)
		}
	}
	if network, err := netip.ParsePrefix(text("cidr")); err == nil {
		names = append(names, network.Masked().String())
	}
	if service := strings.TrimSuffix(text("service"), "."); service != "" {
		address := text("address") + text("target")
		if ip, err := netip.ParseAddr(address); err == nil {
			address = ip.String()
		}
		names = append(names, service+":"+address+":"+text("port"))
	}
	return names
}

// valueOf returns the value at a path of keys, such as health_check.type. If there is no such value, it returns the
// object.
func valueOf(n *yaml.Node, path string) *yaml.Node {
	key, rest, _ := strings.Cut(path, ".")
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			if rest != "" {
				return valueOf(n.Content[i+1], rest)
			}
			return n.Content[i+1]
		}
	}
	return n
}

// wrong returns an error about a node of a file.
func wrong(name string, n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d:%d: %s", name, n.Line, n.Column, fmt.Sprintf(format, args...))
}
