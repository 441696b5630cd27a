// Package externaldns implements the provider side of the ExternalDNS webhook protocol, version 1. It converts the
// endpoints of one Kubernetes cluster to servers of one owner, over the HTTP API of a node. Each cluster has its own
// owner. One name can have servers of several owners. Package cli calls it (gslbctl external-dns). It never changes
// objects of another owner and stores no state.
package externaldns

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"gslb.internal/shared/api"
)

// MediaType is the media type of all requests and answers with a body.
const MediaType = "application/external.dns.webhook+json;version=1"

// The supported properties of an endpoint. ExternalDNS reads them from the annotations
// external-dns.alpha.kubernetes.io/webhook-gslb-region and -port.
const (
	propertyRegion = "webhook/gslb-region"
	propertyPort   = "webhook/gslb-port"
)

// endpoint is the RRset of one type that ExternalDNS requests for a name: addresses, or host names for CNAME.
type endpoint struct {
	DNSName          string            `json:"dnsName,omitempty"`
	Targets          []string          `json:"targets,omitempty"`
	RecordType       string            `json:"recordType,omitempty"`
	SetIdentifier    string            `json:"setIdentifier,omitempty"`
	RecordTTL        int64             `json:"recordTTL,omitempty"`
	Labels           map[string]string `json:"labels,omitempty"`
	ProviderSpecific []property        `json:"providerSpecific,omitempty"`
}

// property is a provider-specific setting of an endpoint.
type property struct {
	Name  string `json:"name,omitempty"`
	Value string `json:"value,omitempty"`
}

// changes is the list of changes in a request of ExternalDNS. An update has its old form in UpdateOld and its new form
// in UpdateNew.
type changes struct {
	Create    []*endpoint `json:"create,omitempty"`
	UpdateOld []*endpoint `json:"updateOld,omitempty"`
	UpdateNew []*endpoint `json:"updateNew,omitempty"`
	Delete    []*endpoint `json:"delete,omitempty"`
}

// clean returns the changes without null entries.
func (c changes) clean() changes {
	for _, list := range []*[]*endpoint{&c.Create, &c.UpdateOld, &c.UpdateNew, &c.Delete} {
		*list = slices.DeleteFunc(*list, func(e *endpoint) bool { return e == nil })
	}
	return c
}

// domainFilter has the zones of a provider; without zones, it serves all names.
type domainFilter struct {
	Include []string `json:"include,omitempty"`
}

func (e *endpoint) property(name string) string {
	for _, p := range e.ProviderSpecific {
		if p.Name == name {
			return p.Value
		}
	}
	return ""
}

// setProperties replaces all properties with region and port.
func (e *endpoint) setProperties(region string, port int) {
	e.ProviderSpecific = []property{{propertyPort, strconv.Itoa(port)}, {propertyRegion, region}}
}

// region returns the name of the region, or "".
func (e *endpoint) region() string { return e.property(propertyRegion) }

// port returns the port. The error has the valid form of the annotation.
func (e *endpoint) port() (int, error) {
	text := e.property(propertyPort)
	port, err := strconv.Atoi(text)
	if err != nil || port < 1 || port > 65535 {
		return 0, fmt.Errorf("%s is %.40q: it must be a port from 1 to 65535", propertyPort, text)
	}
	return port, nil
}

// servers returns the servers of an endpoint in canonical form, one for each target.
func (e *endpoint) servers(owner string) []api.DocumentServer {
	port, _ := e.port() // place has set a valid port
	list := make([]api.DocumentServer, 0, len(e.Targets))
	for _, host := range e.Targets {
		s := api.DocumentServer{"service": e.DNSName, "port": port, "region": e.region()}
		if owner != "" {
			s["owner"] = owner
		}
		if e.RecordType == typeName {
			s["target"] = host
		} else {
			s["address"] = host
		}
		list = append(list, s)
	}
	return list
}

// typeName is the record type of an endpoint with host names as targets.
const typeName = "CNAME"

// isServerType reports whether targets of this record type can be servers.
func (e *endpoint) isServerType() bool {
	return slices.Contains([]string{"A", "AAAA", typeName}, e.RecordType)
}

func (e *endpoint) key() string { return e.RecordType + " " + e.DNSName }

// recordType returns the record type of an address: A or AAAA.
func recordType(address netip.Addr) string {
	if address.Is4() {
		return "A"
	}
	return "AAAA"
}

// parseTarget returns a target in canonical form: a host name for the record type CNAME, else an address of that type.
func parseTarget(text, wanted string) (string, error) {
	if wanted == typeName {
		name, err := canonical(text)
		last := name[strings.LastIndexByte(name, '.')+1:]
		if err != nil || strings.HasPrefix(name, "*") || strings.Trim(last, "0123456789") == "" {
			return "", fmt.Errorf("its target is %.260q: it must be a host name, such as lb.example.net", text)
		}
		return name, nil
	}
	address, err := netip.ParseAddr(text)
	if err != nil || recordType(address) != wanted || address.Zone() != "" || address.Is4In6() ||
		address.IsUnspecified() || address.IsMulticast() || address == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		return "", fmt.Errorf("its target is %.80q: it must be an address for %s records", text, wanted)
	}
	return address.String(), nil
}

// canonical returns a DNS name in lower case without the trailing dot, as nodes store names. It accepts the same names
// as the nodes.
func canonical(name string) (string, error) {
	plain := strings.ToLower(strings.TrimSuffix(name, "."))
	labels := strings.Split(strings.TrimPrefix(plain, "*."), ".")
	if len(plain) > 253 || slices.ContainsFunc(labels, func(label string) bool {
		return label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' ||
			strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != ""
	}) {
		return "", fmt.Errorf("the name is %.260q: it must have labels of letters, digits, hyphens and "+
			"underscores that neither begin nor end with a hyphen, such as app.example.com", name)
	}
	return plain, nil
}

// within reports whether a name is in one of the zones.
func within(zones []string, name string) bool {
	return slices.ContainsFunc(zones, func(zone string) bool {
		zone = strings.ToLower(strings.Trim(zone, "."))
		return zone == "" || name == zone || strings.HasSuffix(name, "."+zone)
	})
}

// serverID identifies a server, as nodes do.
type serverID struct {
	name, host string // host is "" for a server with an address
	port       int
}

func idOf(s api.DocumentServer) serverID {
	return serverID{s.Text("service"), hostOf(s), s.Number("port")}
}

func hostOf(s api.DocumentServer) string { return cmp.Or(s.Text("target"), s.Text("address")) }

// typeOf returns the record type of the endpoint that a server belongs to.
func typeOf(s api.DocumentServer) string {
	if s.Text("target") != "" {
		return typeName
	}
	address, _ := netip.ParseAddr(s.Text("address")) // the node has written a valid address
	return recordType(address)
}

// recordsOf returns an owner's servers as endpoints, in the order of the document. Each endpoint has the owner as a
// label. The TXT registry of ExternalDNS reads the owner from the label instead of TXT records.
func recordsOf(doc api.Document, owner string) []*endpoint {
	list, byKey := []*endpoint{}, map[string]*endpoint{}
	for _, s := range doc.Servers {
		if s.Text("owner") != owner {
			continue
		}
		e := &endpoint{DNSName: s.Text("service"), RecordType: typeOf(s), Labels: map[string]string{"owner": owner}}
		if known := byKey[e.key()]; known != nil {
			e = known
		} else {
			e.setProperties(s.Text("region"), s.Number("port"))
			byKey[e.key()], list = e, append(list, e)
		}
		if !slices.Contains(e.Targets, hostOf(s)) {
			e.Targets = append(e.Targets, hostOf(s))
		}
	}
	return list
}
