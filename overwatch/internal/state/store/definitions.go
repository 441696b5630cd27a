package store

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"gslb.internal/shared/model"
)

// LoadDefinitions calls add with the kind, the name and the stored form of each definition of the API: the objects of
// all kinds except servers with an address, admin states, revocations and locks. It logs and omits an object for which
// add returns an error. name and value are valid only during the call of add.
func (s *Store) LoadDefinitions(add func(kind, name string, value []byte) error) error {
	for i := range kinds {
		k := &kinds[i]
		if !k.definition {
			continue
		}
		err := s.readSound(k.bucket, func(key, value []byte) error {
			if err := add(k.name, string(key), value); err != nil {
				return fmt.Errorf("%s %q: %w", k.bucket, key, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
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
	return s.updateAndCopySoon(func(w *writer) {
		for _, change := range b.changes {
			change(w)
		}
	}, with...)
}

// Empty reports whether a batch has no changes.
func (b *Batch) Empty() bool { return len(b.changes) == 0 && b.err == nil }

// Put stores an object of a kind, and replaces the object with the same name. value is its stored form.
func (b *Batch) Put(kind, name string, value []byte) {
	bucket, key := bucketAndKey(kind, name)
	b.encoded(bucket, key, value, nil)
}

// PutObject stores an object of a kind, and replaces the object with the same key.
func (b *Batch) PutObject(kind string, o model.Object) {
	value, err := model.Encode(o)
	bucket, key := bucketAndKey(kind, o.Key())
	b.encoded(bucket, key, value, err)
}

// Delete deletes an object of a kind, if it exists.
func (b *Batch) Delete(kind, name string) { b.delete(bucketAndKey(kind, name)) }

// bucketAndKey returns the bucket and the key of the record of an object.
func bucketAndKey(kind, name string) (bucket, key string) {
	k := findKind(kind)
	if k.keyOf != nil {
		return k.bucket, string(k.keyOf(name))
	}
	return k.bucket, name
}

// PutSerial stores the upper bound of the assigned SOA serials.
func (b *Batch) PutSerial(serial uint32) {
	value := binary.BigEndian.AppendUint32(nil, serial)
	b.changes = append(b.changes, func(w *writer) { w.putRecord(bucketMeta, serialKey, value) })
}

// PutCreationTimes stores the times at which domains were added to the file. The caller encodes them.
func (b *Batch) PutCreationTimes(value []byte) {
	b.changes = append(b.changes, func(w *writer) { w.putRecord(bucketMeta, creationTimesKey, value) })
}

// LoadCreationTimes returns the value of the last PutCreationTimes, or nil if it is missing.
func (s *Store) LoadCreationTimes() ([]byte, error) {
	return s.readRecord(bucketMeta, creationTimesKey)
}

// LoadSerial returns the upper bound of the assigned SOA serials, or 0 if it is missing.
func (s *Store) LoadSerial() (uint32, error) { return s.number(serialKey) }

// putObject stores an object of a kind of package model.
func putObject[T any](b *Batch, bucket, key string, object *T) {
	value, err := model.Encode(object)
	b.encoded(bucket, key, value, err)
}

func (b *Batch) addObject(bucket, key string, object any) {
	value, err := json.Marshal(object)
	b.encoded(bucket, key, value, err)
}

// encoded stores an encoded object, or records the encoding error for Write.
func (b *Batch) encoded(bucket, key string, value []byte, err error) {
	if err != nil {
		b.err = fmt.Errorf("encoding %s %q: %w", bucket, key, err)
		return
	}
	b.changes = append(b.changes, func(w *writer) { w.putRecord(bucket, []byte(key), value) })
}

func (b *Batch) delete(bucket, key string) {
	b.changes = append(b.changes, func(w *writer) { w.delete(bucket, []byte(key)) })
}
