package definitions

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/model"
)

// objects is the Declared kind of objects of type T.
type objects[T any] struct {
	kind model.Kind
	most int                       // maximum number of objects of the API
	in   func(*Set) *map[string]*T // the objects of a Set by key
	// check returns the first fault of an object that depends neither on other objects nor on the file.
	check   func(*T) error
	changed func(*Kinds)                  // notes that objects have changed
	ofFile  func(*config.Config) []string // the keys of the objects of a file; nil: a file has none
	joins   func(*joining, *Set)          // adds the objects to a configuration; nil: they have no effect there
	// unused is as in Kind; nil: each object has an effect.
	unused  func(object *T, missing func(region string) bool) string
	regions func(*T) []string // the regions that an object names; nil: none
}

func (k *objects[T]) Name() string { return k.kind.Name }

func (k *objects[T]) Plural() string { return k.kind.Plural }

func (k *objects[T]) Resource() string { return k.kind.Resource }

func (k *objects[T]) Max() int { return k.most }

func (k *objects[T]) Objects(s *Set) map[string]model.Object {
	all := *k.in(s)
	list := make(map[string]model.Object, len(all))
	for key, one := range all {
		list[key] = object(one)
	}
	return list
}

func (k *objects[T]) Get(s *Set, key string) model.Object {
	if one := (*k.in(s))[key]; one != nil {
		return object(one)
	}
	return nil
}

func (k *objects[T]) Decode(value []byte) (model.Object, error) {
	one, err := model.Decode[T](value)
	if err != nil {
		return nil, err
	}
	return object(one), nil
}

func (k *objects[T]) NewPatch() any { return new(model.Patch[T]) }

func (k *objects[T]) New(patch any, source string) (model.Object, error) {
	one := model.New[T]()
	if err := ApplyPatch(one, *patch.(*model.Patch[T]), source); err != nil {
		return nil, err
	}
	return object(one), k.check(one)
}

func (k *objects[T]) Written(o model.Object) any { return model.Written(any(o).(*T)) }

func (k *objects[T]) Regions(o model.Object) []string {
	if k.regions == nil || o == nil {
		return nil
	}
	return k.regions(any(o).(*T))
}

func (k *objects[T]) Check(_ string, value json.RawMessage) error {
	one, err := model.Decode[T](value)
	if err != nil {
		return fmt.Errorf("it cannot be read: %w", err)
	}
	return k.check(one)
}

func (k *objects[T]) Define(d *Draft, name string, value json.RawMessage) error {
	if value == nil {
		delete(k.edit(d), name)
		return nil
	}
	one, err := model.Decode[T](value)
	if err != nil {
		return fmt.Errorf("it cannot be read: %w", err)
	}
	k.edit(d)[object(one).Key()] = one
	return nil
}

func (k *objects[T]) load(s *Set, _ string, value []byte) error {
	one, err := model.Decode[T](value)
	if err == nil && object(one).Key() == "" {
		err = errors.New("it has no name")
	}
	if err != nil {
		return err
	}
	all := k.in(s)
	if *all == nil {
		*all = map[string]*T{}
	}
	(*all)[object(one).Key()] = one
	return nil
}

// Differences compares by pointer: an object is never changed in place.
func (k *objects[T]) Differences(before, after *Set) (names []string) {
	was, is := *k.in(before), *k.in(after)
	for name, one := range is {
		if was[name] != one {
			names = append(names, name)
		}
	}
	for name := range was {
		if is[name] == nil {
			names = append(names, name)
		}
	}
	return names
}

func (k *objects[T]) save(b *store.Batch, s *Set, name string) {
	if one := (*k.in(s))[name]; one != nil {
		b.PutObject(k.kind.Name, object(one))
	} else {
		b.Delete(k.kind.Name, name)
	}
}

func (k *objects[T]) mark(changed *Kinds, _ string) { k.changed(changed) }

func (k *objects[T]) hide(d *Draft) {
	inFile, own := d.names[k.kind.Name], *k.in(d.next)
	if len(inFile) < len(own) {
		for name := range inFile {
			if own[name] != nil {
				delete(k.edit(d), name)
			}
		}
		return
	}
	for name := range own {
		if inFile[name] {
			delete(k.edit(d), name)
		}
	}
}

func (k *objects[T]) fileNames(file *config.Config) []string {
	if k.ofFile == nil {
		return nil
	}
	return k.ofFile(file)
}

func (k *objects[T]) join(s *Set, j *joining) {
	if k.joins != nil {
		k.joins(j, s)
	}
}

func (k *objects[T]) Unused(s *Set, name string, missing func(region string) bool) string {
	one := (*k.in(s))[name]
	if one == nil || k.unused == nil {
		return ""
	}
	return k.unused(one, missing)
}

func (k *objects[T]) put(d *Draft, o model.Object) bool {
	one, is := any(o).(*T)
	if is {
		k.edit(d)[o.Key()] = one
	}
	return is
}

// edit returns the objects of a draft, which the caller may change: it copies the map before the draft's first change.
func (k *objects[T]) edit(d *Draft) map[string]*T {
	all := k.in(d.next)
	if d.owned[k.kind.Name] {
		return *all
	}
	d.markCopied(k.kind.Name)
	if *all = maps.Clone(*all); *all == nil {
		*all = map[string]*T{}
	}
	return *all
}

// object returns an object of a kind as model.Object.
func object[T any](one *T) model.Object { return any(one).(model.Object) }
