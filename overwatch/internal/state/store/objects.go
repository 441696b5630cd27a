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
	KindDomain   = model.KindDomain
	KindRegion   = model.KindRegion
	KindMapping  = model.KindMapping
	KindRecord   = model.KindRecord
	KindServer   = "server"
	KindOverride = "override"
	KindWeight   = "weight"
	KindDrain    = "drain"
	KindAgent    = "agent" // announced agent
	KindSetting  = "setting"
	// An object of KindRevocation has an agent id as its name and a rejected pin as its value; its deletion deletes the
	// pin. An object of KindLock has a service as its name. The store also has separate records of their values, because
	// this node may delete the records of pins and locks locally.
	KindRevocation = "revocation"
	KindLock       = "lock"
	// An object of KindFailback has a domain and a region as its name.
	KindFailback = "failback"
	// The values of objects of KindToken are secrets. Documents, logs and undo never contain them.
	KindToken = "token"
)

// kind describes how the store holds the objects of a kind.
type kind struct {
	name     string
	bucket   string // of the records; "" if the value of an object is not in a separate record
	resource string // in the audit log
	// nameIn returns the name in the value of an object, "" for an invalid value. nil: the value has no name.
	nameIn func(value json.RawMessage) string
	// nameOf returns the name of the object of a record; shared is false for a record of this node only. nil: the key.
	nameOf func(key string) (name string, shared bool)
	// keyOf is the inverse of nameOf; nil for an invalid name.
	keyOf func(name string) []byte
	// definition reports whether LoadDefinitions returns the records.
	definition bool
}

// kinds has the known kinds in their order. It is never changed.
var kinds = newKinds()

func newKinds() []kind {
	list := []kind{}
	for _, k := range model.Kinds() {
		list = append(list, kind{name: k.Name, bucket: k.Plural, resource: k.Resource, nameIn: keyIn(k.Decode),
			definition: true})
	}
	adminState := kind{nameIn: decoded(func(v *Order) string { return v.Service + " " + v.Address }),
		nameOf: func(key string) (string, bool) { return strings.Replace(key, "\x00", " ", 1), true },
		keyOf:  func(name string) []byte { return orderKey(OrderOf(replica.Key{Name: name})) }}
	for _, k := range []kind{{name: KindOverride, bucket: bucketOverrides, resource: "override"},
		{name: KindWeight, bucket: bucketWeights, resource: "backend"},
		{name: KindDrain, bucket: bucketDrains, resource: "server"}} {
		k.nameIn, k.nameOf, k.keyOf = adminState.nameIn, adminState.nameOf, adminState.keyOf
		list = append(list, k)
	}
	return append(list,
		kind{name: KindAgent, bucket: bucketNodes, resource: "agent", nameIn: keyIn(model.DecodeObject[Node]),
			definition: true},
		kind{name: KindToken, bucket: bucketTokens, resource: KindToken, nameIn: keyIn(model.DecodeObject[model.Token]),
			definition: true},
		kind{name: KindSetting, bucket: bucketSettings, resource: "config", nameOf: settingName, definition: true},
		kind{name: KindServer, bucket: bucketServers, resource: "server", nameIn: serverIn, nameOf: serverName,
			keyOf: serverKey},
		kind{name: KindRevocation, resource: "agent", nameIn: decoded(refusedAgent)},
		kind{name: KindLock, resource: "agent", nameIn: decoded(func(l *TokenLock) string { return l.Service })},
		kind{name: KindFailback, resource: "domain", nameIn: decoded(func(f *Failback) string { return f.key().Name })})
}

// findKind returns a known kind, or nil.
func findKind(name string) *kind {
	if at := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name }); at >= 0 {
		return &kinds[at]
	}
	return nil
}

// Replicates reports whether objects of a kind are replicated to every node.
func Replicates(kind string) bool { return findKind(kind) != nil }

// ResourceOf returns the resource that changes of a kind of objects have in the audit log.
func ResourceOf(kind string) string {
	if k := findKind(kind); k != nil {
		return k.resource
	}
	return kind
}

// SharedSettings lists the sections of settings that all nodes share. Each node has its own values for the other
// sections.
func SharedSettings() []string { return []string{"dns", "health-check"} }

// settingName returns the name of a setting. The settings of a local section are not shared.
func settingName(key string) (name string, shared bool) {
	return key, slices.Contains(SharedSettings(), key) || strings.Contains(key, " ") // an overlay of an object of the file
}

func serverName(key string) (name string, shared bool) {
	service, address, port, err := decodeEndpoint([]byte(key))
	return service + " " + netip.AddrPortFrom(address, port).String(), err == nil
}

func serverKey(name string) []byte {
	service, at, err := EndpointOf(replica.Key{Name: name})
	if err != nil {
		return nil
	}
	return endpointKey(service, at.Addr(), at.Port())
}

func serverIn(value json.RawMessage) string {
	s, err := model.Decode[model.Server](value)
	if err != nil {
		return ""
	}
	return s.Service + " " + netip.AddrPortFrom(s.Address.Unmap(), s.Port).String()
}

func refusedAgent(p *Pin) string {
	if !p.Refused() {
		return ""
	}
	return p.AgentID
}

// keyIn returns a function that returns the key of an encoded object, "" for an invalid value.
func keyIn(decode func([]byte) (model.Object, error)) func(json.RawMessage) string {
	return func(value json.RawMessage) string {
		one, err := decode(value)
		if err != nil {
			return ""
		}
		return one.Key()
	}
}

// decoded returns a function that returns the name of the value of type T in JSON, "" for an invalid value.
func decoded[T any](name func(*T) string) func(json.RawMessage) string {
	return func(value json.RawMessage) string {
		var one T
		if json.Unmarshal(value, &one) != nil {
			return ""
		}
		return name(&one)
	}
}

// objectKey returns the key of the object that replicates a record. ok is false for a local record.
func objectKey(bucket string, key []byte) (k replica.Key, ok bool) {
	at := slices.IndexFunc(kinds, func(k kind) bool { return k.bucket == bucket })
	if at < 0 {
		return k, false
	}
	k, ok = replica.Key{Kind: kinds[at].name, Name: string(key)}, true
	if kinds[at].nameOf != nil {
		k.Name, ok = kinds[at].nameOf(k.Name)
	}
	return k, ok
}

// recordKeyOf returns the bucket and the key of an object's record. ok is false if the kind is unknown, or if the value
// of the object has another name.
func recordKeyOf(o *replica.Object) (bucket string, key []byte, ok bool) {
	k := findKind(o.Kind)
	if k == nil || k.bucket == "" {
		return "", nil, false
	}
	if key = []byte(o.Name); k.keyOf != nil {
		key = k.keyOf(o.Name)
	}
	if back, known := objectKey(k.bucket, key); !known || back != o.Key {
		return "", nil, false
	}
	return k.bucket, key, o.Deleted || k.names(o)
}

// names reports whether the value of an object is valid and has the name of the object.
func (k *kind) names(o *replica.Object) bool {
	if k.nameIn == nil {
		var fields map[string]json.RawMessage
		return json.Unmarshal(o.Value, &fields) == nil
	}
	return k.nameIn(o.Value) == o.Name
}

// Readable reports whether the kind of an object is known and the value has the name of the object.
func Readable(o *replica.Object) bool {
	k := findKind(o.Kind)
	if k != nil && k.bucket == "" {
		return o.Deleted || k.names(o)
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
