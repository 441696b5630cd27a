package store

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"gslb.internal/shared/model"
)

// Definitions are the stored definitions of the API, servers aside.
type Definitions struct {
	Domains  []*model.Domain
	Regions  []*model.Region
	Mappings []*model.Mapping
	Nodes    []Node
	Settings map[string][]byte // JSON, by the name of a section
}

// LoadDefinitions returns all definitions, each kind ordered by name.
func (s *Store) LoadDefinitions() (d Definitions, err error) {
	if d.Domains, err = loadObjects[model.Domain](s, bucketDomains); err != nil {
		return d, err
	}
	if d.Regions, err = loadObjects[model.Region](s, bucketRegions); err != nil {
		return d, err
	}
	if d.Mappings, err = loadObjects[model.Mapping](s, bucketMappings); err != nil {
		return d, err
	}
	if d.Nodes, err = load[Node](s, bucketNodes); err != nil {
		return d, err
	}
	d.Settings = make(map[string][]byte)
	err = s.read(bucketSettings, func(key, value []byte) error {
		d.Settings[string(key)] = bytes.Clone(value)
		return nil
	})
	return d, err
}

func load[T any](s *Store, bucket string) (list []T, err error) {
	err = s.readSound(bucket, func(key, value []byte) error {
		var one T
		if err := json.Unmarshal(value, &one); err != nil {
			return fmt.Errorf("%s %q: %w", bucket, key, err)
		}
		list = append(list, one)
		return nil
	})
	return list, err
}

// loadObjects returns the objects of a kind of package model.
func loadObjects[T any](s *Store, bucket string) (list []*T, err error) {
	err = readObjects(s, bucket, func(one *T) { list = append(list, one) })
	return list, err
}

// readObjects calls yield with each object of a kind of package model.
func readObjects[T any](s *Store, bucket string, yield func(*T)) error {
	return s.readSound(bucket, func(key, value []byte) error {
		one, err := model.Decode[T](value)
		if err != nil {
			return fmt.Errorf("%s %q: %w", bucket, key, err)
		}
		yield(one)
		return nil
	})
}

// Batch collects changes that are stored atomically. The zero Batch is empty.
type Batch struct {
	changes []func(*writer)
	err     error
}

// Write stores a batch with the audit entries of its changes.
func (s *Store) Write(b *Batch, with ...Entry) error {
	if b.err != nil {
		return b.err
	}
	return s.keep(func(w *writer) {
		for _, change := range b.changes {
			change(w)
		}
	}, with...)
}

// Empty reports whether a batch has no changes.
func (b *Batch) Empty() bool { return len(b.changes) == 0 && b.err == nil }

// PutDomain stores a domain and replaces the domain of its name.
func (b *Batch) PutDomain(d *model.Domain) { putObject(b, bucketDomains, d.Name, d) }

// DeleteDomain deletes a domain, if it exists.
func (b *Batch) DeleteDomain(name string) { b.delete(bucketDomains, name) }

// PutRegion stores a region and replaces the region with the same name.
func (b *Batch) PutRegion(r *model.Region) { putObject(b, bucketRegions, r.Name, r) }

// DeleteRegion deletes a region, if it exists.
func (b *Batch) DeleteRegion(name string) { b.delete(bucketRegions, name) }

// PutMapping stores a mapping and replaces the mapping of the same network.
func (b *Batch) PutMapping(m *model.Mapping) { putObject(b, bucketMappings, m.Key(), m) }

// DeleteMapping deletes the mapping of a network, if it exists.
func (b *Batch) DeleteMapping(cidr string) { b.delete(bucketMappings, cidr) }

// PutNode stores an announced agent and replaces the agent with the same id.
func (b *Batch) PutNode(n Node) { b.put(bucketNodes, n.ID, n) }

// DeleteNode deletes an announced agent, if it exists.
func (b *Batch) DeleteNode(id string) { b.delete(bucketNodes, id) }

// PutSetting stores the settings of a section, which must be JSON.
func (b *Batch) PutSetting(section string, value []byte) {
	b.put(bucketSettings, section, json.RawMessage(value))
}

// DeleteSetting deletes the settings of a section, if they exist.
func (b *Batch) DeleteSetting(section string) { b.delete(bucketSettings, section) }

// PutSerial stores the upper bound of the SOA serials that have been given.
func (b *Batch) PutSerial(serial uint32) {
	value := binary.BigEndian.AppendUint32(nil, serial)
	b.changes = append(b.changes, func(w *writer) { w.put(bucketMeta, serialKey, value) })
}

// PutCreationTimes stores the times at which the domains of the file came into it. The caller encodes them.
func (b *Batch) PutCreationTimes(value []byte) {
	b.changes = append(b.changes, func(w *writer) { w.put(bucketMeta, creationTimesKey, value) })
}

// LoadCreationTimes returns the value of the last PutCreationTimes, nil if it is missing.
func (s *Store) LoadCreationTimes() ([]byte, error) { return s.get(bucketMeta, creationTimesKey) }

// LoadSerial returns the upper bound of the assigned SOA serials, 0 if it is missing.
func (s *Store) LoadSerial() (uint32, error) { return s.number(serialKey) }

// putObject stores an object of a kind of package model.
func putObject[T any](b *Batch, bucket, key string, object *T) {
	value, err := model.Encode(object)
	b.encoded(bucket, key, value, err)
}

func (b *Batch) put(bucket, key string, object any) {
	value, err := json.Marshal(object)
	b.encoded(bucket, key, value, err)
}

// encoded stores an encoded object, or records the encoding error for Write.
func (b *Batch) encoded(bucket, key string, value []byte, err error) {
	if err != nil {
		b.err = fmt.Errorf("encoding %s %q: %w", bucket, key, err)
		return
	}
	b.changes = append(b.changes, func(w *writer) { w.put(bucket, []byte(key), value) })
}

func (b *Batch) delete(bucket, key string) {
	b.changes = append(b.changes, func(w *writer) { w.delete(bucket, []byte(key)) })
}
