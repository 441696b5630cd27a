package store

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/shared/model"
)

// The kinds of replicated objects. The store retains and forwards objects of unknown kinds, which later versions may
// add.
const (
	KindDomain   = "domain"
	KindRegion   = "region"
	KindMapping  = "mapping"
	KindServer   = "server"
	KindOverride = "override"
	KindWeight   = "weight"
	KindDrain    = "drain"
	KindAgent    = "agent" // announced agent
	KindSetting  = "setting"
	// An object of KindRevocation has an agent id as its name and a refused pin as its value; its deletion deletes the
	// pin. An object of KindLock has a service as its name. The store also has separate records of their values, because
	// this node may delete the records of pins and locks locally.
	KindRevocation = "revocation"
	KindLock       = "lock"
)

// kinds maps the buckets of replicated records to the kinds of their objects.
func kinds() map[string]string {
	return map[string]string{bucketDomains: KindDomain, bucketRegions: KindRegion, bucketMappings: KindMapping,
		bucketServers: KindServer, bucketOverrides: KindOverride, bucketWeights: KindWeight,
		bucketDrains: KindDrain, bucketNodes: KindAgent, bucketSettings: KindSetting}
}

// Replicates reports whether objects of a kind are replicated to every node.
func Replicates(kind string) bool {
	for _, replicated := range kinds() {
		if replicated == kind {
			return true
		}
	}
	return kind == KindRevocation || kind == KindLock
}

// SharedSettings lists the sections of settings that all nodes share. The other sections are local to each node.
func SharedSettings() []string { return []string{"dns", "health-check"} }

// objectKey returns the key of the object that replicates a record. ok is false for a local record.
func objectKey(bucket string, key []byte) (k replica.Key, ok bool) {
	kind, ok := kinds()[bucket]
	if !ok {
		return k, false
	}
	name := string(key)
	switch kind {
	case KindServer:
		service, address, port, err := decodeEndpoint(key)
		if err != nil {
			return k, false
		}
		name = service + " " + netip.AddrPortFrom(address, port).String()
	case KindOverride, KindWeight, KindDrain:
		name = strings.Replace(name, "\x00", " ", 1)
	case KindSetting:
		ok = slices.Contains(SharedSettings(), name) || strings.Contains(name, " ") // an overlay of an object of the file
	}
	return replica.Key{Kind: kind, Name: name}, ok
}

// recordKeyOf returns the bucket and the key of an object's record. ok is false if the kind is unknown, or if the value
// of the object has another name.
func recordKeyOf(o *replica.Object) (bucket string, key []byte, ok bool) {
	for b, kind := range kinds() {
		if kind == o.Kind {
			bucket = b
		}
	}
	switch o.Kind {
	case KindServer:
		service, at, err := EndpointOf(o.Key)
		if err != nil {
			return "", nil, false
		}
		key = endpointKey(service, at.Addr(), at.Port())
	case KindOverride, KindWeight, KindDrain:
		key = orderKey(OrderOf(o.Key))
	default:
		key = []byte(o.Name)
	}
	if back, known := objectKey(bucket, key); !known || back != o.Key {
		return "", nil, false
	}
	return bucket, key, o.Deleted || named(o) == o.Name
}

// Readable reports whether the kind of an object is known and the value has the name of the object.
func Readable(o *replica.Object) bool {
	if o.Kind == KindRevocation || o.Kind == KindLock {
		return o.Deleted || named(o) == o.Name
	}
	_, _, ok := recordKeyOf(o)
	return ok
}

// EndpointOf returns the service, address and port of an object of KindServer.
func EndpointOf(key replica.Key) (service string, at netip.AddrPort, err error) {
	service, rest, _ := strings.Cut(key.Name, " ")
	at, err = netip.ParseAddrPort(rest)
	return service, at, err
}

// OrderOf returns the service and address of an object of KindOverride, KindWeight or KindDrain.
func OrderOf(key replica.Key) (service, address string) {
	service, address, _ = strings.Cut(key.Name, " ")
	return service, address
}

// named returns the name in the value of an object, empty if the value is invalid.
func named(o *replica.Object) string {
	switch o.Kind {
	case KindDomain:
		d, err := model.Decode[model.Domain](o.Value)
		if err != nil {
			return ""
		}
		return d.Name
	case KindRegion:
		r, err := model.Decode[model.Region](o.Value)
		if err != nil {
			return ""
		}
		return r.Name
	case KindMapping:
		m, err := model.Decode[model.Mapping](o.Value)
		if err != nil || !m.CIDR.IsValid() {
			return ""
		}
		return m.CIDR.String()
	case KindServer:
		s, err := model.Decode[model.Server](o.Value)
		if err != nil {
			return ""
		}
		return s.Service + " " + netip.AddrPortFrom(s.Address.Unmap(), s.Port).String()
	case KindOverride, KindWeight, KindDrain:
		return decoded(o, func(v *Order) string { return v.Service + " " + v.Address })
	case KindAgent:
		return decoded(o, func(n *Node) string { return n.ID })
	case KindLock:
		return decoded(o, func(l *TokenLock) string { return l.Service })
	case KindRevocation:
		return decoded(o, func(p *Pin) string {
			if !p.Refused() {
				return ""
			}
			return p.AgentID
		})
	case KindSetting:
		return decoded(o, func(*map[string]json.RawMessage) string { return o.Name })
	}
	return ""
}

func decoded[T any](o *replica.Object, name func(*T) string) string {
	var value T
	if json.Unmarshal(o.Value, &value) != nil {
		return ""
	}
	return name(&value)
}
